/* SPDX-License-Identifier: MIT */
/*
 * What rows say of objects, put into the columns of the graph, and their sums.
 */
#include "contrib/reader/graph.h"

uint32_t hs_graph_get_class(struct heapshot_graph *graph, uint32_t type, uint32_t domain)
{
	uint64_t key = (uint64_t)type << 32 | domain;
	const uint32_t *found = hs_idmap_find(&graph->class_index, key);

	if (found != NULL)
		return *found;
	if (graph->n_classes >= HS_NO_CLASS ||
	    !hs_memory_reserve(graph->memory, &graph->class_list, graph->n_classes,
			       &graph->room_classes, sizeof(*graph->class_list)) ||
	    !hs_idmap_put(graph->memory, &graph->class_index, key, (uint32_t)graph->n_classes))
		return HS_NO_CLASS;
	graph->class_list[graph->n_classes] =
		(struct heapshot_graph_class){.type = type, .domain = domain};
	return (uint32_t)graph->n_classes++;
}

bool hs_graph_set_large(struct heapshot_graph *graph, uint32_t object,
			const struct hs_decoded_row *row)
{
	graph->sizes[object] = HS_SIZE_LARGE;
	if (!hs_memory_reserve(graph->memory, &graph->large, graph->n_large, &graph->room_large,
			       sizeof(*graph->large)) ||
	    !hs_idmap_put(graph->memory, &graph->large_index, object, (uint32_t)graph->n_large))
		return false;
	graph->large[graph->n_large++] = (struct hs_large_object){row->size, row->slot_size};
	return true;
}

/* Bytes of an object and of its slot. */
static inline struct hs_large_object sizes_of(const struct heapshot_graph *graph, uint32_t object)
{
	const uint64_t mask = graph->word_bytes - 1, size = graph->sizes[object];

	if (size == HS_SIZE_LARGE)
		return graph->large[*hs_idmap_find(&graph->large_index, object)];
	return (struct hs_large_object){size,
					((size + mask) & ~mask) + (uint64_t)graph->slacks[object] *
									  graph->word_bytes};
}

enum heapshot_read_result hs_graph_sum(struct heapshot_graph *graph)
{
	struct heapshot_graph_counts *counts = &graph->counts;
	bool wraps = false;
	uint32_t i;

	for (i = 0; i < graph->n; i++) {
		struct heapshot_graph_class *class = &graph->class_list[graph->classes[i]];
		const struct hs_large_object sizes = sizes_of(graph, i);

		class->objects++;
		wraps |= __builtin_add_overflow(class->bytes, sizes.size, &class->bytes);
		wraps |= __builtin_add_overflow(counts->bytes, sizes.size, &counts->bytes);
		wraps |= __builtin_add_overflow(counts->slot_bytes, sizes.slot_size,
						&counts->slot_bytes);
		if (!(graph->flags[i] & HEAPSHOT_GRAPH_LIVE))
			continue;
		class->live_objects++;
		class->live_bytes += sizes.size;
		counts->live_bytes += sizes.size;
	}
	if (wraps)
		return hs_fail(graph->reader, HEAPSHOT_READ_DAMAGED,
			       "a sum of sizes or counts passes 2^64");
	return HEAPSHOT_READ_OK;
}
