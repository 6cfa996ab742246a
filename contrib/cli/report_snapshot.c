/* SPDX-License-Identifier: MIT */
/*
 * A snapshot in the JSON of a report: types, tree, paths.
 */
#include "contrib/cli/report_json.h"

static void put_types(struct report_writer *writer, const struct report_snapshot *snapshot)
{
	static const char *const keys[] = {"type", "count", "bytes", "retained"};
	struct report_row other = {0};
	struct json *json = writer->json;
	size_t column, n_other = 0, i;

	json_key(json, "types");
	json_begin(json, '{');
	for (column = 0; column < (snapshot->has_graph ? 4 : 3); column++) {
		report_begin_column(json, keys[column]);
		for (i = 0; i < snapshot->n_rows; i++) {
			const struct report_row *row = &snapshot->rows[i];

			if (report_is_shown(writer, row->type))
				json_unsigned(json,
					      column == 0 ? writer->report->types[row->type].number
					      : column == 1 ? row->count
					      : column == 2 ? row->bytes
							    : row->retained);
		}
		json_end(json, ']');
	}
	for (i = 0; i < snapshot->n_rows; i++) {
		if (report_is_shown(writer, snapshot->rows[i].type))
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

static void put_tree(struct report_writer *writer, const struct report_snapshot *snapshot)
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
		report_begin_column(json, keys[column]);
		for (i = 0; i < snapshot->n_nodes && i < writer->nodes; i++) {
			const struct report_node *node = &snapshot->nodes[i];

			if (column == 1)
				report_put_name(writer, node->name);
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

static void put_path(struct report_writer *writer, const struct report_snapshot *snapshot,
		     const struct report_path *path)
{
	struct json *json = writer->json;
	size_t i;

	json_begin(json, '{');
	json_put_unsigned(json, "count", path->count);
	json_put_unsigned(json, "bytes", path->bytes);
	json_put_unsigned(json, "longest", path->longest);
	json_key(json, "kind");
	report_put_name(writer, path->root_kind);
	json_key(json, "root");
	report_put_name(writer, path->root);
	report_begin_column(json, "parts");
	for (i = path->first_part; i < path->first_part + path->n_parts; i++) {
		const struct report_part *part = &snapshot->parts[i];

		json_begin(json, '[');
		report_put_name(writer, part->type);
		report_put_name(writer, part->slot);
		json_unsigned(json, part->times != 0 ? part->times : part->n_left_out);
		json_end(json, ']');
	}
	json_end(json, ']');
	json_end(json, '}');
}

void report_put_paths(struct report_writer *writer, const struct report_snapshot *snapshot,
		      const struct report_paths *paths)
{
	struct json *json = writer->json;
	size_t i;

	json_begin(json, '{');
	json_put_unsigned(json, "type", writer->report->types[paths->type].number);
	json_put_unsigned(json, "objects", paths->objects);
	json_put_unsigned(json, "reached", paths->n_reached);
	json_put_unsigned(json, "all", paths->n_all);
	report_begin_column(json, "paths");
	for (i = 0; i < paths->n_paths; i++)
		put_path(writer, snapshot, &snapshot->path_list[paths->first_path + i]);
	json_end(json, ']');
	json_end(json, '}');
}

static void put_all_paths(struct report_writer *writer, const struct report_snapshot *snapshot)
{
	struct json *json = writer->json;
	size_t i;

	json_key(json, "paths");
	json_begin_rows(json);
	for (i = 0; i < snapshot->n_paths && i < writer->limits->paths; i++) {
		const struct report_paths *paths = &snapshot->paths[i];

		if (report_is_shown(writer, paths->type))
			report_put_paths(writer, snapshot, paths);
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

void report_put_snapshot(struct report_writer *writer, const struct report_snapshot *snapshot)
{
	const struct heapshot_snapshot *from = snapshot->snapshot;
	struct json *json = writer->json;
	bool has_graph = snapshot->has_graph;

	json_begin(json, '{');
	json_put_unsigned(json, "recording", recording_of(writer->report, snapshot));
	json_put_unsigned(json, "id", from->id);
	report_put_cut_key(writer, "label", from->label);
	report_put_cut_key(writer, "trigger", from->trigger);
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
	put_all_paths(writer, snapshot);
	report_put_handles(writer, snapshot);
	json_end(json, '}');
}
