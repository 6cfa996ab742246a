/* SPDX-License-Identifier: MIT */
/*
 * Judges the graph of every complete snapshot of a recording, with no help from
 * the recorder's own totals: is each object there once, does each reference
 * lead to an object, is each object reached from the recorded roots?  Ephemeron
 * edges count where table and key are reached; roots of kind ephemeron do not
 * hold anything; what roots of kind saved_registers alone hold is counted apart.  Prints one line of JSON a snapshot; with the number of one
 * also lists its objects that are not reached, on standard error.  With a KIND,
 * the number of a RootKind, judges as if roots of that kind had been lost.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/heapshot-reader.h"

#define ROOT_KIND_UNKNOWN   0
#define ROOT_KIND_EPHEMERON 16
#define ROOT_KIND_SAVED     19
#define FIELD_EPHEMERONS    13
#define FIELD_OBJECTS       15

/* A row of a batch; an object may have several, all but one continuations. */
struct row {
	uint64_t address;
	uint64_t size;
	uint32_t type;
	size_t first_edge;
	size_t n_edges;
	bool is_continuation;
	/* In the object's first row only: */
	bool is_marked;
	bool has_unmarked_parent;
};

struct edge {
	uint64_t target;
	uint64_t offset;
};

struct graph {
	struct row *rows;
	size_t n_rows, rows_room;
	struct edge *edges;
	size_t n_edges, edges_room;
	struct heapshot_ephemeron *ephemerons;
	size_t n_ephemerons, ephemerons_room;
	size_t *stack; /* indices of first rows, marked but not yet followed */
	size_t n_stack;
};

/* Roots of this kind are taken for lost; none by default. */
static uint32_t ignored_kind = UINT32_MAX;

static void die(const char *what)
{
	fprintf(stderr, "reach: %s\n", what);
	exit(1);
}

static void *room(void *memory, size_t n, size_t *have, size_t size)
{
	if (n < *have)
		return memory;
	*have = *have ? 2 * *have : 1024;
	memory = realloc(memory, *have * size);
	if (!memory)
		die("out of memory");
	return memory;
}

static void add_row(struct graph *graph, const struct heapshot_object *object)
{
	struct row *row;

	graph->rows = room(graph->rows, graph->n_rows, &graph->rows_room, sizeof(*graph->rows));
	row = &graph->rows[graph->n_rows++];
	*row = (struct row){object->address,
			    object->size,
			    object->type,
			    graph->n_edges,
			    object->n_references,
			    object->is_continuation,
			    false,
			    false};
	for (uint64_t i = 0; i < object->n_references; i++) {
		graph->edges = room(graph->edges, graph->n_edges, &graph->edges_room,
				    sizeof(*graph->edges));
		graph->edges[graph->n_edges++] =
			(struct edge){object->references[i], object->offsets[i]};
	}
}

static bool add_ephemeron(void *user_data, const struct heapshot_ephemeron *edge)
{
	struct graph *graph = user_data;

	graph->ephemerons = room(graph->ephemerons, graph->n_ephemerons, &graph->ephemerons_room,
				 sizeof(*graph->ephemerons));
	graph->ephemerons[graph->n_ephemerons++] = *edge;
	return true;
}

static void read_graph(struct heapshot_reader *reader, const struct heapshot_snapshot *snapshot,
		       struct graph *graph)
{
	struct heapshot_frame frame;
	struct heapshot_record record;
	struct heapshot_object object;

	graph->n_rows = graph->n_edges = graph->n_ephemerons = 0;
	heapshot_reader_rewind(reader, snapshot);
	while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
		if (frame.kind != HEAPSHOT_FRAME_SNAPSHOT_BODY || frame.snapshot != snapshot->id)
			continue;
		if (heapshot_reader_load_frame(reader, &frame))
			die("a frame cannot be read");
		while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK) {
			if (record.field == FIELD_EPHEMERONS &&
			    heapshot_reader_each_ephemeron(reader, &record, add_ephemeron, graph))
				die("an ephemeron batch cannot be read");
			if (record.field != FIELD_OBJECTS)
				continue;
			if (heapshot_reader_begin_objects(reader, &record, true, NULL))
				die("an object batch cannot be read");
			while (heapshot_reader_next_object(reader, &object) == HEAPSHOT_READ_OK)
				add_row(graph, &object);
		}
	}
}

