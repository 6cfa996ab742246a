/* SPDX-License-Identifier: MIT */
/*
 * From distances between addresses to numbers of objects, for references that
 * were read in one pass; those that lead to each object are counted on the way.
 * Two threads take half of the references each.
 */
#include <string.h>

#include "contrib/reader/beside.h"
#include "contrib/reader/graph.h"

/* So many references are under way, so that what they need comes from memory meanwhile. */
#define GROUP 32

struct part {
	const struct heapshot_graph *graph;
	uint64_t base, from, to;
	uint32_t *n_in; /* of each object */
	uint64_t n_lost;
	bool is_too_many;
};

/* Each step of a group lets the next one find in the cache what it needs. */
static void find_group(struct part *part, uint64_t from, unsigned n)
{
	const struct hs_index *index = &part->graph->index;
	uint32_t *targets = part->graph->targets + from;
	const struct hs_section *sections[GROUP];
	struct hs_section_hint hint = {0};
	unsigned i;

	for (i = 0; i < n; i++) {
		uint64_t address = part->base + ((uint64_t)targets[i] << index->word_shift);
		uint32_t bit = hs_section_bit(index, address);

		sections[i] = hs_index_section(index, address, &hint);
		if (sections[i] == NULL)
			continue;
		__builtin_prefetch(&sections[i]->parts[bit / 64]);
	}
	for (i = 0; i < n; i++) {
		uint64_t address = part->base + ((uint64_t)targets[i] << index->word_shift);

		targets[i] = sections[i] == NULL
				     ? HEAPSHOT_GRAPH_NONE
				     : hs_section_find(sections[i], hs_section_bit(index, address));
		if (targets[i] != HEAPSHOT_GRAPH_NONE)
			__builtin_prefetch(&part->n_in[targets[i]], 1);
	}
	for (i = 0; i < n; i++) {
		if (targets[i] == HEAPSHOT_GRAPH_NONE)
			part->n_lost++;
		else
			part->is_too_many |= ++part->n_in[targets[i]] == 0;
	}
}

static void find_part(void *user_data)
{
	struct part *part = user_data;
	uint64_t edge;

	for (edge = part->from; edge + GROUP <= part->to; edge += GROUP)
		find_group(part, edge, GROUP);
	if (edge < part->to)
		find_group(part, edge, (unsigned)(part->to - edge));
}

enum heapshot_read_result hs_graph_find_targets(struct heapshot_graph *graph, uint64_t base)
{
	struct hs_memory *memory = graph->memory;
	struct part parts[2] = {{.graph = graph, .base = base, .to = graph->n_edges}};
	struct hs_beside beside = {0};
	uint32_t i;

	if (!hs_starts_make(memory, &graph->in, graph->n))
		return hs_fail_memory(graph->reader);
	parts[0].n_in = graph->in.low;
	if (graph->n_edges >= HS_EDGES_BESIDE) {
		if (graph->scratch != NULL)
			memset(graph->scratch, 0, (size_t)hs_column_bytes(graph));
		else
			graph->scratch = hs_memory_grow(memory, NULL, 0, hs_column_bytes(graph));
		parts[1].n_in = graph->scratch;
	}
	if (parts[1].n_in != NULL) {
		parts[1].graph = graph;
		parts[1].base = base;
		parts[1].to = graph->n_edges;
		parts[1].from = parts[0].to = graph->n_edges / 2;
		if (!hs_beside_start(&beside, find_part, &parts[1]))
			parts[0].to = graph->n_edges;
	}
	find_part(&parts[0]);
	hs_beside_join(&beside);
	if (parts[1].n_in != NULL && parts[0].to < graph->n_edges)
		for (i = 0; i < graph->n; i++)
			parts[0].is_too_many |= __builtin_add_overflow(
				graph->in.low[i], parts[1].n_in[i], &graph->in.low[i]);
	if (parts[0].is_too_many || parts[1].is_too_many)
		return hs_graph_too_many(graph);
	graph->has_n_in = true;
	if (parts[0].n_lost + parts[1].n_lost > 0)
		return hs_graph_close_gaps(graph, NULL);
	return HEAPSHOT_READ_OK;
}
