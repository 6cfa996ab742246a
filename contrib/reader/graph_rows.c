/* SPDX-License-Identifier: MIT */
/*
 * Objects and references in one pass.  Rows go into the columns of the graph in
 * the order of the file, which is that of addresses for long runs of rows; the
 * runs are then put in order, and numbers stand for addresses from then on.
 *
 * This is for what recorders write: totals at the end that hold, no object
 * twice, all of it within 32 GB, rows of an object one behind the other.  Where
 * anything differs all is forgotten, and three passes are made instead, which
 * rely on nothing (graph_build.c, graph_edges.c).
 */
#include <string.h>

#include "contrib/reader/graph.h"
#include "contrib/reader/sort.h"

/* A run does not go beyond so many bytes of addresses: those of a block of the collector. */
#define RUN_SHIFT 14

/* Rows with ascending addresses. */
struct run {
	uint64_t first, last; /* addresses */
	uint64_t edge, n_edges;
	uint32_t row, n_rows;
};

struct rows {
	struct heapshot_graph *graph;
	struct run *runs;
	size_t n_runs, room_runs;
	/* Until all objects have numbers a target is the number of words from BASE. */
	uint64_t base, beyond; /* BEYOND: all distances from BASE together */
	uint64_t n_edges;
	uint64_t last_address, last_offset;
	uint32_t n;
};

/* Addresses that a target can stand for lie so far from BASE. */
#define REACH_SHIFT 32

static bool begin_run(struct rows *rows, uint64_t address)
{
	struct run *run;

	if (rows->n_runs > 0) {
		run = &rows->runs[rows->n_runs - 1];
		run->n_edges = rows->n_edges - run->edge;
	}
	if (!hs_memory_reserve(rows->graph->memory, &rows->runs, rows->n_runs, &rows->room_runs,
			       sizeof(*rows->runs)))
		return false;
	run = &rows->runs[rows->n_runs++];
	*run = (struct run){.first = address, .edge = rows->n_edges, .row = rows->n};
	return true;
}

/* The first row of an object. */
static bool begin_object(struct rows *rows, const struct hs_decoded_row *row,
			 struct hs_recent_classes *recent)
{
	struct heapshot_graph *graph = rows->graph;
	bool is_new;

	if (rows->n == 0) {
		/* A whole number of sections, half of the reach before. */
		rows->base =
			row->address >> (HS_SECTION_BITS_LOG + graph->index.word_shift)
						<< (HS_SECTION_BITS_LOG + graph->index.word_shift);
		rows->base -= (uint64_t)1 << (REACH_SHIFT - 1 + graph->index.word_shift);
	}
	if (rows->n == 0 || row->address <= rows->last_address ||
	    row->address >> RUN_SHIFT != rows->last_address >> RUN_SHIFT)
		if (!begin_run(rows, row->address))
			return false;
	rows->beyond |= row->address - rows->base;
	rows->last_address = row->address;
	rows->last_offset = 0;
	rows->runs[rows->n_runs - 1].last = row->address;
	rows->runs[rows->n_runs - 1].n_rows++;
	return hs_index_add(graph->memory, &graph->index, row->address, &is_new) &&
	       hs_graph_set_object(graph, rows->n++, row, recent);
}

static bool add_references(struct rows *rows, const struct hs_decoded_row *row)
{
	struct heapshot_graph *graph = rows->graph;
	const unsigned shift = graph->index.word_shift;
	const uint64_t base = rows->base;
	uint64_t before = rows->last_offset, beyond = rows->beyond, edge = rows->n_edges, i;

	for (i = 0; i < row->n_refs; i++, edge++) {
		uint64_t distance = row->refs[i] - base;
		uint64_t words = (row->offsets[i] - before) >> shift;

		beyond |= distance;
		before = row->offsets[i];
		graph->targets[edge] = (uint32_t)(distance >> shift);
		graph->gaps[edge] = (uint8_t)words;
		if (__builtin_expect(words >= HS_GAP_LARGE, 0) &&
		    !hs_graph_set_gap(graph, edge, words))
			return false;
	}
	rows->beyond = beyond;
	rows->last_offset = before;
	rows->n_edges = edge;
	return true;
}

