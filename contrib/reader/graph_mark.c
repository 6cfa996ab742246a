/* SPDX-License-Identifier: MIT */
/*
 * Which objects live: reached from the roots that hold, and through ephemerons
 * whose table and key are both reached.
 */
#include "contrib/reader/graph.h"

/* Places in memory are asked for so many objects before they are needed. */
#define AHEAD 8

struct marking {
	struct heapshot_graph *graph;
	uint32_t *queue; /* objects that live, in the order in which they were reached */
	size_t n;
};

static inline void reach(struct marking *marking, uint32_t object)
{
	uint8_t *flags = &marking->graph->flags[object];

	if (*flags & HEAPSHOT_GRAPH_LIVE)
		return;
	*flags |= HEAPSHOT_GRAPH_LIVE;
	marking->queue[marking->n++] = object;
}

static bool is_saved(const struct heapshot_graph *graph, const struct heapshot_graph_root *root)
{
	return graph->sources[root->source].source.kind ==
	       HEAPSHOT__ROOT_KIND__ROOT_KIND_SAVED_REGISTERS;
}

/* OBJECT was reached: values follow whose other half was reached before. */
static void reach_values(struct marking *marking, uint32_t object, const uint64_t *pairs)
{
	struct heapshot_graph *graph = marking->graph;
	size_t i = hs_first_pair(pairs, graph->n_ephemerons, object);

	for (; i < graph->n_ephemerons && pairs[i] >> 32 == object; i++)
		if (hs_is_live_ephemeron(graph, (uint32_t)pairs[i]))
			reach(marking, graph->ephemerons[(uint32_t)pairs[i]].value);
}

/* What is reached from the objects of the queue at or behind AT. */
static void follow(struct marking *marking, size_t at)
{
	const struct heapshot_graph *graph = marking->graph;

	for (; at < marking->n; at++) {
		uint32_t object = marking->queue[at];
		uint64_t edge = hs_start(&graph->out, object);
		uint64_t end = hs_start(&graph->out, (uint64_t)object + 1);

		/* Where nothing refers to anything there are no targets. */
		if (at + 2 * AHEAD < marking->n && graph->targets != NULL) {
			__builtin_prefetch(&graph->out.low[marking->queue[at + 2 * AHEAD]]);
			__builtin_prefetch(
				&graph->targets[hs_start(&graph->out, marking->queue[at + AHEAD])]);
		}
		for (; edge < end; edge++)
			reach(marking, graph->targets[edge]);
		if (graph->flags[object] & HEAPSHOT_GRAPH_KEY)
			reach_values(marking, object, graph->by_key);
		if (graph->flags[object] & HEAPSHOT_GRAPH_EPH_TABLE)
			reach_values(marking, object, graph->by_table);
	}
}

/* Each of these roots holds what nothing before it does. */
static void reach_saved(struct marking *marking)
{
	struct heapshot_graph *graph = marking->graph;

	for (size_t i = 0; i < graph->n_roots; i++) {
		const struct heapshot_graph_root *root = &graph->roots[i];
		const size_t at = marking->n;

		if (!is_saved(graph, root) || (graph->flags[root->object] & HEAPSHOT_GRAPH_LIVE))
			continue;
		graph->flags[root->object] |= HEAPSHOT_GRAPH_SAVED;
		reach(marking, root->object);
		follow(marking, at);
	}
}

enum heapshot_read_result hs_graph_mark(struct heapshot_graph *graph)
{
	struct marking marking = {.graph = graph};
	size_t i;

	if (graph->scratch == NULL)
		graph->scratch = hs_memory_grow(graph->memory, NULL, 0, hs_column_bytes(graph));
	marking.queue = graph->scratch;
	if (marking.queue == NULL)
		return hs_fail_memory(graph->reader);
	for (i = 0; i < graph->n_roots; i++)
		if (graph->sources[graph->roots[i].source].is_holding &&
		    !is_saved(graph, &graph->roots[i]))
			reach(&marking, graph->roots[i].object);
	follow(&marking, 0);
	reach_saved(&marking);
	graph->counts.live_objects = marking.n;
	hs_memory_release(graph->memory, graph->scratch, hs_column_bytes(graph));
	graph->scratch = NULL;
	return hs_graph_sum(graph);
}
