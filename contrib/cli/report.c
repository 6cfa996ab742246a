/* SPDX-License-Identifier: MIT */
/*
 * heapshot report: a page for a browser, with all in it that it shows.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/newfile.h"
#include "contrib/cli/report.h"
#include "contrib/cli/text.h"

/* Snapshots that are shown without --all, of all files together. */
#define SERIES_MAX 12
/* And with it. */
#define ALL_MAX 1000
/* Of the page; the tables are cut so that it fits. */
#define DEFAULT_BYTES ((uint64_t)5 << 20)
#define LEAST_BYTES   ((uint64_t)512 << 10)

/* ---- Files and snapshots ---- */

/* The file that operand NUMBER is a snapshot of, if it was given before; else NUMBER. */
static uint32_t find_owner(const struct report *report, uint32_t number)
{
	const char *name = report->arguments->operands[number];
	uint32_t i;

	for (i = 0; i < number; i++) {
		const char *path = report->files[i].recording.path;
		const size_t n = strlen(path);

		if (report->files[i].owner == i && strncmp(name, path, n) == 0 &&
		    (name[n] == '\0' || name[n] == '@'))
			return i;
	}
	return number;
}

int report_open(struct report *report, const struct cli_command *command)
{
	const uint32_t n = (uint32_t)report->arguments->n_operands;
	int status = CLI_OK;

	while (report->n_files < n && status == CLI_OK) {
		struct cli_arguments arguments = *report->arguments;
		struct report_file *file = &report->files[report->n_files];
		uint32_t owner = find_owner(report, report->n_files);
		const struct recording *first =
			owner != report->n_files ? &report->files[owner].recording : NULL;

		arguments.operands += report->n_files;
		status = recording_open_beside(&file->recording, first, command, &arguments,
					       RECORDING_ANY);
		if (status != CLI_OK)
			return status;
		file->owner = file->recording.is_shared ? owner : report->n_files;
		report->n_files++;
		if (!file->recording.is_shared)
			status =
				recording_check(&file->recording,
						heapshot_reader_load_names(file->recording.reader));
	}
	return status;
}

static void add_snapshot(struct report *report, uint32_t file,
			 const struct heapshot_snapshot *snapshot)
{
	struct report_snapshot *to;
	size_t i;

	for (i = 0; i < report->n_snapshots; i++)
		if (report->snapshots[i].snapshot == snapshot)
			return;
	to = &report->snapshots[report->n_snapshots++];
	*to = (struct report_snapshot){
		.file = file,
		.recording = &report->files[file].recording,
		.snapshot = snapshot,
	};
}

/* The complete ones of FILE, or MOST of them at even distances, first and last among them. */
static void choose_series(struct report *report, uint32_t number, size_t most)
{
	struct report_file *file = &report->files[number];
	size_t n, n_complete = 0, seen = 0, taken = 0, i;
	const struct heapshot_snapshot *list =
		heapshot_reader_snapshots(file->recording.reader, &n);

	for (i = 0; i < n; i++)
		n_complete += list[i].is_complete;
	for (i = 0; i < n && taken < most; i++) {
		size_t wanted = taken;

		if (!list[i].is_complete)
			continue;
		if (n_complete > most)
			wanted = most > 1 ? taken * (n_complete - 1) / (most - 1) : n_complete - 1;
		if (seen++ < wanted)
			continue;
		add_snapshot(report, number, &list[i]);
		taken++;
	}
	/* Half a snapshot is better than none. */
	if (n_complete == 0 && n > 0)
		add_snapshot(report, number, &list[n - 1]);
}

static int choose_snapshots(struct report *report)
{
	size_t most = report->arguments->is_all ? ALL_MAX : SERIES_MAX, n_all = 0, n_series = 0, n;
	uint32_t i;

	for (i = 0; i < report->n_files; i++) {
		heapshot_reader_snapshots(report->files[i].recording.reader, &n);
		n_all += n + 1;
		n_series += report->files[i].recording.snapshot == NULL;
	}
	report->snapshots = calloc(n_all, sizeof(*report->snapshots));
	if (report->snapshots == NULL)
		return cli_no_memory();
	if (n_series > 1)
		most = most / n_series > 2 ? most / n_series : 2;
	for (i = 0; i < report->n_files; i++)
		if (report->files[i].recording.snapshot != NULL)
			add_snapshot(report, i, report->files[i].recording.snapshot);
		else
			choose_series(report, i, most);
	return CLI_OK;
}

/* Files in their order, and in each its snapshots. */
static int by_time(const void *left, const void *right)
{
	const struct report_snapshot *a = left, *b = right;

	if (a->recording->reader != b->recording->reader)
		return a->file < b->file ? -1 : 1;
	return (a->snapshot > b->snapshot) - (a->snapshot < b->snapshot);
}

/* ---- Reading ---- */

static int by_weight(const void *left, const void *right)
{
	const struct report_type *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

/* As in heapshot top. */
static int by_bytes(const void *left, const void *right)
{
	const struct report_row *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->type > b->type) - (a->type < b->type);
}

