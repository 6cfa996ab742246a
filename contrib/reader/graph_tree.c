/* SPDX-License-Identifier: MIT */
/*
 * The tree of dominators: questions, and sums by groups.
 */
#include "contrib/reader/graph.h"

uint32_t heapshot_graph_dominator(const struct heapshot_graph *graph, uint32_t node)
{
	return graph->dominators[node];
}

uint64_t heapshot_graph_retained(const struct heapshot_graph *graph, uint32_t node)
{
	return graph->retained[node];
}

/* Only nodes that live have places in the tree. */
static bool is_in_tree(const struct heapshot_graph *graph, uint32_t node)
{
	return graph->dominators[node] != HEAPSHOT_GRAPH_NONE || node == hs_root_node(graph);
}

uint32_t heapshot_graph_first_child(const struct heapshot_graph *graph, uint32_t node)
{
	return is_in_tree(graph, node) ? graph->first_child[node] : HEAPSHOT_GRAPH_NONE;
}

uint32_t heapshot_graph_next_child(const struct heapshot_graph *graph, uint32_t node)
{
	return is_in_tree(graph, node) ? graph->next_child[node] : HEAPSHOT_GRAPH_NONE;
}

enum heapshot_read_result heapshot_graph_sums(const struct heapshot_graph *graph,
					      const uint32_t *groups, size_t n_groups,
					      struct heapshot_graph_sum *sums)
{
	/* How many objects of the group lie between the root node and here. */
	uint32_t *above = hs_memory_grow(graph->memory, NULL, 0, n_groups * sizeof(*above));
	uint32_t node = hs_root_node(graph), group;
	size_t i;

	if (above == NULL && n_groups > 0)
		return hs_fail_memory(graph->reader);
	for (i = 0; i < n_groups; i++)
		sums[i] = (struct heapshot_graph_sum){0};
	for (;;) {
		group = node < graph->n ? groups[graph->classes[node]] : HEAPSHOT_GRAPH_NONE;
		if (group != HEAPSHOT_GRAPH_NONE) {
			sums[group].objects++;
			sums[group].bytes += hs_size(graph, node);
			if (above[group]++ == 0)
				sums[group].retained += graph->retained[node];
		}
		if (graph->first_child[node] != HEAPSHOT_GRAPH_NONE) {
			node = graph->first_child[node];
			continue;
		}
		/* Up, until there is another child. */
		while (node != hs_root_node(graph)) {
			group = node < graph->n ? groups[graph->classes[node]]
						: HEAPSHOT_GRAPH_NONE;
			if (group != HEAPSHOT_GRAPH_NONE)
				above[group]--;
			if (graph->next_child[node] != HEAPSHOT_GRAPH_NONE)
				break;
			node = graph->dominators[node];
		}
		if (node == hs_root_node(graph))
			break;
		node = graph->next_child[node];
	}
	hs_memory_release(graph->memory, above, n_groups * sizeof(*above));
	return HEAPSHOT_READ_OK;
}
