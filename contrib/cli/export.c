/* SPDX-License-Identifier: MIT */
/*
 * heapshot export: a snapshot in a format that other tools open.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "contrib/cli/graph.h"
#include "contrib/cli/newfile.h"
#include "contrib/cli/text.h"
#include "contrib/export/export.h"
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

static bool take(void *user_data, const void *data, size_t size)
{
	return newfile_write(user_data, data, size) == CLI_OK;
}

static int fill(const struct recording *recording, const struct export_format *format,
		struct heapshot_graph *graph, struct newfile *file)
{
	struct export_output *output = malloc(sizeof(*output));
	struct export export = {
		.reader = recording->reader,
		.snapshot = recording->snapshot,
		.graph = graph,
		.source = recording->path,
		.output = output,
		.path = file->temporary,
		.progress = progress_writing(),
	};
	enum export_result result = EXPORT_FAILED;

	if (output != NULL) {
		output->take = take;
		output->user_data = file;
		output->has_failed = false;
		output->taken = 0;
		output->n = 0;
		result = format->write(&export);
		if (result == EXPORT_OK && !export_flush(output))
			result = EXPORT_OUTPUT;
	} else {
		export_fail_memory(&export);
	}
	free(output);
	progress_stop();
	if (result == EXPORT_FAILED)
		cli_message("cannot write %s: %s", file->path, export.error);
	if (result == EXPORT_REFUSED)
		cli_message("%s: format %s has no room for snapshot %" PRIu64 ": %s",
			    recording->path, format->name, recording->snapshot->id, export.error);
	return result == EXPORT_OK ? CLI_OK : CLI_IO;
}

static void report(const struct recording *recording, const struct cli_arguments *arguments,
		   const struct heapshot_graph *graph, const struct newfile *file, uint64_t bytes)
{
	struct heapshot_graph_counts counts;
	char numbers[3][TEXT_NUMBER_BYTES];
	struct json json = {0};

	heapshot_graph_counts(graph, &counts);
	if (!arguments->is_json) {
		text_put_masked(stdout, file->path);
		printf(": snapshot %" PRIu64 ", %s objects, %s references, %s bytes written\n",
		       recording->snapshot->id, text_number(numbers[0], counts.objects),
		       text_number(numbers[1], counts.references), text_number(numbers[2], bytes));
		return;
	}
	json_begin(&json, '{');
	json_put_text(&json, "output", file->path);
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
	struct heapshot_graph *graph = NULL;
	struct newfile file;
	struct stat st;
	/* First: a file that may not be written is known before the graph is made. */
	int status = newfile_open(&file, command, arguments);

	if (status != CLI_OK)
		return status;
	status = graph_open(recording, arguments, &graph);
	if (status == CLI_OK && format->wants_dominators)
		status = recording_check(recording, heapshot_graph_dominate(graph));
	if (status == CLI_OK)
		status = fill(recording, format, graph, &file);
	if (status == CLI_OK && file.is_standard_output)
		st.st_size = 0;
	else if (fstat(file.fd, &st) != 0)
		st.st_size = 0;
	status = newfile_close(&file, status);
	if (status == CLI_OK && !file.is_standard_output)
		report(recording, arguments, graph, &file, (uint64_t)st.st_size);
	heapshot_graph_free(graph);
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
	if (format->wants_file && arguments.output != NULL && *arguments.output == '-' &&
	    arguments.output[1] == '\0')
		return cli_usage(command, "format '%s' cannot be written to standard output",
				 format->name);
	status = recording_open(&recording, command, &arguments, RECORDING_GRAPH);
	if (status != CLI_OK)
		return status;
	status = export_to(&recording, command, &arguments, format);
	return recording_close(&recording, status);
}
