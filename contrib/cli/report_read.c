/* SPDX-License-Identifier: MIT */
/*
 * What a report needs of a recording: names and types with numbers, collections,
 * and of each snapshot its types, with the graph while there is one.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/leaks.h"
#include "contrib/cli/report.h"
#include "contrib/export/names.h"

/* Rows of each list of suspects. */
#define SUSPECTS 20

/* ---- Names and types ---- */

uint32_t report_name(struct report *report, const char *text)
{
	char *clean = malloc(export_clean_bytes(text) + 1);
	uint32_t number = UINT32_MAX;

	if (clean != NULL) {
		export_clean(clean, text);
		number = labels_add(&report->names, clean);
	}
	free(clean);
	return number;
}

/* Types without a name are told apart by number, which means nothing in another file. */
static char *key_text(const struct recording *recording, const struct type_key *key)
{
	char unnamed[32], *text = NULL;
	const char *file = *key->name != '\0' ? "" : recording->path;
	int n;

	n = asprintf(&text, "%s\x1f%s\x1f%" PRIx64 "\x1f%s", type_key_name(key, unnamed),
		     key->assembly, key->hash, file);
	return n < 0 ? NULL : text;
}

uint32_t report_type(struct report *report, const struct recording *recording,
		     const struct type_key *key)
{
	char unnamed[32], *text = key_text(recording, key);
	uint32_t number = text != NULL ? labels_add(&report->type_keys, text) : UINT32_MAX;
	struct report_type *type;

	free(text);
	if (number < report->n_types || number == UINT32_MAX)
		return number;
	if (report->n_types == report->room_types) {
		size_t room = report->room_types != 0 ? report->room_types * 2 : 512;
		struct report_type *types = reallocarray(report->types, room, sizeof(*types));

		if (types == NULL)
			return UINT32_MAX;
		report->types = types;
		report->room_types = room;
	}
	type = &report->types[report->n_types++];
	*type = (struct report_type){
		.name = report_name(report, type_key_name(key, unnamed)),
		.assembly = report_name(report, key->assembly),
	};
	return type->name != UINT32_MAX && type->assembly != UINT32_MAX ? number : UINT32_MAX;
}

/* ---- Collections ---- */

struct events {
	struct report_file *file;
	bool has_failed;
};

static void join(struct report_collections *to, const struct report_collections *from)
{
	uint64_t pause_ns = to->last.pause_ns + from->last.pause_ns;

	to->last = from->last;
	to->last.pause_ns = pause_ns;
	to->n += from->n;
	to->n_major += from->n_major;
	if (from->max_pause_ns > to->max_pause_ns)
		to->max_pause_ns = from->max_pause_ns;
}

static void take_collection(void *user_data, const struct events_row *row)
{
	struct events *events = user_data;
	struct report_file *file = events->file;
	const struct report_collections one = {
		.last = *row,
		.n = 1,
		.n_major = row->generation != 0,
		.max_pause_ns = row->pause_ns,
		.time_ns = row->time_ns,
	};
	size_t i;

	if (events->has_failed)
		return;
	if (file->n_collections > 0 &&
	    file->collections[file->n_collections - 1].n < file->per_collection) {
		join(&file->collections[file->n_collections - 1], &one);
		return;
	}
	if (file->n_collections == REPORT_COLLECTIONS) {
		for (i = 0; i < file->n_collections / 2; i++) {
			file->collections[i] = file->collections[2 * i];
			join(&file->collections[i], &file->collections[2 * i + 1]);
		}
		file->n_collections /= 2;
		file->per_collection *= 2;
	}
	if (file->n_collections == file->room_collections) {
		size_t room = file->room_collections != 0 ? file->room_collections * 2 : 64;
		void *list = reallocarray(file->collections, room, sizeof(*file->collections));

		if (list == NULL) {
			events->has_failed = true;
			return;
		}
		file->collections = list;
		file->room_collections = room;
	}
	file->collections[file->n_collections++] = one;
}

int report_read_events(struct report *report, uint32_t number)
{
	struct report_file *file = &report->files[number];
	struct events events = {.file = file};
	int status;

	file->per_collection = 1;
	status = events_read(&file->recording, take_collection, &events, &file->sums);
	if (status == CLI_OK && events.has_failed)
		status = cli_no_memory();
	if (status == CLI_OK && !counters_read(file->recording.reader, UINT64_MAX, &file->counters))
		status = cli_no_memory();
	return status;
}

/* ---- Snapshots ---- */

static int by_type(const void *left, const void *right)
{
	const struct report_row *a = left, *b = right;

	return (a->type > b->type) - (a->type < b->type);
}

