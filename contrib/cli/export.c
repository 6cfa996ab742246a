/* SPDX-License-Identifier: MIT */
/*
 * heapshot export: a snapshot in a format that other tools open.
 */
#include <inttypes.h>
#include <string.h>

#include "contrib/cli/export_target.h"
#include "contrib/cli/graph.h"
#include "contrib/cli/text.h"
#include "contrib/export/rows.h"
#include "profiler/options_parse.h"

/* The format asked for; NULL, said already. */
static const struct export_format *choose_format(const struct cli_command *command,
						 const struct cli_arguments *arguments)
{
	const struct export_format *format;
	char names[128] = "", nearest[32] = "";
	size_t n = 0;

	for (format = export_formats; format->name != NULL && n < sizeof(names); format++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n > 0 ? " " : "",
				      format->name);
	if (arguments->format == NULL) {
		cli_usage(command, "--format is missing; formats: %s", names);
		return NULL;
	}
	format = export_find_format(arguments->format);
	if (format == NULL) {
		hs_nearest_word(arguments->format, names, nearest, sizeof(nearest));
		if (*nearest != '\0')
			cli_usage(command, "no format '%s', did you mean '%s'?", arguments->format,
				  nearest);
		else
			cli_usage(command, "no format '%s'; formats: %s", arguments->format, names);
		return NULL;
	}
	if (format->write == NULL) {
		cli_usage(command, "no format '%s' in this build: %s", format->name,
			  format->missing);
		return NULL;
	}
	return format;
}

/* Whether --table and --output go with FORMAT; CLI_OK, or CLI_USAGE, said. */
static int check_output(const struct cli_command *command, const struct cli_arguments *arguments,
			const struct export_format *format)
{
	const bool is_standard_output =
		arguments->output != NULL && strcmp(arguments->output, "-") == 0;

	if (arguments->table != NULL && !format->is_tables)
		return cli_usage(command, "format '%s' has no use for --table", format->name);
	if (is_standard_output && format->wants_file)
		return cli_usage(command, "format '%s' cannot be written to standard output",
				 format->name);
	if (is_standard_output && format->is_tables && arguments->table == NULL)
		return cli_usage(command,
				 "format '%s' writes several tables: give a folder, or --table",
				 format->name);
	return CLI_OK;
}

static bool wants_dominators(const struct export_format *format, const char *table)
{
	unsigned i;

	for (i = 0; table != NULL && i < ROWS_TABLES; i++)
		if (strcmp(rows_tables[i].name, table) == 0)
			return rows_tables[i].wants_dominators;
	return format->wants_dominators;
}

static int fill(const struct recording *recording, const struct export_format *format,
		struct export *export, struct export_target *target)
{
	enum export_result result;

	export->progress = progress_writing();
	result = format->write(export);
	if (result == EXPORT_OK && !export_target_flush(target))
		result = EXPORT_OUTPUT;
	progress_stop();
	if (result == EXPORT_FAILED)
		cli_message("cannot write %s: %s",
			    target->is_folder ? target->folder.path : target->file.path,
			    export->error);
	if (result == EXPORT_REFUSED)
		cli_message("%s: format %s has no room for snapshot %" PRIu64 ": %s",
			    recording->path, format->name, recording->snapshot->id, export->error);
	return result == EXPORT_OK ? CLI_OK : CLI_IO;
}

static void report(const struct recording *recording, const struct cli_arguments *arguments,
		   const struct export *export, const struct export_target *target, uint64_t bytes)
{
	struct heapshot_graph_counts counts;
	char numbers[3][TEXT_NUMBER_BYTES];
	struct json json = {0};

	heapshot_graph_counts(export->graph, &counts);
	if (!arguments->is_json) {
		text_put_masked(stdout, arguments->output);
		if (target->is_folder)
			printf("/*/%s", target->partition);
		printf(": snapshot %" PRIu64 ", %s objects, %s references, %s bytes written\n",
		       recording->snapshot->id, text_number(numbers[0], counts.objects),
		       text_number(numbers[1], counts.references), text_number(numbers[2], bytes));
		return;
	}
	json_begin(&json, '{');
	json_put_text(&json, "output", arguments->output);
	if (target->is_folder)
		json_put_text(&json, "partition", target->partition);
	json_put_text(&json, "format", arguments->format);
	json_put_unsigned(&json, "snapshot", recording->snapshot->id);
	json_put_unsigned(&json, "objects", counts.objects);
	json_put_unsigned(&json, "references", counts.references);
	json_put_unsigned(&json, "roots", counts.roots);
	json_put_unsigned(&json, "bytes", bytes);
	json_end(&json, '}');
	json_line(&json);
}

static int export_to(struct recording *recording, const struct cli_command *command,
		     const struct cli_arguments *arguments, const struct export_format *format)
{
	struct export export = {
		.reader = recording->reader,
		.snapshot = recording->snapshot,
		.source = recording->path,
	};
	struct export_target target;
	uint64_t bytes = 0;
	/* First: a file that may not be written is known before the graph is made. */
	int status = export_target_open(&target, &export, format, command, arguments);

	if (status == CLI_OK)
		status = graph_open(recording, arguments, &export.graph);
	if (status == CLI_OK && wants_dominators(format, arguments->table))
		status = recording_check(recording, heapshot_graph_dominate(export.graph));
	if (status == CLI_OK)
		status = fill(recording, format, &export, &target);
	if (status == CLI_OK)
		bytes = export_target_bytes(&target);
	status = export_target_close(&target, status);
	if (status == CLI_OK && !target.file.is_standard_output)
		report(recording, arguments, &export, &target, bytes);
	heapshot_graph_free(export.graph);
	return status;
}

int cli_export(const struct cli_command *command, int argc, char **argv)
{
	const struct export_format *format;
	struct cli_arguments arguments;
	struct recording recording;
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	format = choose_format(command, &arguments);
	if (format == NULL)
		return CLI_USAGE;
	status = check_output(command, &arguments, format);
	if (status == CLI_OK)
		status = recording_open(&recording, command, &arguments, RECORDING_GRAPH);
	if (status != CLI_OK)
		return status;
	status = export_to(&recording, command, &arguments, format);
	return recording_close(&recording, status);
}
