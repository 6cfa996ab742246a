/* SPDX-License-Identifier: MIT */
/*
 * What the files of the graph share.
 */
#ifndef HEAPSHOT_READER_GRAPH_H
#define HEAPSHOT_READER_GRAPH_H

#include "contrib/reader/graph_index.h"
#include "contrib/reader/heapshot-graph.h"
#include "contrib/reader/reader.h"

/*
 * Where the edges of each object begin: a 64-bit base for 64 objects, and 32
 * bits for each of them.  Has an entry more than there are objects.
 */
#define HS_STARTS_SHIFT 6
struct hs_starts {
	uint64_t *base;
	uint32_t *low;
	size_t n_base, n_low;
};

static inline uint64_t hs_start(const struct hs_starts *starts, uint64_t i)
{
	return starts->base[i >> HS_STARTS_SHIFT] + starts->low[i];
}

bool hs_starts_make(struct hs_memory *memory, struct hs_starts *starts, uint64_t n);
void hs_starts_free(struct hs_memory *memory, struct hs_starts *starts);
/* Turns the degrees in LOW into starts; false when 64 neighbours have 2^32 edges. */
bool hs_starts_sum(struct hs_starts *starts, uint64_t *n_edges);

/* Sizes that do not fit the columns. */
#define HS_SIZE_LARGE  UINT32_MAX
#define HS_SLACK_LARGE 255u
struct hs_large_object {
	uint64_t size, slot_size;
};

/* Distances of slots that do not fit a byte: by number of the edge. */
#define HS_GAP_LARGE 255u

struct heapshot_graph {
	struct heapshot_reader *reader;
	const struct heapshot_snapshot *snapshot;
	struct hs_memory *memory;
	size_t memory_before;
	unsigned word_bytes;
	struct heapshot_graph_counts counts;
	bool is_damaged, wraps, is_short; /* is_short: of memory, in a callback */

	struct hs_index index;
	uint32_t n; /* objects */
	/* Columns of objects. */
	uint32_t *classes; /* index into class_list; UINT32_MAX: its row is still to come */
	uint32_t *sizes;
	uint8_t *slacks; /* words between the end of the object and of its slot */
	uint8_t *flags;
	struct hs_idmap large_index;
	struct hs_large_object *large;
	size_t n_large, room_large;

	struct heapshot_graph_class *class_list;
	size_t n_classes, room_classes;
	struct hs_idmap class_index; /* type << 32 | domain */

	/* Way out: where to, and how many words lie between a slot and the one before. */
	struct hs_starts out;
	uint32_t *targets;
	uint8_t *gaps;
	struct hs_idmap gap_index; /* edge -> large_gaps */
	uint64_t *large_gaps;
	size_t n_large_gaps, room_large_gaps;
	/* Way in. */
	struct hs_starts in;
	uint32_t *referrers;
	uint64_t n_edges, room_edges;

	/* Ephemerons as they are read, then by numbers; sorted by key, value, table. */
	struct heapshot_ephemeron *raw_ephemerons;
	size_t n_raw, room_raw;
	struct heapshot_graph_ephemeron *ephemerons;
	size_t n_ephemerons, room_ephemerons;
	uint64_t *by_key, *by_value, *by_table; /* object << 32 | ephemeron */

	struct hs_root_table table; /* owns the sources' texts */
	struct heapshot_graph_root *roots;
	size_t n_roots, room_roots;
	struct heapshot_graph_source *sources;
	size_t n_sources;
	struct heapshot_graph_kind *kinds;
	size_t n_kinds, room_kinds;
	uint32_t *roots_by_source; /* numbers of roots */
	uint64_t *source_first;    /* in roots_by_source, n_sources + 1 of them */

	/* Of all nodes, once they are wanted. */
	uint32_t *dominators;
	uint64_t *retained;
	uint32_t *first_child, *next_child;
};

static inline uint64_t hs_size(const struct heapshot_graph *graph, uint32_t object)
{
	if (graph->sizes[object] != HS_SIZE_LARGE)
		return graph->sizes[object];
	return graph->large[*hs_idmap_find(&graph->large_index, object)].size;
}

/* Words between the slot of EDGE and the one before it (or the object's start). */
static inline uint64_t hs_gap(const struct heapshot_graph *graph, uint64_t edge)
{
	if (graph->gaps[edge] < HS_GAP_LARGE)
		return graph->gaps[edge];
	return graph->large_gaps[*hs_idmap_find(&graph->gap_index, edge)];
}

static inline uint32_t hs_root_node(const struct heapshot_graph *graph)
{
	return graph->n;
}

static inline bool hs_is_live_ephemeron(const struct heapshot_graph *graph, size_t ephemeron)
{
	const struct heapshot_graph_ephemeron *edge = &graph->ephemerons[ephemeron];

	return graph->flags[edge->table] & graph->flags[edge->key] & HEAPSHOT_GRAPH_LIVE;
}

/* Once it is known what lives. */
static inline bool hs_is_holding(const struct heapshot_graph *graph,
				 const struct heapshot_graph_root *root)
{
	const struct heapshot_graph_source *source = &graph->sources[root->source];

	return source->is_holding &&
	       (source->source.kind != HEAPSHOT__ROOT_KIND__ROOT_KIND_SAVED_REGISTERS ||
		(graph->flags[root->object] & HEAPSHOT_GRAPH_SAVED));
}

/* First place in a list of OBJECT << 32 | number that belongs to OBJECT or to a later one. */
size_t hs_first_pair(const uint64_t *pairs, size_t n, uint32_t object);

/* There are limits to the number of references of neighbours; MEMORY. */
enum heapshot_read_result hs_graph_too_many(struct heapshot_graph *graph);

void hs_graph_free_dominators(struct heapshot_graph *graph);

/* The steps of heapshot_graph_open. */
enum heapshot_read_result hs_graph_find_objects(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_read_sizes(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_read_edges(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_turn_edges(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_join_roots(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_join_ephemerons(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_mark(struct heapshot_graph *graph);

#endif
