/* SPDX-License-Identifier: MIT */
/*
 * References the other way round: what refers to each object.
 */
#include "contrib/reader/beside.h"
#include "contrib/reader/graph.h"

/* Places in memory are asked for so many edges before they are needed. */
#define AHEAD 16

static enum heapshot_read_result count(struct heapshot_graph *graph)
{
	uint64_t edge;

	if (!hs_starts_make(graph->memory, &graph->in, graph->n))
		return hs_fail_memory(graph->reader);
	for (edge = 0; edge < graph->n_edges; edge++) {
		if (edge + AHEAD < graph->n_edges)
			__builtin_prefetch(&graph->in.low[graph->targets[edge + AHEAD]], 1);
		if (__builtin_add_overflow(graph->in.low[graph->targets[edge]], 1u,
					   &graph->in.low[graph->targets[edge]]))
			return hs_graph_too_many(graph);
	}
	return HEAPSHOT_READ_OK;
}

/* Sources come in ascending order. */
static void fill(void *user_data)
{
	struct heapshot_graph *graph = user_data;
	uint64_t edge = 0;
	uint32_t object, i;

	for (object = 0; object < graph->n; object++) {
		uint64_t end = hs_start(&graph->out, (uint64_t)object + 1);

		for (; edge < end; edge++) {
			uint32_t target = graph->targets[edge], next;

			if (edge + 2 * AHEAD < graph->n_edges) {
				next = graph->targets[edge + AHEAD];
				__builtin_prefetch(&graph->referrers[hs_start(&graph->in, next)],
						   1);
				next = graph->targets[edge + 2 * AHEAD];
				__builtin_prefetch(&graph->in.low[next], 1);
				__builtin_prefetch(&graph->in.base[next >> HS_STARTS_SHIFT]);
			}
			graph->referrers[graph->in.base[target >> HS_STARTS_SHIFT] +
					 graph->in.low[target]++] = object;
		}
	}
	/* Each start is now the end, which is the start of the next. */
	for (i = graph->n; i > 0; i--) {
		uint64_t end = hs_start(&graph->in, i - 1);

		graph->in.low[i] = (uint32_t)(end - graph->in.base[i >> HS_STARTS_SHIFT]);
	}
	graph->in.low[0] = 0;
}

/* Marking wants the way out only, so that it goes beside. */
enum heapshot_read_result hs_graph_turn_and_mark(struct heapshot_graph *graph)
{
	enum heapshot_read_result result = graph->has_n_in ? HEAPSHOT_READ_OK : count(graph);
	struct hs_beside beside = {0};
	uint64_t n_edges;

	if (result != HEAPSHOT_READ_OK)
		return result;
	if (graph->referrers == NULL) {
		graph->referrers =
			hs_memory_array(graph->memory, graph->n_edges, sizeof(*graph->referrers));
		if (graph->n_edges > 0 && graph->referrers == NULL)
			return hs_fail_memory(graph->reader);
		graph->room_referrers = graph->n_edges;
	}
	if (!hs_starts_sum(&graph->in, &n_edges))
		return hs_graph_too_many(graph);
	if (graph->n_edges < HS_EDGES_BESIDE || !hs_beside_start(&beside, fill, graph))
		fill(graph);
	result = hs_graph_mark(graph);
	hs_beside_join(&beside);
	return result;
}
