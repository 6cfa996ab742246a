/* SPDX-License-Identifier: MIT */
/*
 * All that was gathered as JSON, with limits that are made smaller until it fits.
 */
#include "config.h"

#include <stdlib.h>

#include "contrib/cli/report_json.h"

/* After so many rounds of smaller limits nothing more is gained. */
#define ROUNDS 12

bool report_is_shown(const struct report_writer *writer, uint32_t type)
{
	return writer->report->types[type].number < writer->types;
}

static void put_type_names(struct report_writer *writer)
{
	const struct report *report = writer->report;
	struct json *json = writer->json;
	unsigned column;
	size_t i;

	json_key(json, "types");
	json_begin(json, '{');
	for (column = 0; column < 2; column++) {
		report_begin_column(json, column == 0 ? "name" : "assembly");
		for (i = 0; i < report->n_types && i < writer->types; i++) {
			const struct report_type *type = &report->types[report->order[i]];

			report_put_name(writer, column == 0 ? type->name : type->assembly);
		}
		json_end(json, ']');
	}
	json_end(json, '}');
}

static void put_all(struct report_writer *writer)
{
	const struct report *report = writer->report;
	struct json *json = writer->json;
	uint32_t file;
	size_t i;

	json_begin(json, '{');
	json_put_text(json, "version", VERSION);
	json_key(json, "cut");
	json_begin(json, '{');
	json_key(json, "tree_share");
	json_double(json, REPORT_SHARE);
	json_put_unsigned(json, "tree_depth", REPORT_DEPTH);
	json_put_unsigned(json, "tree_nodes", writer->nodes);
	json_put_unsigned(json, "types",
			  report->n_types > writer->types ? report->n_types - writer->types : 0);
	json_put_bool(json, "suspects", !writer->limits->with_suspects);
	json_end(json, '}');
	json_key(json, "recordings");
	json_begin_rows(json);
	for (file = 0; file < report->n_files; file++)
		if (report->files[file].owner == file)
			report_put_recording(writer, file);
	json_end(json, ']');
	json_key(json, "snapshots");
	json_begin_rows(json);
	for (i = 0; i < report->n_snapshots; i++)
		report_put_snapshot(writer, &report->snapshots[i]);
	json_end(json, ']');
	put_type_names(writer);
	report_put_names(writer);
	json_end(json, '}');
}

/* Writes all as one object; false without memory. */
static bool put_json(const struct report *report, const struct report_limits *limits,
		     struct json *json)
{
	size_t n = report->n_snapshots != 0 ? report->n_snapshots : 1;
	struct report_writer writer = {
		.report = report,
		.limits = limits,
		.json = json,
		.number_of = calloc(report->names.n + 1, sizeof(*writer.number_of)),
		.used = calloc(report->names.n + 1, sizeof(*writer.used)),
		.types = limits->types / n,
		.nodes = limits->nodes / n,
	};
	bool is_good = writer.number_of != NULL && writer.used != NULL;

	if (writer.nodes == 0)
		writer.nodes = 1;
	if (is_good)
		put_all(&writer);
	free(writer.number_of);
	free(writer.used);
	return is_good;
}

int report_make_json(const struct report *report, bool is_html, size_t limit, char **text,
		     size_t *bytes)
{
	struct report_limits limits = {
		.names_bytes = 1000,
		.types = 60000,
		.nodes = 60000,
		.paths = 200,
		.handles = 2000,
		.samples = 500,
		.marks = 1000,
		.with_suspects = true,
	};
	unsigned round;

	for (round = 0; round < ROUNDS; round++) {
		struct json json = {.is_html = is_html};
		bool is_good;

		*text = NULL;
		json.out = open_memstream(text, bytes);
		is_good = json.out != NULL && put_json(report, &limits, &json);
		if (is_good)
			json_line(&json);
		if (json.out == NULL || fclose(json.out) != 0 || !is_good) {
			free(*text);
			*text = NULL;
			return cli_no_memory();
		}
		if (*bytes <= limit)
			return CLI_OK;
		free(*text);
		*text = NULL;
		limits.types /= 2;
		limits.nodes /= 2;
		limits.paths /= 2;
		limits.handles /= 2;
		limits.samples /= 2;
		limits.marks /= 2;
		limits.names_bytes = limits.names_bytes > 100 ? limits.names_bytes / 2 : 100;
		limits.with_suspects = round < ROUNDS / 2;
	}
	cli_message("the report does not fit into --max-size; give more, or fewer snapshots");
	return CLI_IO;
}
