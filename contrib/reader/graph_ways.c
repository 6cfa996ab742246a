/* SPDX-License-Identifier: MIT */
/*
 * Shortest ways from the root node, breadth first.
 */
#include <string.h>

#include "contrib/reader/graph_ways.h"

/* Whether sources like SOURCE hold what their roots lead to. */
bool hs_is_way_out(const struct heapshot_graph_ways *ways, uint32_t source)
{
	const struct heapshot_graph_source *from = &ways->graph->sources[source];

	return from->is_holding && (from->source.kind >= 64 ||
				    !(ways->options.excluded_kinds >> from->source.kind & 1));
}

struct wave {
	struct heapshot_graph_ways *ways;
	uint32_t *queue;
	size_t n;
};

static inline void reach(struct wave *wave, uint32_t node, uint32_t before, uint32_t words)
{
	struct hs_way *way = &wave->ways->ways[node];

	if (way->length != 0)
		return;
	*way = (struct hs_way){before, words, wave->ways->ways[before].length + 1};
	wave->queue[wave->n++] = node;
}

static bool is_last(const struct heapshot_graph_ways *ways, uint32_t node)
{
	uint32_t index, kind;

	if (heapshot_graph_node(ways->graph, node, &index) != HEAPSHOT_NODE_SOURCE)
		return false;
	kind = ways->graph->sources[index].source.kind;
	return kind < 64 && (ways->options.last_kinds >> kind & 1);
}

static void reach_from(struct wave *wave, uint32_t node)
{
	const struct heapshot_graph *graph = wave->ways->graph;
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	uint32_t index;

	if (heapshot_graph_node(graph, node, &index) == HEAPSHOT_NODE_SOURCE &&
	    !hs_is_way_out(wave->ways, index))
		return;
	heapshot_graph_walk_begin(graph, node, &walk);
	while (heapshot_graph_walk_next(&walk, &edge)) {
		uint64_t words = edge.offset >> graph->index.word_shift;

		if (!edge.is_ephemeron)
			reach(wave, edge.target, node,
			      words < HS_WAY_FAR ? (uint32_t)words : HS_WAY_FAR);
		else if (!wave->ways->options.without_ephemerons)
			reach(wave, edge.target, node, HS_WAY_EPHEMERON);
	}
}

enum heapshot_read_result heapshot_graph_ways_new(struct heapshot_graph *graph,
						  const struct heapshot_graph_ways_options *options,
						  struct heapshot_graph_ways **out)
{
	struct hs_memory *memory = graph->memory;
	size_t n = (size_t)graph->counts.nodes, at, n_first;
	struct heapshot_graph_ways *ways = hs_memory_grow(memory, NULL, 0, sizeof(*ways));
	struct wave wave = {.ways = ways};

	*out = NULL;
	if (ways == NULL)
		return hs_fail_memory(graph->reader);
	ways->graph = graph;
	if (options != NULL)
		memcpy(&ways->options, options,
		       options->size < sizeof(ways->options) ? options->size
							     : sizeof(ways->options));
	ways->ways = hs_memory_array(memory, n, sizeof(*ways->ways));
	wave.queue = hs_memory_array(memory, n, sizeof(*wave.queue));
	if (ways->ways == NULL || wave.queue == NULL) {
		hs_memory_release(memory, wave.queue, n * sizeof(*wave.queue));
		heapshot_graph_ways_free(ways);
		return hs_fail_memory(graph->reader);
	}
	ways->ways[hs_root_node(graph)] = (struct hs_way){HEAPSHOT_GRAPH_NONE, 0, 1};
	wave.queue[wave.n++] = hs_root_node(graph);
	for (at = 0; at < wave.n; at++)
		if (ways->options.last_kinds == 0 || !is_last(ways, wave.queue[at]))
			reach_from(&wave, wave.queue[at]);
	n_first = ways->options.last_kinds != 0 ? wave.n : 0;
	for (at = 0; at < n_first; at++)
		if (is_last(ways, wave.queue[at]))
			reach_from(&wave, wave.queue[at]);
	for (at = n_first; at < wave.n && n_first != 0; at++)
		reach_from(&wave, wave.queue[at]);
	hs_memory_release(memory, wave.queue, n * sizeof(*wave.queue));
	*out = ways;
	return HEAPSHOT_READ_OK;
}

void heapshot_graph_ways_free(struct heapshot_graph_ways *ways)
{
	struct hs_memory *memory;

	if (ways == NULL)
		return;
	memory = ways->graph->memory;
	hs_memory_release(memory, ways->ways,
			  (size_t)ways->graph->counts.nodes * sizeof(*ways->ways));
	hs_memory_release(memory, ways, sizeof(*ways));
}

uint32_t heapshot_graph_way_length(const struct heapshot_graph_ways *ways, uint32_t node)
{
	return ways->ways[node].length;
}

bool heapshot_graph_way_before(const struct heapshot_graph_ways *ways, uint32_t node,
			       struct heapshot_graph_step *step)
{
	const struct hs_way *way = &ways->ways[node];
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;

	if (way->length <= 1)
		return false;
	*step = (struct heapshot_graph_step){
		.node = way->before,
		.is_ephemeron = way->words == HS_WAY_EPHEMERON,
	};
	if (way->words < HS_WAY_FAR) {
		step->offset = (uint64_t)way->words << ways->graph->index.word_shift;
	} else if (way->words == HS_WAY_FAR) {
		heapshot_graph_walk_begin(ways->graph, way->before, &walk);
		while (heapshot_graph_walk_next(&walk, &edge))
			if (edge.target == node && !edge.is_ephemeron) {
				step->offset = edge.offset;
				break;
			}
	}
	return true;
}
