/* SPDX-License-Identifier: MIT */
/*
 * Questions to a graph that is there.
 */
#include "contrib/reader/graph.h"

void heapshot_graph_counts(const struct heapshot_graph *graph, struct heapshot_graph_counts *counts)
{
	*counts = graph->counts;
}

uint64_t heapshot_graph_size(const struct heapshot_graph *graph, uint32_t object)
{
	return hs_size(graph, object);
}

static uint64_t slot_size(const struct heapshot_graph *graph, uint32_t object)
{
	uint64_t mask = graph->word_bytes - 1;

	if (graph->sizes[object] == HS_SIZE_LARGE)
		return graph->large[*hs_idmap_find(&graph->large_index, object)].slot_size;
	return ((graph->sizes[object] + mask) & ~mask) +
	       (uint64_t)graph->slacks[object] * graph->word_bytes;
}

uint64_t heapshot_graph_address(const struct heapshot_graph *graph, uint32_t object)
{
	return hs_index_address(&graph->index, object);
}

bool heapshot_graph_is_live(const struct heapshot_graph *graph, uint32_t object)
{
	return graph->flags[object] & HEAPSHOT_GRAPH_LIVE;
}

uint32_t heapshot_graph_class_of(const struct heapshot_graph *graph, uint32_t object)
{
	return graph->classes[object];
}

void heapshot_graph_object(const struct heapshot_graph *graph, uint32_t object,
			   struct heapshot_graph_object *out)
{
	const struct heapshot_graph_class *class = &graph->class_list[graph->classes[object]];
	uint64_t next = (uint64_t)object + 1;

	*out = (struct heapshot_graph_object){
		.address = hs_index_address(&graph->index, object),
		.size = heapshot_graph_size(graph, object),
		.slot_size = slot_size(graph, object),
		.type = class->type,
		.domain = class->domain,
		.class_index = graph->classes[object],
		.flags = graph->flags[object],
		.n_references = hs_start(&graph->out, next) - hs_start(&graph->out, object),
		.n_referrers = hs_start(&graph->in, next) - hs_start(&graph->in, object),
	};
}

uint32_t heapshot_graph_find(const struct heapshot_graph *graph, uint64_t address)
{
	struct hs_section_hint hint = {0};

	return hs_index_find(&graph->index, address, &hint);
}

uint32_t heapshot_graph_find_around(const struct heapshot_graph *graph, uint64_t address)
{
	uint32_t object = hs_index_before(&graph->index, address);

	if (object == HEAPSHOT_GRAPH_NONE ||
	    address - hs_index_address(&graph->index, object) >= slot_size(graph, object))
		return HEAPSHOT_GRAPH_NONE;
	return object;
}

const struct heapshot_graph_class *heapshot_graph_classes(const struct heapshot_graph *graph,
							  size_t *n_classes)
{
	*n_classes = graph->n_classes;
	return graph->class_list;
}

const uint32_t *heapshot_graph_targets(const struct heapshot_graph *graph, uint32_t object,
				       uint64_t *n)
{
	uint64_t start = hs_start(&graph->out, object);

	*n = hs_start(&graph->out, (uint64_t)object + 1) - start;
	return *n != 0 ? graph->targets + start : NULL;
}

const uint32_t *heapshot_graph_referrers(const struct heapshot_graph *graph, uint32_t object,
					 uint64_t *n)
{
	uint64_t start = hs_start(&graph->in, object);

	*n = hs_start(&graph->in, (uint64_t)object + 1) - start;
	return *n != 0 ? graph->referrers + start : NULL;
}

const struct heapshot_graph_ephemeron *heapshot_graph_ephemerons(const struct heapshot_graph *graph,
								 size_t *n_ephemerons)
{
	*n_ephemerons = graph->n_ephemerons;
	return graph->ephemerons;
}

const struct heapshot_graph_root *heapshot_graph_roots(const struct heapshot_graph *graph,
						       size_t *n_roots)
{
	*n_roots = graph->n_roots;
	return graph->roots;
}

const struct heapshot_graph_root *heapshot_graph_roots_of(const struct heapshot_graph *graph,
							  uint32_t object, size_t *n_roots)
{
	size_t low = 0, high = graph->n_roots, end;

	*n_roots = 0;
	if (!(graph->flags[object] & HEAPSHOT_GRAPH_ROOTED))
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (graph->roots[middle].object < object)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < graph->n_roots && graph->roots[end].object == object; end++)
		;
	*n_roots = end - low;
	return &graph->roots[low];
}

const struct heapshot_graph_source *heapshot_graph_sources(const struct heapshot_graph *graph,
							   size_t *n_sources)
{
	*n_sources = graph->n_sources;
	return graph->sources;
}