static int read_rows(struct report *report, struct report_snapshot *snapshot,
		     const struct heapshot_totals *totals)
{
	size_t n = 0, i;

	snapshot->rows = calloc(totals->n_types + 1, sizeof(*snapshot->rows));
	if (snapshot->rows == NULL)
		return cli_no_memory();
	for (i = 0; i < totals->n_types; i++) {
		const struct type_key key = type_key_of(snapshot->recording, totals->types[i].type);

		snapshot->rows[i] = (struct report_row){
			.type = report_type(report, snapshot->recording, &key),
			.count = totals->types[i].objects,
			.bytes = totals->types[i].bytes,
		};
		if (snapshot->rows[i].type == UINT32_MAX)
			return cli_no_memory();
	}
	qsort(snapshot->rows, totals->n_types, sizeof(*snapshot->rows), by_type);
	for (i = 0; i < totals->n_types; i++) {
		if (n == 0 || snapshot->rows[n - 1].type != snapshot->rows[i].type) {
			snapshot->rows[n++] = snapshot->rows[i];
			continue;
		}
		snapshot->rows[n - 1].count += snapshot->rows[i].count;
		snapshot->rows[n - 1].bytes += snapshot->rows[i].bytes;
	}
	snapshot->n_rows = n;
	snapshot->objects = totals->objects;
	snapshot->bytes = totals->bytes;
	return CLI_OK;
}

static int add_retained(struct report *report, struct report_snapshot *snapshot,
			const struct graph_types *types)
{
	size_t i;

	for (i = 0; i < types->n; i++) {
		struct report_row key = {.type = report_type(report, snapshot->recording,
							     &types->types[i].key)},
				  *row;

		if (key.type == UINT32_MAX)
			return cli_no_memory();
		row = bsearch(&key, snapshot->rows, snapshot->n_rows, sizeof(key), by_type);
		if (row != NULL)
			row->retained = types->types[i].retained;
	}
	return CLI_OK;
}

/* The suspects as JSON; the types that they name are WANTED. */
static int keep_suspects(struct report_file *file, const struct leaks *leaks, bool *wanted)
{
	struct json json = {.is_html = true};
	uint32_t class_index;
	char unnamed[32];
	size_t i, k;
	int status;

	json.out = open_memstream(&file->suspects, &file->suspects_bytes);
	if (json.out == NULL)
		return cli_no_memory();
	json_begin(&json, '{');
	status = leaks_put_json(leaks, &json);
	json_end(&json, '}');
	file->suspects_of = leaks->recording->snapshot->id;
	if (fclose(json.out) != 0)
		return cli_no_memory();
	for (i = 0; i < leaks->n; i++)
		for (k = 0; k < leaks->types.n; k++)
			wanted[k] |= strcmp(type_key_name(&leaks->types.types[k].key, unnamed),
					    leak_type(&leaks->list[i])) == 0;
	for (i = 0; i < leaks->n; i++) {
		if (leaks->list[i].target == HEAPSHOT_GRAPH_NONE)
			continue;
		class_index = heapshot_graph_class_of(leaks->graph, leaks->list[i].target);
		wanted[leaks->types.of_class[class_index]] = true;
	}
	return status;
}

/* What needs the graph.  PATH has graph and ways; SUSPECTS may be NULL. */
static int read_graph(struct report *report, struct report_snapshot *snapshot, struct path *path,
		      const struct leaks *suspects)
{
	struct heapshot_graph_counts counts;
	struct graph_types types;
	bool *wanted = NULL;
	int status = graph_types_make(snapshot->recording, path->graph, true, &types);

	if (status != CLI_OK)
		return status;
	heapshot_graph_counts(path->graph, &counts);
	snapshot->has_graph = true;
	snapshot->live_objects = counts.live_objects;
	snapshot->live_bytes = counts.live_bytes;
	wanted = calloc(types.n + 1, sizeof(*wanted));
	if (wanted == NULL)
		status = cli_no_memory();
	if (status == CLI_OK && suspects != NULL)
		status = keep_suspects(&report->files[report->files[snapshot->file].owner],
				       suspects, wanted);
	if (status == CLI_OK)
		status = add_retained(report, snapshot, &types);
	if (status == CLI_OK)
		status = report_read_tree(report, snapshot, path->graph);
	if (status == CLI_OK)
		status = report_read_handles(report, snapshot, path->graph);
	if (status == CLI_OK)
		status = report_read_paths(report, snapshot, path, &types,
					   suspects != NULL ? wanted : NULL);
	free(wanted);
	graph_types_free(&types);
	return status;
}

