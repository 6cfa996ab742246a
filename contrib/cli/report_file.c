/* SPDX-License-Identifier: MIT */
/*
 * A recording in the JSON of a report: what it is of, its collections, all its
 * snapshots in short, its suspects.
 */
#include <inttypes.h>
#include <stdio.h>

#include "contrib/cli/report_json.h"

static void put_collections(const struct report_writer *writer, const struct report_file *file)
{
	static const char *const keys[] = {"time_ns",      "count",      "major", "pause_ns",
					   "max_pause_ns", "heap_bytes", "kind"};
	struct json *json = writer->json;
	size_t column, i;

	json_key(json, "collections");
	json_begin(json, '{');
	json_put_unsigned(json, "per_row", file->per_collection);
	for (column = 0; column < sizeof(keys) / sizeof(*keys); column++) {
		report_begin_column(json, keys[column]);
		for (i = 0; i < file->n_collections; i++) {
			const struct report_collections *row = &file->collections[i];

			switch (column) {
			case 0:
				json_unsigned(json, row->time_ns);
				break;
			case 1:
				json_unsigned(json, row->n);
				break;
			case 2:
				json_unsigned(json, row->n_major);
				break;
			case 3:
				json_unsigned(json, row->last.pause_ns);
				break;
			case 4:
				json_unsigned(json, row->max_pause_ns);
				break;
			case 5:
				json_unsigned(json, row->last.heap_bytes);
				break;
			default:
				json_text(json, row->n == 1 ? row->last.kind : NULL);
				break;
			}
		}
		json_end(json, ']');
	}
	json_end(json, '}');
}

/* Place among the snapshots of the report, or -1. */
static int64_t find_shown(const struct report *report, uint32_t owner,
			  const struct heapshot_snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < report->n_snapshots; i++)
		if (report->files[report->snapshots[i].file].owner == owner &&
		    report->snapshots[i].snapshot == snapshot)
			return (int64_t)i;
	return -1;
}

/* All snapshots, also those that the page does not show, for the time line. */
static void put_marks(const struct report_writer *writer, uint32_t owner)
{
	const struct report_file *file = &writer->report->files[owner];
	struct json *json = writer->json;
	size_t n, i, n_written = 0;
	const struct heapshot_snapshot *list =
		heapshot_reader_snapshots(file->recording.reader, &n);

	json_key(json, "snapshots");
	json_begin_rows(json);
	for (i = 0; i < n; i++) {
		int64_t shown = find_shown(writer->report, owner, &list[i]);

		if (shown < 0 && n_written++ >= writer->limits->marks)
			continue;
		json_begin(json, '{');
		json_put_unsigned(json, "id", list[i].id);
		report_put_cut_key(writer, "label", list[i].label);
		report_put_cut_key(writer, "trigger", list[i].trigger);
		json_put_unsigned(json, "time_ns", list[i].time_ns);
		json_put_known(json, "bytes", list[i].has_end, list[i].bytes);
		json_put_bool(json, "complete", list[i].is_complete);
		json_put_known(json, "shown", shown >= 0, (uint64_t)shown);
		json_end(json, '}');
	}
	json_end(json, ']');
	json_put_unsigned(json, "snapshots_all", n);
}

/* What is wrong with the file, and what a reader of the page should know of it. */
static void put_notes(const struct report_writer *writer, const struct report_file *file)
{
	const struct heapshot_issue *issues;
	struct json *json = writer->json;
	uint64_t met;
	size_t n, i;
	char text[512];

	issues = heapshot_reader_issues(file->recording.reader, &n, &met);
	json_key(json, "notes");
	json_begin(json, '[');
	for (i = 0; i < n && i < 10; i++) {
		recording_describe(&issues[i], text, sizeof(text));
		json_text(json, text);
	}
	if (met > i) {
		snprintf(text, sizeof(text),
			 "and %" PRIu64 " more of these; 'heapshot verify' lists them", met - i);
		json_text(json, text);
	}
	if (file->sums.n_lost != 0) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " records were lost, for which the recorder had no room",
			 file->sums.n_lost);
		json_text(json, text);
	}
	if (events_are_beside(&file->recording, &file->sums))
		json_text(json, "the events of this recording are in its file .ring");
	json_end(json, ']');
}

void report_put_recording(const struct report_writer *writer, uint32_t number)
{
	const struct report_file *file = &writer->report->files[number];
	const struct heapshot_header *header = heapshot_reader_header(file->recording.reader);
	struct json *json = writer->json;

	json_begin(json, '{');
	report_put_cut_key(writer, "file", file->recording.path);
	report_put_cut_key(writer, "command_line", header->command_line);
	report_put_cut_key(writer, "runtime", header->runtime);
	report_put_cut_key(writer, "architecture", header->architecture);
	report_put_cut_key(writer, "system", header->system);
	report_put_cut_key(writer, "host", header->host_name);
	report_put_cut_key(writer, "options", header->options);
	json_put_known(json, "pid", header->pid != 0, header->pid);
	json_put_known(json, "wall_start_ms", header->wall_start_unix_ns != 0,
		       header->wall_start_unix_ns / 1000000);
	json_put_bool(json, "ring", heapshot_reader_summary(file->recording.reader)->is_ring);
	put_notes(writer, file);
	json_key(json, "summary");
	events_put_sums(json, &file->recording, &file->sums);
	put_collections(writer, file);
	report_put_counters(writer, &file->counters);
	put_marks(writer, number);
	json_put_known(json, "suspects_of", file->suspects != NULL, file->suspects_of);
	json_key(json, "suspects");
	if (file->suspects != NULL && writer->limits->with_suspects)
		json_written(json, file->suspects, file->suspects_bytes);
	else
		json_null(json);
	json_end(json, '}');
}