/* Numbers the types by what they take or retain at most. */
static int order_types(struct report *report)
{
	struct report_type *sorted = calloc(report->n_types + 1, sizeof(*sorted));
	size_t i, k;

	report->order = calloc(report->n_types + 1, sizeof(*report->order));
	if (sorted == NULL || report->order == NULL) {
		free(sorted);
		return cli_no_memory();
	}
	for (i = 0; i < report->n_snapshots; i++) {
		struct report_snapshot *snapshot = &report->snapshots[i];

		for (k = 0; k < snapshot->n_rows; k++) {
			const struct report_row *row = &snapshot->rows[k];
			uint64_t weight = row->bytes > row->retained ? row->bytes : row->retained;

			if (weight > report->types[row->type].weight)
				report->types[row->type].weight = weight;
		}
		if (snapshot->n_rows > 0)
			qsort(snapshot->rows, snapshot->n_rows, sizeof(*snapshot->rows), by_bytes);
	}
	for (i = 0; i < report->n_types; i++) {
		sorted[i] = report->types[i];
		sorted[i].number = (uint32_t)i;
	}
	qsort(sorted, report->n_types, sizeof(*sorted), by_weight);
	for (i = 0; i < report->n_types; i++) {
		report->order[i] = sorted[i].number;
		report->types[sorted[i].number].number = (uint32_t)i;
	}
	free(sorted);
	return CLI_OK;
}

int report_read(struct report *report)
{
	int status = choose_snapshots(report);
	uint32_t file;
	size_t i;

	if (status != CLI_OK)
		return status;
	if (report->n_snapshots > 0)
		qsort(report->snapshots, report->n_snapshots, sizeof(*report->snapshots), by_time);
	for (file = 0; file < report->n_files && status == CLI_OK; file++)
		if (report->files[file].owner == file)
			status = report_read_events(report, file);
	for (i = 0; i < report->n_snapshots && status == CLI_OK; i++)
		status = report_read_snapshot(report, &report->snapshots[i]);
	return status == CLI_OK ? order_types(report) : status;
}

void report_free(struct report *report)
{
	size_t i;

	report_drop_graph(report);
	for (i = 0; i < report->n_snapshots; i++) {
		free(report->snapshots[i].rows);
		free(report->snapshots[i].nodes);
		free(report->snapshots[i].paths);
		free(report->snapshots[i].path_list);
		free(report->snapshots[i].parts);
		report_free_handles(&report->snapshots[i]);
	}
	for (i = 0; i < report->n_files; i++) {
		free(report->files[i].collections);
		free(report->files[i].suspects);
		counters_free(&report->files[i].counters);
	}
	free(report->snapshots);
	free(report->types);
	free(report->order);
	labels_free(&report->names);
	labels_free(&report->type_keys);
}

/* ---- Writing ---- */

static int write_page(struct newfile *file, const char *data, size_t bytes)
{
	const char *const *line = report_page;
	int status = CLI_OK;

	for (; *line != NULL && status == CLI_OK; line++)
		status = newfile_write(file, *line, strlen(*line));
	if (status == CLI_OK)
		status = newfile_write(file, data, bytes);
	for (line++; *line != NULL && status == CLI_OK; line++)
		status = newfile_write(file, *line, strlen(*line));
	return status;
}

static size_t page_bytes(void)
{
	const char *const *line = report_page;
	size_t bytes = 0;

	for (; *line != NULL; line++)
		bytes += strlen(*line);
	for (line++; *line != NULL; line++)
		bytes += strlen(*line);
	return bytes;
}

static int write_report(const struct report *report, struct newfile *file)
{
	const struct cli_arguments *arguments = report->arguments;
	uint64_t most = arguments->has_max_size ? arguments->max_size : DEFAULT_BYTES;
	size_t bytes, limit = most < SIZE_MAX ? (size_t)most : SIZE_MAX;
	char numbers[2][TEXT_NUMBER_BYTES], *text;
	int status =
		report_make_json(report, !arguments->is_json, limit - page_bytes(), &text, &bytes);

	if (status != CLI_OK)
		return status;
	progress_stop();
	if (arguments->is_json) {
		fwrite(text, 1, bytes, stdout);
	} else {
		status = write_page(file, text, bytes);
		if (status == CLI_OK && !file->is_standard_output) {
			text_put_masked(stdout, file->path);
			printf(": %s snapshot%s, %s bytes written; open it in a browser\n",
			       text_number(numbers[0], report->n_snapshots),
			       report->n_snapshots == 1 ? "" : "s",
			       text_number(numbers[1], file->bytes));
		}
	}
	free(text);
	return status;
}

/* Closes all, the last first: it may share the reader of another. */
static int close_files(struct report *report, int status)
{
	int worst = CLI_OK;
	uint32_t i;

	for (i = report->n_files; i > 0; i--) {
		int closed = recording_close(&report->files[i - 1].recording, CLI_OK);

		if (worst == CLI_OK || closed == CLI_DAMAGED)
			worst = closed;
	}
	return status != CLI_OK ? status : worst;
}

int cli_report(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct report report = {.arguments = &arguments};
	struct newfile file;
	int status = cli_parse(command, argc, argv, 1, REPORT_FILES_MAX, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	if (arguments.has_max_size && arguments.max_size < LEAST_BYTES)
		return cli_usage(command, "--max-size is at least 512k");
	if (arguments.is_json && arguments.output != NULL)
		return cli_usage(command, "--json writes the data, and no page: without --output");
	/* First: a file that may not be written is known before the graphs are made. */
	if (!arguments.is_json)
		status = newfile_open(&file, command, &arguments);
	if (status != CLI_OK)
		return status;
	status = report_open(&report, command);
	if (status == CLI_OK)
		status = report_read(&report);
	if (status == CLI_OK)
		status = write_report(&report, &file);
	if (!arguments.is_json)
		status = newfile_close(&file, status);
	status = close_files(&report, status);
	report_free(&report);
	return status;
}