/* ---- The graph that is kept ---- */

void report_drop_graph(struct report *report)
{
	heapshot_graph_ways_free(report->kept.ways);
	heapshot_graph_free(report->kept.graph);
	report->kept = (struct path){0};
	report->kept_of = NULL;
}

/* Takes graph and ways of PATH, if they are to be kept. */
static void keep_graph(struct report *report, struct report_snapshot *snapshot,
		       const struct path *path, struct heapshot_graph **graph,
		       struct heapshot_graph_ways **ways)
{
	if (!report->keeps_graph)
		return;
	report->kept = *path;
	report->kept.recording = snapshot->recording;
	report->kept.arguments = report->arguments;
	report->kept.targets = (struct graph_nodes){0};
	report->kept_of = snapshot;
	*graph = NULL;
	*ways = NULL;
}

static bool is_last_of_file(const struct report *report, const struct report_snapshot *snapshot)
{
	const struct report_snapshot *next = snapshot + 1;

	return next == report->snapshots + report->n_snapshots ||
	       next->recording->reader != snapshot->recording->reader;
}

static int open_path(struct report *report, struct report_snapshot *snapshot, struct path *path)
{
	struct recording *recording = snapshot->recording;
	int status;

	*path = (struct path){.recording = recording, .arguments = report->arguments};
	recording->snapshot = snapshot->snapshot;
	status = graph_open(recording, report->arguments, &path->graph);
	if (status == CLI_OK)
		status = recording_check(recording, heapshot_graph_dominate(path->graph));
	if (status != CLI_OK)
		return status;
	if (is_last_of_file(report, snapshot))
		return leaks_ways(recording, path->graph, &path->ways);
	return recording_check(recording, heapshot_graph_ways_new(path->graph, NULL, &path->ways));
}

int report_keep_graph(struct report *report, struct report_snapshot *snapshot)
{
	struct path path;
	int status;

	if (report->kept_of == snapshot)
		return CLI_OK;
	report_drop_graph(report);
	status = open_path(report, snapshot, &path);
	if (status == CLI_OK)
		keep_graph(report, snapshot, &path, &path.graph, &path.ways);
	heapshot_graph_ways_free(path.ways);
	heapshot_graph_free(path.graph);
	return status;
}

/* The last snapshot of a file: its graph is made by those who look for suspects. */
static int read_last(struct report *report, struct report_snapshot *snapshot)
{
	struct cli_arguments arguments = *report->arguments;
	struct leaks leaks = {.recording = snapshot->recording, .arguments = &arguments};
	int status;

	arguments.has_limit = true;
	arguments.limit = SUSPECTS;
	leaks.path.is_brief = true;
	status = leaks_look(&leaks);
	if (status == CLI_OK)
		status = read_graph(report, snapshot, &leaks.path, &leaks);
	if (status == CLI_OK)
		keep_graph(report, snapshot, &leaks.path, &leaks.graph, &leaks.path.ways);
	leaks_free(&leaks);
	return status;
}

static int read_other(struct report *report, struct report_snapshot *snapshot)
{
	struct path path;
	int status = open_path(report, snapshot, &path);

	if (status == CLI_OK)
		status = read_graph(report, snapshot, &path, NULL);
	if (status == CLI_OK)
		keep_graph(report, snapshot, &path, &path.graph, &path.ways);
	heapshot_graph_ways_free(path.ways);
	heapshot_graph_free(path.graph);
	return status;
}

int report_read_snapshot(struct report *report, struct report_snapshot *snapshot)
{
	struct recording *recording = snapshot->recording;
	struct heapshot_totals totals;
	enum heapshot_read_result result;
	int status;

	report_drop_graph(report);
	recording->snapshot = snapshot->snapshot;
	result = heapshot_reader_totals(recording->reader, recording->snapshot, &totals);
	status = recording_check(recording, result);
	if (status != CLI_OK)
		return status;
	status = read_rows(report, snapshot, &totals);
	if (status != CLI_OK)
		return status;
	if (snapshot->snapshot->is_stats_only) {
		snapshot->note = "types and counts only were recorded (take --stats)";
		return CLI_OK;
	}
	status = is_last_of_file(report, snapshot) ? read_last(report, snapshot)
						   : read_other(report, snapshot);
	if (status != CLI_DAMAGED)
		return status;
	/* Types at least can be shown. */
	recording->status = CLI_DAMAGED;
	snapshot->note = "damaged so that there is no graph";
	return CLI_OK;
}
