/* SPDX-License-Identifier: MIT */
/*
 * A snapshot in another format, or as a recording of its own, given to JavaScript piece by
 * piece.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <emscripten.h>

#include "contrib/wasm/reader_host.h"

static bool take(void *user_data, const void *data, size_t size)
{
	(void)user_data;
	return host_take(data, (uint32_t)size);
}

/* As heapshot extract. */
static int write_part(const struct report_snapshot *of)
{
	static const struct cli_command command = {.name = "extract"};
	struct cli_arguments arguments = *reader_report.arguments;
	char number[24], *path = (char *)of->recording->path;

	snprintf(number, sizeof(number), "%" PRIu64, of->snapshot->id);
	arguments.operands = &path;
	arguments.n_operands = 1;
	arguments.snapshot = number;
	arguments.output = "-";
	return cli_extract_as(&command, &arguments);
}

static int write_format(const struct report_snapshot *of, const struct export_format *format)
{
	struct export_output *output = calloc(1, sizeof(*output));
	struct export export = {
		.reader = of->recording->reader,
		.snapshot = of->snapshot,
		.graph = reader_report.kept.graph,
		.source = of->recording->path,
		.output = output,
		.progress = progress_writing(),
	};
	enum export_result result;

	if (output == NULL)
		return cli_no_memory();
	output->take = take;
	result = format->write(&export);
	if (result == EXPORT_OK && !export_flush(output))
		result = EXPORT_OUTPUT;
	free(output);
	if (result == EXPORT_OUTPUT)
		cli_message("the browser has no room for what is written");
	if (result == EXPORT_FAILED)
		cli_message("cannot write format %s: %s", format->name, export.error);
	if (result == EXPORT_REFUSED)
		cli_message("%s: format %s has no room for snapshot %" PRIu64 ": %s",
			    of->recording->path, format->name, of->snapshot->id, export.error);
	return result == EXPORT_OK ? CLI_OK : CLI_IO;
}

EMSCRIPTEN_KEEPALIVE int reader_export(uint32_t snapshot, const char *name)
{
	struct report_snapshot *of = reader_snapshot(snapshot);
	const struct export_format *format = export_find_format(name);
	int status;

	if (of == NULL)
		return CLI_NOT_FOUND;
	if (strcmp(name, "hs") == 0)
		return write_part(of);
	if (format == NULL || format->write == NULL || format->wants_file || format->is_tables) {
		cli_message("there is no format '%s' here", name);
		return CLI_USAGE;
	}
	status = report_keep_graph(&reader_report, of);
	return status == CLI_OK ? write_format(of, format) : status;
}