static int by_address(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->is_continuation - right->is_continuation;
}

/* Index of the first row of the object at ADDRESS, or SIZE_MAX. */
static size_t find(const struct graph *graph, uint64_t address)
{
	size_t low = 0, high = graph->n_rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (graph->rows[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < graph->n_rows && graph->rows[low].address == address ? low : SIZE_MAX;
}

static void mark(struct graph *graph, size_t index)
{
	if (index == SIZE_MAX || graph->rows[index].is_marked)
		return;
	graph->rows[index].is_marked = true;
	graph->stack[graph->n_stack++] = index;
}

static void follow(struct graph *graph)
{
	while (graph->n_stack) {
		size_t index = graph->stack[--graph->n_stack];
		uint64_t address = graph->rows[index].address;

		for (; index < graph->n_rows && graph->rows[index].address == address; index++) {
			const struct row *row = &graph->rows[index];

			for (size_t i = 0; i < row->n_edges; i++)
				mark(graph, find(graph, graph->edges[row->first_edge + i].target));
		}
	}
}

static bool is_marked(const struct graph *graph, uint64_t address)
{
	size_t index = find(graph, address);

	return index != SIZE_MAX && graph->rows[index].is_marked;
}

static void mark_all(struct graph *graph, const struct heapshot_roots *roots, bool with_saved)
{
	bool is_new = true;

	for (size_t i = 0; i < roots->n_roots; i++) {
		uint32_t kind = roots->sources[roots->roots[i].source].kind;

		if (kind == ignored_kind || kind == ROOT_KIND_EPHEMERON)
			continue;
		if (with_saved || kind != ROOT_KIND_SAVED)
			mark(graph, find(graph, roots->roots[i].object));
	}
	while (is_new) {
		follow(graph);
		is_new = false;
		for (size_t i = 0; i < graph->n_ephemerons; i++) {
			const struct heapshot_ephemeron *edge = &graph->ephemerons[i];

			if (is_marked(graph, edge->table) && is_marked(graph, edge->key) &&
			    !is_marked(graph, edge->value)) {
				mark(graph, find(graph, edge->value));
				is_new = true;
			}
		}
	}
}

static uint64_t count_marked(const struct graph *graph)
{
	uint64_t n = 0;

	for (size_t i = 0; i < graph->n_rows; i++)
		n += graph->rows[i].is_marked;
	return n;
}

/* Objects that are not reached and not held by others that are not. */
static uint64_t count_lost_roots(struct graph *graph)
{
	uint64_t n = 0;

	for (size_t i = 0; i < graph->n_rows; i++) {
		const struct row *row = &graph->rows[i];

		if (row->is_marked || row->is_continuation)
			continue;
		for (size_t k = row->first_edge; k < row->first_edge + row->n_edges; k++) {
			size_t target = find(graph, graph->edges[k].target);

			if (target != SIZE_MAX && target != i)
				graph->rows[target].has_unmarked_parent = true;
		}
	}
	for (size_t i = 0; i < graph->n_rows; i++) {
		const struct row *row = &graph->rows[i];

		n += !row->is_marked && !row->is_continuation && !row->has_unmarked_parent;
	}
	return n;
}

/* WORD: bytes of a reference; an object begins with two words. */
static void judge(struct graph *graph, const struct heapshot_snapshot *snapshot,
		  const struct heapshot_roots *roots, uint64_t word)
{
	uint64_t objects = 0, twice = 0, orphans = 0, dangling = 0, reached = 0, bad_slots = 0;
	uint64_t strongly_reached, unknown = 0, rootless = 0, overlapping = 0, loose_ephemerons = 0,
				   end = 0;

	qsort(graph->rows, graph->n_rows, sizeof(*graph->rows), by_address);
	graph->stack = realloc(graph->stack, (graph->n_rows + 1) * sizeof(*graph->stack));
	if (!graph->stack)
		die("out of memory");
	mark_all(graph, roots, false);
	strongly_reached = count_marked(graph);
	mark_all(graph, roots, true);
	for (size_t i = 0; i < graph->n_rows; i++) {
		const struct row *row = &graph->rows[i];
		bool is_first = i == 0 || graph->rows[i - 1].address != row->address;
		uint64_t size = is_first ? row->size : 0;

		if (!row->is_continuation) {
			objects++;
			twice += !is_first;
			reached += is_first && row->is_marked;
			overlapping += is_first && row->address < end;
			end = row->address + row->size;
		} else if (is_first) {
			orphans++;
		}
		for (size_t k = row->first_edge; k < row->first_edge + row->n_edges; k++) {
			uint64_t offset = graph->edges[k].offset;

			dangling += find(graph, graph->edges[k].target) == SIZE_MAX;
			bad_slots += offset < 2 * word || offset % word ||
				     (size && offset + word > size);
		}
	}
	for (size_t i = 0; i < roots->n_roots; i++) {
		unknown += roots->sources[roots->roots[i].source].kind == ROOT_KIND_UNKNOWN;
		rootless += find(graph, roots->roots[i].object) == SIZE_MAX;
	}
	for (size_t i = 0; i < graph->n_ephemerons; i++) {
		const struct heapshot_ephemeron *edge = &graph->ephemerons[i];

		loose_ephemerons += find(graph, edge->table) == SIZE_MAX ||
				    find(graph, edge->key) == SIZE_MAX ||
				    find(graph, edge->value) == SIZE_MAX;
	}
	printf("{\"id\":%" PRIu64 ",\"objects\":%" PRIu64 ",\"stated_objects\":%" PRIu64
	       ",\"references\":%zu,\"stated_references\":%" PRIu64 ",\"reached\":%" PRIu64
	       ",\"by_saved_registers\":%" PRIu64 ",\"lost_roots\":%" PRIu64 ",\"twice\":%" PRIu64
	       ",\"orphans\":%" PRIu64 ",\"overlapping\":%" PRIu64 ",\"dangling\":%" PRIu64
	       ",\"bad_slots\":%" PRIu64 ",\"roots\":%zu"
	       ",\"unknown_roots\":%" PRIu64 ",\"roots_without_object\":%" PRIu64
	       ",\"ephemerons\":%zu,\"loose_ephemerons\":%" PRIu64 "}\n",
	       snapshot->id, objects, snapshot->objects, graph->n_edges, snapshot->references,
	       reached, count_marked(graph) - strongly_reached, count_lost_roots(graph), twice,
	       orphans, overlapping, dangling, bad_slots, roots->n_roots, unknown, rootless,
	       graph->n_ephemerons, loose_ephemerons);
}

static void list_unreached(const struct heapshot_reader *reader, const struct graph *graph)
{
	for (size_t i = 0; i < graph->n_rows; i++) {
		const struct row *row = &graph->rows[i];
		const struct heapshot_type *type = heapshot_reader_type(reader, row->type);

		if (!row->is_marked && !row->is_continuation)
			fprintf(stderr, "0x%" PRIx64 " %" PRIu64 " %s\n", row->address, row->size,
				type ? type->name : "?");
	}
}

int main(int argc, char **argv)
{
	struct heapshot_reader_options options = {.size = sizeof(options), .memory_bytes = 1 << 30};
	struct heapshot_reader *reader = heapshot_reader_new(&options);
	const struct heapshot_snapshot *snapshots;
	struct graph graph = {0};
	size_t n;

	if (argc < 2 || !reader || heapshot_reader_open_file(reader, argv[1]))
		die(reader && argc > 1 ? heapshot_reader_error(reader)
				       : "usage: reach FILE [SNAPSHOT [KIND]]");
	if (argc > 3)
		ignored_kind = (uint32_t)strtoul(argv[3], NULL, 10);
	heapshot_reader_load_names(reader);
	snapshots = heapshot_reader_snapshots(reader, &n);
	for (size_t i = 0; i < n; i++) {
		struct heapshot_roots roots;

		if (!snapshots[i].is_complete || snapshots[i].is_stats_only)
			continue;
		read_graph(reader, &snapshots[i], &graph);
		if (heapshot_reader_roots(reader, &snapshots[i], &roots))
			die("the roots cannot be read");
		judge(&graph, &snapshots[i], &roots, heapshot_reader_header(reader)->word_bytes);
		if (argc > 2 && snapshots[i].id == strtoull(argv[2], NULL, 10))
			list_unreached(reader, &graph);
	}
	free(graph.rows);
	free(graph.edges);
	free(graph.ephemerons);
	free(graph.stack);
	heapshot_reader_free(reader);
	return 0;
}