static enum heapshot_read_result take_rows(void *user_data, const struct heapshot_record *record)
{
	struct rows *rows = user_data;
	struct heapshot_graph *graph = rows->graph;
	struct hs_recent_classes recent = {0};
	enum heapshot_read_result result;
	struct hs_decoded_row row;
	const char *error = NULL;
	int n;

	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_ROOT_BATCH:
		return hs_roots_add(graph->reader, record);
	case HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH:
		return hs_graph_add_ephemerons(graph, record);
	case HEAPSHOT__RECORD__BODY_OBJECT_BATCH:
		break;
	default:
		return HEAPSHOT_READ_OK;
	}
	result = heapshot_reader_begin_objects(graph->reader, record, true, NULL);
	if (result != HEAPSHOT_READ_OK)
		return result;
	while ((n = hs_batch_next(graph->reader->batch, &row, &error)) > 0) {
		uint32_t *degree;

		if (row.is_continuation ? rows->n == 0 || row.address != rows->last_address
					: rows->n == graph->n)
			goto odd;
		if (row.n_refs > graph->room_edges - rows->n_edges)
			goto odd;
		if (!row.is_continuation && !begin_object(rows, &row, &recent))
			return hs_fail_memory(graph->reader);
		degree = &graph->out.low[rows->n - 1];
		if (__builtin_add_overflow(*degree, (uint32_t)row.n_refs, degree))
			goto odd;
		if (!add_references(rows, &row))
			return hs_fail_memory(graph->reader);
	}
	if (n == 0)
		return HEAPSHOT_READ_OK;
odd:
	return HEAPSHOT_READ_MISUSE; /* ends the pass */
}

static bool make_columns(struct rows *rows)
{
	struct heapshot_graph *graph = rows->graph;
	struct hs_memory *memory = graph->memory;
	const uint64_t n = graph->snapshot->objects, n_edges = graph->snapshot->references;

	/* The numbers are the file's to choose: memory is touched as rows come. */
	if (!graph->snapshot->has_end || n == 0 || n >= UINT32_MAX / 2 ||
	    n_edges > SIZE_MAX / sizeof(*graph->targets) / 2)
		return false;
	graph->n = (uint32_t)n;
	graph->classes = hs_memory_grow(memory, NULL, 0, hs_column_bytes(graph));
	graph->sizes = hs_memory_grow(memory, NULL, 0, hs_column_bytes(graph));
	graph->slacks = hs_memory_array(memory, n, sizeof(*graph->slacks));
	if (graph->classes == NULL || graph->sizes == NULL || graph->slacks == NULL ||
	    !hs_starts_make(memory, &graph->out, n))
		return false;
	graph->targets = hs_memory_array(memory, n_edges, sizeof(*graph->targets));
	if (graph->targets != NULL)
		graph->room_edges = n_edges;
	graph->gaps = hs_memory_array(memory, n_edges, sizeof(*graph->gaps));
	return n_edges == 0 || (graph->targets != NULL && graph->gaps != NULL);
}

/* ---- Runs in the order of addresses ---- */

static inline bool is_before(const struct run *a, const struct run *b)
{
	return a->first < b->first;
}

HS_DEFINE_SORT(sort_runs, struct run, is_before)

static bool is_ascending(const struct rows *rows)
{
	for (size_t i = 1; i < rows->n_runs; i++)
		if (rows->runs[i].first <= rows->runs[i - 1].last)
			return false;
	return true;
}

/* Copies items of SIZE bytes run by run: those of rows, or those of references. */
static void copy_runs(const struct rows *rows, void *to, const void *from, size_t size,
		      bool is_of_edges)
{
	char *out = to;

	for (size_t i = 0; i < rows->n_runs; i++) {
		const struct run *run = &rows->runs[i];
		size_t first = (size_t)(is_of_edges ? run->edge : run->row);
		size_t n = (size_t)(is_of_edges ? run->n_edges : run->n_rows);

		memcpy(out, (const char *)from + first * size, n * size);
		out += n * size;
	}
}

/* Entries that stand for rows or edges get their new places; keys go up by less than 2^32 a run. */
static bool move_map(const struct rows *rows, struct hs_idmap *map, bool is_of_edges)
{
	struct hs_memory *memory = rows->graph->memory;
	struct hs_idmap moved = {0};
	uint64_t out = 0;
	size_t i;

	if (map->n_used == 0)
		return true;
	for (i = 0; i < rows->n_runs; i++) {
		const struct run *run = &rows->runs[i];
		uint64_t first = is_of_edges ? run->edge : run->row;
		uint64_t n = is_of_edges ? run->n_edges : run->n_rows, k;

		for (k = 0; k < n; k++) {
			const uint32_t *found;

			if (is_of_edges ? rows->graph->gaps[first + k] != HS_GAP_LARGE
					: rows->graph->sizes[first + k] != HS_SIZE_LARGE)
				continue;
			found = hs_idmap_find(map, first + k);
			if (!hs_idmap_put(memory, &moved, out + k, *found)) {
				hs_idmap_free(memory, &moved);
				return false;
			}
		}
		out += n;
	}
	hs_idmap_free(memory, map);
	*map = moved;
	return true;
}

/* Puts *COLUMN in order; the memory it had is *SPARE then, and that of SPARE its own. */
static void move_column(const struct rows *rows, uint32_t **column, uint32_t **spare,
			bool is_of_edges)
{
	uint32_t *old = *column;

	copy_runs(rows, *spare, old, sizeof(*old), is_of_edges);
	*column = *spare;
	*spare = old;
}

