/* SPDX-License-Identifier: MIT */
/*
 * Distinct paths, the shortest first.  They are made from their ends: a piece is
 * the rest of a path from some node on, and the piece that can become the
 * shortest path, which the lengths of the shortest ways tell exactly, is
 * continued next.
 */
#include "contrib/reader/graph_ways.h"

#define NO_PIECE UINT32_MAX
/* Pieces that are kept: in a dense graph their number grows without end. */
#define PIECES_MAX (8u << 20)

struct piece {
	uint32_t node;
	uint32_t rest;     /* the piece it continues */
	uint32_t n_nodes;  /* of this piece */
	uint32_t nearest;  /* least length of a way among its nodes */
	bool is_ephemeron; /* NODE leads on as a key to its value */
};

struct heapshot_graph_paths {
	struct heapshot_graph *graph;
	const struct heapshot_graph_ways *ways;
	struct piece *pieces;
	size_t n, room;
	uint32_t *heap; /* pieces to be continued, the most promising first */
	size_t n_heap, room_heap;
	struct heapshot_graph_step *steps;
	size_t room_steps;
};

/* Nodes that a path made of PIECE has at least, and exactly in the best case. */
static uint64_t length_of(const struct heapshot_graph_paths *paths, uint32_t piece)
{
	const struct piece *p = &paths->pieces[piece];

	return (uint64_t)p->n_nodes + paths->ways->ways[p->node].length;
}

static bool is_before(const struct heapshot_graph_paths *paths, uint32_t a, uint32_t b)
{
	uint64_t length_a = length_of(paths, a), length_b = length_of(paths, b);

	/* Of equal ones the longer piece is nearer to its end. */
	if (length_a != length_b)
		return length_a < length_b;
	if (paths->pieces[a].n_nodes != paths->pieces[b].n_nodes)
		return paths->pieces[a].n_nodes > paths->pieces[b].n_nodes;
	return a < b;
}

static bool push(struct heapshot_graph_paths *paths, const struct piece *piece)
{
	struct hs_memory *memory = paths->graph->memory;
	size_t at = paths->n_heap;
	uint32_t number = (uint32_t)paths->n;

	if (paths->n >= PIECES_MAX ||
	    !hs_memory_reserve(memory, &paths->pieces, paths->n, &paths->room,
			       sizeof(*paths->pieces)) ||
	    !hs_memory_reserve(memory, &paths->heap, paths->n_heap, &paths->room_heap,
			       sizeof(*paths->heap)))
		return false;
	paths->pieces[paths->n++] = *piece;
	paths->n_heap++;
	while (at > 0 && is_before(paths, number, paths->heap[(at - 1) / 2])) {
		paths->heap[at] = paths->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	paths->heap[at] = number;
	return true;
}

static uint32_t pop(struct heapshot_graph_paths *paths)
{
	uint32_t first = paths->heap[0], last = paths->heap[--paths->n_heap];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= paths->n_heap)
			break;
		if (child + 1 < paths->n_heap &&
		    is_before(paths, paths->heap[child + 1], paths->heap[child]))
			child++;
		if (!is_before(paths, paths->heap[child], last))
			break;
		paths->heap[at] = paths->heap[child];
		at = child;
	}
	paths->heap[at] = last;
	return first;
}

/* Whether NODE is on PIECE; only what is not nearer than all of it can be. */
static bool has_node(const struct heapshot_graph_paths *paths, uint32_t piece, uint32_t node)
{
	if (paths->ways->ways[node].length < paths->pieces[piece].nearest)
		return false;
	for (; piece != NO_PIECE; piece = paths->pieces[piece].rest)
		if (paths->pieces[piece].node == node)
			return true;
	return false;
}

/* Continues PIECE by NODE, from which its first node is reached. */
static bool extend(struct heapshot_graph_paths *paths, uint32_t piece, uint32_t node,
		   bool is_ephemeron)
{
	uint32_t length = paths->ways->ways[node].length;
	struct piece next = {
		.node = node,
		.rest = piece,
		.n_nodes = paths->pieces[piece].n_nodes + 1,
		.nearest = paths->pieces[piece].nearest,
		.is_ephemeron = is_ephemeron,
	};

	if (length == 0 || has_node(paths, piece, node))
		return true;
	if (length < next.nearest)
		next.nearest = length;
	return push(paths, &next);
}

