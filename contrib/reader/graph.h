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

#define HS_NO_CLASS UINT32_MAX

/* Distances of slots that do not fit a byte: by number of the edge. */
#define HS_GAP_LARGE 255u

/* A node in the tree of dominators; what is asked for together lies together. */
struct hs_tree_node {
	uint64_t retained;
	uint32_t first_child, next_child;
};

struct heapshot_graph {
	struct heapshot_reader *reader;
	const struct heapshot_snapshot *snapshot;
	struct hs_memory *memory;
	size_t memory_before;
	unsigned word_bytes;
	struct heapshot_graph_counts counts;
	bool is_damaged, is_short; /* is_short: of memory, in a callback */
	bool is_read;              /* objects and references, in one pass */

	struct hs_index index;
	uint32_t n; /* objects */
	/* Columns of objects. */
	uint32_t *classes; /* index into class_list; HS_NO_CLASS: its row is still to come */
	uint32_t *sizes;
	uint32_t *scratch; /* as large as a column, while the graph is made; or NULL */
	uint8_t *slacks;   /* words between the end of the object and of its slot */
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
	bool has_n_in; /* in.low: numbers of references, not starts yet */
	uint32_t *referrers;
	uint64_t n_edges, room_edges, room_referrers;

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
	struct hs_tree_node *tree;
};

/* Bytes of a column of 32 bits: an item more than objects, so that all can change places. */
static inline uint64_t hs_column_bytes(const struct heapshot_graph *graph)
{
	return ((uint64_t)graph->n + 1) * sizeof(uint32_t);
}

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

/* Classes that a batch has met before. */
#define HS_RECENT_CLASSES 64
struct hs_recent_classes {
	struct hs_recent_class {
		uint32_t type, domain, class_index;
		bool is_used;
	} classes[HS_RECENT_CLASSES];
};

/* Place of the pair in the list of classes; HS_NO_CLASS without memory. */
uint32_t hs_graph_get_class(struct heapshot_graph *graph, uint32_t type, uint32_t domain);
/* Sizes that do not fit the columns.  False without memory. */
bool hs_graph_set_large(struct heapshot_graph *graph, uint32_t object,
			const struct hs_decoded_row *row);

/* Puts the first ROW of an object into the columns.  False without memory. */
static inline bool hs_graph_set_object(struct heapshot_graph *graph, uint32_t object,
				       const struct hs_decoded_row *row,
				       struct hs_recent_classes *recent)
{
	struct hs_recent_class *at = &recent->classes[row->type % HS_RECENT_CLASSES];
	const unsigned shift = graph->index.word_shift;
	uint64_t words = row->size >> shift, slack;

	if (!at->is_used || at->type != row->type || at->domain != row->domain) {
		*at = (struct hs_recent_class){
			.type = row->type,
			.domain = row->domain,
			.class_index = hs_graph_get_class(graph, row->type, row->domain),
			.is_used = true,
		};
		if (at->class_index == HS_NO_CLASS)
			return false;
	}
	graph->classes[object] = at->class_index;
	words += (words << shift) != row->size;
	slack = (row->slot_size >> shift) - words;
	if (row->size >= HS_SIZE_LARGE || slack >= HS_SLACK_LARGE)
		return hs_graph_set_large(graph, object, row);
	graph->sizes[object] = (uint32_t)row->size;
	graph->slacks[object] = (uint8_t)slack;
	return true;
}

/* Sums by class, once it is known what lives.  DAMAGED where a sum is too large. */
enum heapshot_read_result hs_graph_sum(struct heapshot_graph *graph);

/* Notes how many words lie between the slot of EDGE and the one before.  False without memory. */
bool hs_graph_set_gap(struct heapshot_graph *graph, uint64_t edge, uint64_t words);

/* Takes out references that lead nowhere; FILLED (NULL: all) are those of each object that are there. */
enum heapshot_read_result hs_graph_close_gaps(struct heapshot_graph *graph, const uint32_t *filled);

/* Keeps an ephemeron batch until objects have numbers. */
enum heapshot_read_result hs_graph_add_ephemerons(struct heapshot_graph *graph,
						  const struct heapshot_record *record);

/* Frees all that was read. */
void hs_graph_forget(struct heapshot_graph *graph);

void hs_graph_free_dominators(struct heapshot_graph *graph);

/*
 * The steps of heapshot_graph_open.  The first does the work of the next three where the
 * recording is as recorders write it, and sets is_read; else it leaves the graph as it was.
 */
enum heapshot_read_result hs_graph_read_at_once(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_find_objects(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_read_sizes(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_read_edges(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_join_roots(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_join_ephemerons(struct heapshot_graph *graph);
enum heapshot_read_result hs_graph_turn_and_mark(struct heapshot_graph *graph);

enum heapshot_read_result hs_graph_mark(struct heapshot_graph *graph);

/*
 * Makes numbers of objects out of targets that stand for words from the address
 * BASE, and counts those that lead to each object.
 */
enum heapshot_read_result hs_graph_find_targets(struct heapshot_graph *graph, uint64_t base);

/* Fewer references are not worth a second thread. */
#define HS_EDGES_BESIDE 200000

#endif
