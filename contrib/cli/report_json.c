/* SPDX-License-Identifier: MIT */
/*
 * What was gathered, as JSON.  Tables are columns and names are numbers, so that
 * a page with several snapshots stays small; what is cut is said with its sums.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "contrib/cli/report.h"
#include "contrib/cli/text.h"

/* After so many rounds of smaller limits nothing more is gained. */
#define ROUNDS 12

/* How much is written of each list. */
struct limits {
	size_t names_bytes; /* of one name; of longer ones the middle is left out */
	size_t types;       /* of all snapshots together */
	size_t nodes;       /* of all trees together */
	size_t paths;       /* types with paths, of each snapshot */
	size_t marks;       /* snapshots on the time line that have no page of their own */
	bool with_suspects;
};

struct writer {
	const struct report *report;
	const struct limits *limits;
	struct json *json;
	uint32_t *number_of; /* of a name, from 1 on in the order of their first use; 0: not used */
	uint32_t *used;      /* names in that order */
	size_t n_used;
	size_t types, nodes; /* of each snapshot */
};

/* ---- Names ---- */

/* Text of which the middle is left out where it is long. */
static void put_cut(const struct writer *writer, const char *text)
{
	const size_t n = strlen(text), most = writer->limits->names_bytes;
	size_t head = most * 2 / 3, tail = most / 3;
	char *cut;

	if (n <= most) {
		json_text(writer->json, text);
		return;
	}
	/* Not inside of a character. */
	while (head > 0 && ((unsigned char)text[head] & 0xC0) == 0x80)
		head--;
	while (tail > 0 && ((unsigned char)text[n - tail] & 0xC0) == 0x80)
		tail--;
	cut = malloc(head + tail + 4);
	if (cut == NULL) {
		json_text(writer->json, "...");
		return;
	}
	memcpy(cut, text, head);
	memcpy(cut + head, "...", 3);
	memcpy(cut + head + 3, text + n - tail, tail + 1);
	json_text(writer->json, cut);
	free(cut);
}

static void put_cut_key(const struct writer *writer, const char *key, const char *text)
{
	json_key(writer->json, key);
	put_cut(writer, text);
}

static void put_name(struct writer *writer, uint32_t name)
{
	if (name == UINT32_MAX) {
		json_null(writer->json);
		return;
	}
	if (writer->number_of[name] == 0) {
		writer->used[writer->n_used++] = name;
		writer->number_of[name] = (uint32_t)writer->n_used;
	}
	json_unsigned(writer->json, writer->number_of[name] - 1);
}

static void put_names(const struct writer *writer)
{
	size_t i;

	json_key(writer->json, "names");
	json_begin_rows(writer->json);
	for (i = 0; i < writer->n_used; i++)
		put_cut(writer, writer->report->names.texts[writer->used[i]]);
	json_end(writer->json, ']');
}

static void begin_column(struct json *json, const char *key)
{
	json_key(json, key);
	json_begin(json, '[');
}

/* ---- A recording ---- */

static void put_collections(const struct writer *writer, const struct report_file *file)
{
	static const char *const keys[] = {"time_ns",      "count",      "major", "pause_ns",
					   "max_pause_ns", "heap_bytes", "kind"};
	struct json *json = writer->json;
	size_t column, i;

	json_key(json, "collections");
	json_begin(json, '{');
	json_put_unsigned(json, "per_row", file->per_collection);
	for (column = 0; column < sizeof(keys) / sizeof(*keys); column++) {
		begin_column(json, keys[column]);
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
static void put_marks(const struct writer *writer, uint32_t owner)
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
		put_cut_key(writer, "label", list[i].label);
		put_cut_key(writer, "trigger", list[i].trigger);
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
static void put_notes(const struct writer *writer, const struct report_file *file)
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
		snprintf(text, sizeof(text), "and %llu more of these; 'heapshot verify' lists them",
			 (unsigned long long)(met - i));
		json_text(json, text);
	}
	if (file->sums.n_lost != 0) {
		snprintf(text, sizeof(text),
			 "%llu records were lost, for which the recorder had no room",
			 (unsigned long long)file->sums.n_lost);
		json_text(json, text);
	}
	if (events_are_beside(&file->recording, &file->sums))
		json_text(json, "the events of this recording are in its file .ring");
	json_end(json, ']');
}