static bool refers(const uint32_t *referrers, uint64_t n, uint32_t node)
{
	uint64_t low = 0, high = n;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (referrers[middle] < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && referrers[low] == node;
}

static bool extend_all(struct heapshot_graph_paths *paths, uint32_t piece)
{
	const struct heapshot_graph *graph = paths->graph;
	uint32_t node = paths->pieces[piece].node;
	uint32_t last = HEAPSHOT_GRAPH_NONE, last_key = HEAPSHOT_GRAPH_NONE;
	const struct heapshot_graph_root *roots;
	const uint32_t *referrers;
	uint64_t n, k;
	size_t n_roots, i;

	referrers = heapshot_graph_referrers(graph, node, &n);
	for (k = 0; k < n; k++) {
		if (referrers[k] != last && !extend(paths, piece, referrers[k], false))
			return false;
		last = referrers[k];
	}
	i = graph->flags[node] & HEAPSHOT_GRAPH_VALUE
		    ? hs_first_pair(graph->by_value, graph->n_ephemerons, node)
		    : graph->n_ephemerons;
	for (; i < graph->n_ephemerons && graph->by_value[i] >> 32 == node; i++) {
		uint32_t ephemeron = (uint32_t)graph->by_value[i];

		uint32_t key = graph->ephemerons[ephemeron].key;

		if (paths->ways->options.without_ephemerons || key == last_key ||
		    !hs_is_live_ephemeron(graph, ephemeron) || refers(referrers, n, key))
			continue;
		last_key = key;
		if (!extend(paths, piece, key, true))
			return false;
	}
	roots = heapshot_graph_roots_of(graph, node, &n_roots);
	for (i = 0; i < n_roots; i++) {
		uint32_t source = roots[i].source;

		/* Once, however many roots a source has. */
		for (k = 0; k < i && roots[k].source != source; k++)
			;
		if (k == i && hs_is_holding(graph, &roots[i]) &&
		    hs_is_way_out(paths->ways, source) &&
		    !extend(paths, piece, heapshot_graph_source_node(graph, source), false))
			return false;
	}
	return true;
}

enum heapshot_read_result heapshot_graph_paths_new(struct heapshot_graph *graph,
						   const struct heapshot_graph_ways *ways,
						   const uint32_t *targets, size_t n_targets,
						   struct heapshot_graph_paths **out)
{
	struct heapshot_graph_paths *paths = hs_memory_grow(graph->memory, NULL, 0, sizeof(*paths));
	size_t i;

	*out = NULL;
	if (paths == NULL)
		return hs_fail_memory(graph->reader);
	paths->graph = graph;
	paths->ways = ways;
	for (i = 0; i < n_targets; i++) {
		struct piece piece = {
			.node = targets[i],
			.rest = NO_PIECE,
			.n_nodes = 1,
			.nearest = ways->ways[targets[i]].length,
		};

		if (piece.nearest != 0 && !push(paths, &piece)) {
			heapshot_graph_paths_free(paths);
			return hs_fail_memory(graph->reader);
		}
	}
	*out = paths;
	return HEAPSHOT_READ_OK;
}

void heapshot_graph_paths_free(struct heapshot_graph_paths *paths)
{
	struct hs_memory *memory;

	if (paths == NULL)
		return;
	memory = paths->graph->memory;
	hs_memory_release(memory, paths->pieces, paths->room * sizeof(*paths->pieces));
	hs_memory_release(memory, paths->heap, paths->room_heap * sizeof(*paths->heap));
	hs_memory_release(memory, paths->steps, paths->room_steps * sizeof(*paths->steps));
	hs_memory_release(memory, paths, sizeof(*paths));
}

/* Offset of the first slot of NODE that leads to TARGET. */
static uint64_t slot_to(const struct heapshot_graph *graph, uint32_t node, uint32_t target)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;

	heapshot_graph_walk_begin(graph, node, &walk);
	while (heapshot_graph_walk_next(&walk, &edge))
		if (edge.target == target && !edge.is_ephemeron)
			return edge.offset;
	return 0;
}

static bool write_steps(struct heapshot_graph_paths *paths, uint32_t piece)
{
	const struct heapshot_graph *graph = paths->graph;
	size_t n = 0;

	for (; piece != NO_PIECE; piece = paths->pieces[piece].rest) {
		const struct piece *p = &paths->pieces[piece];

		if (!hs_memory_reserve(graph->memory, &paths->steps, n, &paths->room_steps,
				       sizeof(*paths->steps)))
			return false;
		paths->steps[n++] = (struct heapshot_graph_step){
			.node = p->node,
			.is_ephemeron = p->is_ephemeron,
			.offset = p->node < graph->n && p->rest != NO_PIECE && !p->is_ephemeron
					  ? slot_to(graph, p->node, paths->pieces[p->rest].node)
					  : 0,
		};
	}
	return true;
}

enum heapshot_read_result heapshot_graph_paths_next(struct heapshot_graph_paths *paths,
						    const struct heapshot_graph_step **steps,
						    size_t *n_steps)
{
	while (paths->n_heap > 0) {
		uint32_t piece = pop(paths);

		if (paths->pieces[piece].node < paths->graph->n) {
			if (!extend_all(paths, piece))
				return hs_fail_memory(paths->graph->reader);
			continue;
		}
		*n_steps = paths->pieces[piece].n_nodes;
		if (!write_steps(paths, piece))
			return hs_fail_memory(paths->graph->reader);
		*steps = paths->steps;
		return HEAPSHOT_READ_OK;
	}
	return HEAPSHOT_READ_END;
}
