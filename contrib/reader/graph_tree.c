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
	return graph->tree[node].retained;
}

/* Only nodes that live have places in the tree. */
static bool is_in_tree(const struct heapshot_graph *graph, uint32_t node)
{
	return graph->dominators[node] != HEAPSHOT_GRAPH_NONE || node == hs_root_node(graph);
}

uint32_t heapshot_graph_first_child(const struct heapshot_graph *graph, uint32_t node)
{
	return is_in_tree(graph, node) ? graph->tree[node].first_child : HEAPSHOT_GRAPH_NONE;
}

uint32_t heapshot_graph_next_child(const struct heapshot_graph *graph, uint32_t node)
{
	return is_in_tree(graph, node) ? graph->tree[node].next_child : HEAPSHOT_GRAPH_NONE;
}

static inline uint32_t group_of(const struct heapshot_graph *graph, const uint32_t *groups,
				uint32_t node)
{
	return node < graph->n ? groups[graph->classes[node]] : HEAPSHOT_GRAPH_NONE;
}

static inline void ask_for(const struct heapshot_graph *graph, uint32_t node)
{
	__builtin_prefetch(&graph->tree[node]);
	if (node >= graph->n)
		return;
	__builtin_prefetch(&graph->classes[node]);
	__builtin_prefetch(&graph->sizes[node]);
}

enum heapshot_read_result heapshot_graph_sums(const struct heapshot_graph *graph,
					      const uint32_t *groups, size_t n_groups,
					      struct heapshot_graph_sum *sums)
{
	/* How many objects of the group lie between the root node and here. */
	uint32_t *above = hs_memory_array(graph->memory, n_groups, sizeof(*above));
	uint32_t node = hs_root_node(graph), group;
	size_t i;

	if (above == NULL && n_groups > 0)
		return hs_fail_memory(graph->reader);
	for (i = 0; i < n_groups; i++)
		sums[i] = (struct heapshot_graph_sum){0};
	for (;;) {
		const struct hs_tree_node *place = &graph->tree[node];

		/* With luck the next one but one: most nodes have no children. */
		if (place->next_child != HEAPSHOT_GRAPH_NONE)
			ask_for(graph, place->next_child);
		group = group_of(graph, groups, node);
		if (group != HEAPSHOT_GRAPH_NONE) {
			sums[group].objects++;
			sums[group].bytes += hs_size(graph, node);
			if (above[group] == 0)
				sums[group].retained += place->retained;
		}
		if (place->first_child != HEAPSHOT_GRAPH_NONE) {
			if (group != HEAPSHOT_GRAPH_NONE)
				above[group]++;
			node = place->first_child;
			continue;
		}
		/* Up, until there is another child. */
		while (graph->tree[node].next_child == HEAPSHOT_GRAPH_NONE &&
		       node != hs_root_node(graph)) {
			node = graph->dominators[node];
			group = group_of(graph, groups, node);
			if (group != HEAPSHOT_GRAPH_NONE)
				above[group]--;
		}
		if (node == hs_root_node(graph))
			break;
		node = graph->tree[node].next_child;
	}
	hs_memory_release(graph->memory, above, n_groups * sizeof(*above));
	return HEAPSHOT_READ_OK;
}