static void move_bytes(const struct rows *rows, uint8_t **column, uint8_t **spare, bool is_of_edges)
{
	uint8_t *old = *column;

	copy_runs(rows, *spare, old, sizeof(*old), is_of_edges);
	*column = *spare;
	*spare = old;
}

/* Pages that were touched are used again: the old columns become others. */
static bool move_columns(const struct rows *rows)
{
	struct heapshot_graph *graph = rows->graph;
	struct hs_memory *memory = graph->memory;
	const size_t n_edges = (size_t)graph->n_edges;
	uint8_t *gaps = hs_memory_array(memory, n_edges, sizeof(*gaps));

	graph->scratch = hs_memory_grow(memory, NULL, 0, hs_column_bytes(graph));
	graph->flags = hs_memory_grow(memory, NULL, 0, graph->n);
	graph->referrers = hs_memory_array(memory, n_edges, sizeof(*graph->referrers));
	if (graph->referrers != NULL)
		graph->room_referrers = n_edges;
	/* The maps by the columns as they are. */
	if (graph->scratch == NULL || graph->flags == NULL ||
	    (n_edges > 0 && (gaps == NULL || graph->referrers == NULL)) ||
	    !move_map(rows, &graph->large_index, false) ||
	    !move_map(rows, &graph->gap_index, true)) {
		hs_memory_release(memory, gaps, n_edges * sizeof(*gaps));
		return false;
	}
	move_column(rows, &graph->classes, &graph->scratch, false);
	move_column(rows, &graph->sizes, &graph->scratch, false);
	move_column(rows, &graph->out.low, &graph->scratch, false);
	graph->out.low[graph->n] = 0;
	move_bytes(rows, &graph->slacks, &graph->flags, false);
	memset(graph->flags, 0, graph->n);
	if (n_edges == 0)
		return true;
	move_column(rows, &graph->targets, &graph->referrers, true);
	move_bytes(rows, &graph->gaps, &gaps, true);
	hs_memory_release(memory, gaps, n_edges * sizeof(*gaps));
	return true;
}

/* What was read becomes columns of the graph, which is_read says then. */
static enum heapshot_read_result arrange(struct rows *rows)
{
	struct heapshot_graph *graph = rows->graph;
	const uint64_t mask = ((uint64_t)1 << graph->index.word_shift) - 1;
	enum heapshot_read_result result;
	uint64_t n;

	if (rows->n != graph->n || rows->n_edges != graph->room_edges ||
	    (rows->beyond & mask) != 0 ||
	    rows->beyond >> (REACH_SHIFT + graph->index.word_shift) != 0)
		return HEAPSHOT_READ_OK;
	rows->runs[rows->n_runs - 1].n_edges = rows->n_edges - rows->runs[rows->n_runs - 1].edge;
	graph->n_edges = rows->n_edges;
	if (!is_ascending(rows)) {
		sort_runs(rows->runs, rows->n_runs);
		if (!is_ascending(rows))
			return HEAPSHOT_READ_OK;
		if (!move_columns(rows))
			return hs_fail_memory(graph->reader);
	}
	if (!hs_index_finish(graph->memory, &graph->index, &n))
		return hs_fail_memory(graph->reader);
	if (!hs_starts_sum(&graph->out, &n))
		return hs_graph_too_many(graph);
	result = hs_graph_find_targets(graph, rows->base);
	if (result != HEAPSHOT_READ_OK)
		return result;
	graph->counts.objects = graph->n;
	graph->counts.references = graph->n_edges;
	graph->is_read = true;
	return HEAPSHOT_READ_OK;
}

enum heapshot_read_result hs_graph_read_at_once(struct heapshot_graph *graph)
{
	struct heapshot_reader *reader = graph->reader;
	struct rows rows = {.graph = graph};
	enum heapshot_read_result result;

	hs_index_init(&graph->index, graph->word_bytes);
	hs_roots_free(reader);
	if (!make_columns(&rows)) {
		hs_graph_forget(graph);
		return HEAPSHOT_READ_OK;
	}
	result = hs_read_body(reader, graph->snapshot, take_rows, &rows, &graph->is_damaged);
	graph->table = reader->roots;
	reader->roots = (struct hs_root_table){0};
	if (result == HEAPSHOT_READ_OK && !graph->is_damaged &&
	    graph->n + 2 * (uint64_t)graph->table.n_sources + 1 < HEAPSHOT_GRAPH_NONE)
		result = arrange(&rows);
	hs_memory_release(graph->memory, rows.runs, rows.room_runs * sizeof(*rows.runs));
	if (graph->is_read || result == HEAPSHOT_READ_IO)
		return result;
	/* Also where memory did not suffice: three passes need a little less. */
	hs_graph_forget(graph);
	return HEAPSHOT_READ_OK;
}
