/* SPDX-License-Identifier: MIT */
/*
 * Merged paths to the objects of any type: the report has those of the largest ones.
 */
#include <stdlib.h>

#include <emscripten.h>

#include "contrib/cli/report_json.h"
#include "contrib/wasm/reader_host.h"

/* Number in TYPES of a type of the report; n: it has no objects there. */
static uint32_t find_type(const struct graph_types *types, uint32_t type)
{
	uint32_t i;

	for (i = 0; i < types->n; i++)
		if (report_type(&reader_report, reader_report.kept.recording,
				&types->types[i].key) == type)
			break;
	return i;
}

/* The paths as in a report, with a table of names of their own. */
static int answer(const struct report_snapshot *paths)
{
	static const struct report_limits limits = {.names_bytes = 1000};
	struct json json = {.out = reader_answer()};
	struct report_writer writer = {
		.report = &reader_report,
		.limits = &limits,
		.json = &json,
		.number_of = calloc(reader_report.names.n + 1, sizeof(*writer.number_of)),
		.used = calloc(reader_report.names.n + 1, sizeof(*writer.used)),
	};
	int status = CLI_OK;

	if (json.out == NULL || writer.number_of == NULL || writer.used == NULL) {
		status = cli_no_memory();
	} else {
		json_begin(&json, '{');
		json_key(&json, "paths");
		report_put_paths(&writer, paths, paths->paths);
		report_put_names(&writer);
		json_end(&json, '}');
	}
	free(writer.number_of);
	free(writer.used);
	return json.out != NULL ? reader_answered(json.out, status) : status;
}

EMSCRIPTEN_KEEPALIVE int reader_paths(uint32_t snapshot, uint32_t type, uint32_t most)
{
	struct report_snapshot *of = reader_snapshot(snapshot), paths;
	struct graph_types types;
	uint32_t number;
	int status;

	if (of == NULL)
		return CLI_NOT_FOUND;
	if (type >= reader_report.n_types) {
		cli_message("there is no type %u", type);
		return CLI_NOT_FOUND;
	}
	status = report_keep_graph(&reader_report, of);
	if (status == CLI_OK)
		status = graph_types_make(of->recording, reader_report.kept.graph, false, &types);
	if (status != CLI_OK)
		return status;
	number = find_type(&types, reader_report.order[type]);
	paths = (struct report_snapshot){.file = of->file, .recording = of->recording};
	if (number == types.n) {
		cli_message("the snapshot has no objects of type %u", type);
		status = CLI_NOT_FOUND;
	} else {
		status = report_read_paths_to(&reader_report, &paths, &reader_report.kept, &types,
					      number, most);
	}
	if (status == CLI_OK)
		status = answer(&paths);
	free(paths.paths);
	free(paths.path_list);
	free(paths.parts);
	graph_types_free(&types);
	return status;
}