static void put_recording(const struct writer *writer, uint32_t number)
{
	const struct report_file *file = &writer->report->files[number];
	const struct heapshot_header *header = heapshot_reader_header(file->recording.reader);
	struct json *json = writer->json;

	json_begin(json, '{');
	put_cut_key(writer, "file", file->recording.path);
	put_cut_key(writer, "command_line", header->command_line);
	put_cut_key(writer, "runtime", header->runtime);
	put_cut_key(writer, "architecture", header->architecture);
	put_cut_key(writer, "system", header->system);
	put_cut_key(writer, "host", header->host_name);
	put_cut_key(writer, "options", header->options);
	json_put_known(json, "pid", header->pid != 0, header->pid);
	json_put_known(json, "wall_start_ms", header->wall_start_unix_ns != 0,
		       header->wall_start_unix_ns / 1000000);
	json_put_bool(json, "ring", heapshot_reader_summary(file->recording.reader)->is_ring);
	put_notes(writer, file);
	json_key(json, "summary");
	events_put_sums(json, &file->recording, &file->sums);
	put_collections(writer, file);
	put_marks(writer, number);
	json_put_known(json, "suspects_of", file->suspects != NULL, file->suspects_of);
	json_key(json, "suspects");
	if (file->suspects != NULL && writer->limits->with_suspects)
		json_written(json, file->suspects, file->suspects_bytes);
	else
		json_null(json);
	json_end(json, '}');
}

/* ---- A snapshot ---- */

static bool is_shown(const struct writer *writer, uint32_t type)
{
	return writer->report->types[type].number < writer->types;
}

static void put_types(struct writer *writer, const struct report_snapshot *snapshot)
{
	static const char *const keys[] = {"type", "count", "bytes", "retained"};
	struct report_row other = {0};
	struct json *json = writer->json;
	size_t column, n_other = 0, i;

	json_key(json, "types");
	json_begin(json, '{');
	for (column = 0; column < (snapshot->has_graph ? 4 : 3); column++) {
		begin_column(json, keys[column]);
		for (i = 0; i < snapshot->n_rows; i++) {
			const struct report_row *row = &snapshot->rows[i];

			if (is_shown(writer, row->type))
				json_unsigned(json,
					      column == 0 ? writer->report->types[row->type].number
					      : column == 1 ? row->count
					      : column == 2 ? row->bytes
							    : row->retained);
		}
		json_end(json, ']');
	}
	for (i = 0; i < snapshot->n_rows; i++) {
		if (is_shown(writer, snapshot->rows[i].type))
			continue;
		n_other++;
		other.count += snapshot->rows[i].count;
		other.bytes += snapshot->rows[i].bytes;
	}
	json_key(json, "other");
	json_begin(json, '{');
	json_put_unsigned(json, "types", n_other);
	json_put_unsigned(json, "count", other.count);
	json_put_unsigned(json, "bytes", other.bytes);
	json_end(json, '}');
	json_end(json, '}');
}

static void put_tree(struct writer *writer, const struct report_snapshot *snapshot)
{
	static const char *const keys[] = {"parent", "name",        "objects",
					   "bytes",  "all_objects", "retained"};
	struct json *json = writer->json;
	size_t column, i;

	json_key(json, "tree");
	if (!snapshot->has_graph) {
		json_null(json);
		return;
	}
	json_begin(json, '{');
	for (column = 0; column < sizeof(keys) / sizeof(*keys); column++) {
		begin_column(json, keys[column]);
		for (i = 0; i < snapshot->n_nodes && i < writer->nodes; i++) {
			const struct report_node *node = &snapshot->nodes[i];

			if (column == 1)
				put_name(writer, node->name);
			else
				json_unsigned(json, column == 0   ? node->parent
						    : column == 2 ? node->objects
						    : column == 3 ? node->bytes
						    : column == 4 ? node->all_objects
								  : node->retained);
		}
		json_end(json, ']');
	}
	json_end(json, '}');
}

static void put_path(struct writer *writer, const struct report_snapshot *snapshot,
		     const struct report_path *path)
{
	struct json *json = writer->json;
	size_t i;

	json_begin(json, '{');
	json_put_unsigned(json, "count", path->count);
	json_put_unsigned(json, "bytes", path->bytes);
	json_put_unsigned(json, "longest", path->longest);
	json_key(json, "kind");
	put_name(writer, path->root_kind);
	json_key(json, "root");
	put_name(writer, path->root);
	begin_column(json, "parts");
	for (i = path->first_part; i < path->first_part + path->n_parts; i++) {
		const struct report_part *part = &snapshot->parts[i];

		json_begin(json, '[');
		put_name(writer, part->type);
		put_name(writer, part->slot);
		json_unsigned(json, part->times != 0 ? part->times : part->n_left_out);
		json_end(json, ']');
	}
	json_end(json, ']');
	json_end(json, '}');
}