const struct heapshot_graph_kind *heapshot_graph_kinds(const struct heapshot_graph *graph,
						       size_t *n_kinds)
{
	*n_kinds = graph->n_kinds;
	return graph->kinds;
}

uint32_t heapshot_graph_root_node(const struct heapshot_graph *graph)
{
	return hs_root_node(graph);
}

uint32_t heapshot_graph_kind_node(const struct heapshot_graph *graph, uint32_t kind)
{
	return hs_root_node(graph) + 1 + kind;
}

uint32_t heapshot_graph_source_node(const struct heapshot_graph *graph, uint32_t source)
{
	return hs_root_node(graph) + 1 + (uint32_t)graph->n_kinds + source;
}

enum heapshot_graph_node_kind heapshot_graph_node(const struct heapshot_graph *graph, uint32_t node,
						  uint32_t *index)
{
	enum heapshot_graph_node_kind kind = HEAPSHOT_NODE_OBJECT;

	if (node > graph->n + graph->n_kinds) {
		kind = HEAPSHOT_NODE_SOURCE;
		node -= graph->n + 1 + (uint32_t)graph->n_kinds;
	} else if (node > graph->n) {
		kind = HEAPSHOT_NODE_KIND;
		node -= graph->n + 1;
	} else if (node == graph->n) {
		kind = HEAPSHOT_NODE_ROOT;
		node = 0;
	}
	if (index != NULL)
		*index = node;
	return kind;
}

/* ---- Walks over the ways out of a node ---- */

void heapshot_graph_walk_begin(const struct heapshot_graph *graph, uint32_t node,
			       struct heapshot_graph_walk *walk)
{
	uint32_t index;

	*walk = (struct heapshot_graph_walk){.graph = graph, .node = node};
	switch (heapshot_graph_node(graph, node, &index)) {
	case HEAPSHOT_NODE_OBJECT:
		walk->next = hs_start(&graph->out, node);
		walk->end = hs_start(&graph->out, (uint64_t)node + 1);
		break;
	case HEAPSHOT_NODE_ROOT:
		walk->next = graph->n + (uint64_t)1;
		walk->end = walk->next + graph->n_kinds;
		break;
	case HEAPSHOT_NODE_KIND:
		walk->next = heapshot_graph_source_node(graph, graph->kinds[index].first_source);
		walk->end = walk->next + graph->kinds[index].n_sources;
		break;
	case HEAPSHOT_NODE_SOURCE:
		if (!graph->sources[index].is_holding)
			break;
		walk->next = graph->source_first[index];
		walk->end = graph->source_first[index + 1];
		break;
	}
}

/* Behind the last reference of a key: its live ephemerons. */
static bool next_value(struct heapshot_graph_walk *walk, struct heapshot_graph_edge *edge)
{
	const struct heapshot_graph *graph = walk->graph;

	if (walk->node >= graph->n || !(graph->flags[walk->node] & HEAPSHOT_GRAPH_KEY))
		return false;
	if (walk->gap == 0) {
		walk->gap = 1;
		walk->next = hs_first_pair(graph->by_key, graph->n_ephemerons, walk->node);
	}
	while (walk->next < graph->n_ephemerons && graph->by_key[walk->next] >> 32 == walk->node) {
		uint32_t ephemeron = (uint32_t)graph->by_key[walk->next++];

		if (!hs_is_live_ephemeron(graph, ephemeron))
			continue;
		*edge = (struct heapshot_graph_edge){
			.target = graph->ephemerons[ephemeron].value,
			.is_ephemeron = true,
			.table = graph->ephemerons[ephemeron].table,
		};
		return true;
	}
	return false;
}

/* The root with which WALK, over a source, goes on. */
static const struct heapshot_graph_root *next_root(const struct heapshot_graph_walk *walk)
{
	return &walk->graph->roots[walk->graph->roots_by_source[walk->next]];
}

bool heapshot_graph_walk_next(struct heapshot_graph_walk *walk, struct heapshot_graph_edge *edge)
{
	const struct heapshot_graph *graph = walk->graph;
	const bool is_source = walk->node > graph->n + graph->n_kinds;

	while (is_source && walk->next < walk->end && !hs_is_holding(graph, next_root(walk)))
		walk->next++;
	if (walk->gap != 0 || walk->next >= walk->end)
		return next_value(walk, edge);
	*edge = (struct heapshot_graph_edge){.table = HEAPSHOT_GRAPH_NONE};
	if (walk->node < graph->n) {
		walk->offset += hs_gap(graph, walk->next) << graph->index.word_shift;
		edge->offset = walk->offset;
		edge->target = graph->targets[walk->next];
	} else if (is_source) {
		edge->target = next_root(walk)->object;
	} else {
		edge->target = (uint32_t)walk->next;
	}
	walk->next++;
	return true;
}