static void put_paths(struct writer *writer, const struct report_snapshot *snapshot)
{
	struct json *json = writer->json;
	size_t i, k;

	json_key(json, "paths");
	json_begin_rows(json);
	for (i = 0; i < snapshot->n_paths && i < writer->limits->paths; i++) {
		const struct report_paths *paths = &snapshot->paths[i];

		if (!is_shown(writer, paths->type))
			continue;
		json_begin(json, '{');
		json_put_unsigned(json, "type", writer->report->types[paths->type].number);
		json_put_unsigned(json, "objects", paths->objects);
		json_put_unsigned(json, "reached", paths->n_reached);
		json_put_unsigned(json, "all", paths->n_all);
		begin_column(json, "paths");
		for (k = 0; k < paths->n_paths; k++)
			put_path(writer, snapshot, &snapshot->path_list[paths->first_path + k]);
		json_end(json, ']');
		json_end(json, '}');
	}
	json_end(json, ']');
}

/* Place among the recordings that are written. */
static uint32_t recording_of(const struct report *report, const struct report_snapshot *snapshot)
{
	uint32_t owner = report->files[snapshot->file].owner, n = 0, i;

	for (i = 0; i < owner; i++)
		n += report->files[i].owner == i;
	return n;
}

static void put_snapshot(struct writer *writer, const struct report_snapshot *snapshot)
{
	const struct heapshot_snapshot *from = snapshot->snapshot;
	struct json *json = writer->json;
	bool has_graph = snapshot->has_graph;

	json_begin(json, '{');
	json_put_unsigned(json, "recording", recording_of(writer->report, snapshot));
	json_put_unsigned(json, "id", from->id);
	put_cut_key(writer, "label", from->label);
	put_cut_key(writer, "trigger", from->trigger);
	json_put_unsigned(json, "time_ns", from->time_ns);
	json_put_bool(json, "complete", from->is_complete);
	json_key(json, "note");
	json_text(json, snapshot->note != NULL ? snapshot->note
			: from->is_complete    ? NULL
					       : "incomplete: what was read of it is shown");
	json_put_unsigned(json, "objects", snapshot->objects);
	json_put_unsigned(json, "bytes", snapshot->bytes);
	json_put_known(json, "live_objects", has_graph, snapshot->live_objects);
	json_put_known(json, "live_bytes", has_graph, snapshot->live_bytes);
	json_put_known(json, "pause_ns", from->has_end, from->pause_ns);
	put_types(writer, snapshot);
	put_tree(writer, snapshot);
	put_paths(writer, snapshot);
	json_end(json, '}');
}

/* ---- All ---- */

static void put_type_names(struct writer *writer)
{
	const struct report *report = writer->report;
	struct json *json = writer->json;
	unsigned column;
	size_t i;

	json_key(json, "types");
	json_begin(json, '{');
	for (column = 0; column < 2; column++) {
		begin_column(json, column == 0 ? "name" : "assembly");
		for (i = 0; i < report->n_types && i < writer->types; i++) {
			const struct report_type *type = &report->types[report->order[i]];

			put_name(writer, column == 0 ? type->name : type->assembly);
		}
		json_end(json, ']');
	}
	json_end(json, '}');
}

static void put_all(struct writer *writer)
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
			put_recording(writer, file);
	json_end(json, ']');
	json_key(json, "snapshots");
	json_begin_rows(json);
	for (i = 0; i < report->n_snapshots; i++)
		put_snapshot(writer, &report->snapshots[i]);
	json_end(json, ']');
	put_type_names(writer);
	put_names(writer);
	json_end(json, '}');
}

/* Writes all as one object; false without memory. */
static bool put_json(const struct report *report, const struct limits *limits, struct json *json)
{
	size_t n = report->n_snapshots != 0 ? report->n_snapshots : 1;
	struct writer writer = {
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
	struct limits limits = {
		.names_bytes = 1000,
		.types = 60000,
		.nodes = 60000,
		.paths = 200,
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
		limits.marks /= 2;
		limits.names_bytes = limits.names_bytes > 100 ? limits.names_bytes / 2 : 100;
		limits.with_suspects = round < ROUNDS / 2;
	}
	cli_message("the report does not fit into --max-size; give more, or fewer snapshots");
	return CLI_IO;
}
