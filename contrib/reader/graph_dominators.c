/* SPDX-License-Identifier: MIT */
/*
 * Dominators by the algorithm called semi-NCA (Georgiadis, "Linear-Time
 * Algorithms for Dominators and Related Problems", 2005): numbers in depth-first
 * order, semidominators with path compression, and the nearest common ancestor
 * of both in the tree that is made so far.  No recursion and no stack: the way
 * back stands in the ancestors.
 */
#include "contrib/reader/graph.h"

#define UNSEEN UINT32_MAX

/* By number in depth-first order; all that stands in it are such numbers. */
struct visit {
	uint32_t ancestor;
	uint32_t dominator; /* first the parent */
	union {
		uint64_t next; /* way out to follow next, while numbers are given */
		struct {
			uint32_t label; /* least semidominator on the compressed path */
			uint32_t semi;
		} found;
	} as;
};

struct search {
	const struct heapshot_graph *graph;
	uint32_t *numbers; /* of nodes */
	uint32_t *nodes;   /* of numbers */
	struct visit *visits;
	uint32_t n, room;
};

static void add(struct search *search, uint32_t node, uint32_t parent)
{
	uint32_t number = search->n++;

	search->numbers[node] = number;
	search->nodes[number] = node;
	search->visits[number] = (struct visit){.ancestor = parent, .dominator = parent};
}

/* Way out NUMBER of a node behind its references; NONE at the end. */
static uint32_t further(const struct heapshot_graph *graph, uint32_t node, uint64_t number)
{
	const struct heapshot_graph_root *root;
	uint32_t index;

	switch (heapshot_graph_node(graph, node, &index)) {
	case HEAPSHOT_NODE_ROOT:
		return number < graph->n_kinds ? graph->n + 1 + (uint32_t)number
					       : HEAPSHOT_GRAPH_NONE;
	case HEAPSHOT_NODE_KIND:
		return number < graph->kinds[index].n_sources
			       ? heapshot_graph_source_node(
					 graph, graph->kinds[index].first_source + (uint32_t)number)
			       : HEAPSHOT_GRAPH_NONE;
	case HEAPSHOT_NODE_SOURCE:
		if (!graph->sources[index].is_holding || number >= graph->sources[index].n_roots)
			return HEAPSHOT_GRAPH_NONE;
		root = &graph->roots[graph->roots_by_source[graph->source_first[index] + number]];
		/* One that does not hold leads back, where it changes nothing. */
		return hs_is_holding(graph, root) ? root->object : node;
	case HEAPSHOT_NODE_OBJECT:
		break;
	}
	if (graph->flags[node] & HEAPSHOT_GRAPH_KEY) {
		size_t i = hs_first_pair(graph->by_key, graph->n_ephemerons, node) + (size_t)number;

		/* One that is not live leads back, where it changes nothing. */
		if (i < graph->n_ephemerons && graph->by_key[i] >> 32 == node)
			return hs_is_live_ephemeron(graph, (uint32_t)graph->by_key[i])
				       ? graph->ephemerons[(uint32_t)graph->by_key[i]].value
				       : node;
	}
	return HEAPSHOT_GRAPH_NONE;
}

static void give_numbers(struct search *search)
{
	const struct heapshot_graph *graph = search->graph;
	uint32_t current = 0;

	add(search, hs_root_node(graph), 0);
	for (;;) {
		struct visit *visit = &search->visits[current];
		uint32_t node = search->nodes[current], target = HEAPSHOT_GRAPH_NONE;
		uint64_t next = visit->as.next, n = 0;

		if (node < graph->n) {
			uint64_t start = hs_start(&graph->out, node);

			n = hs_start(&graph->out, (uint64_t)node + 1) - start;
			for (; next < n; next++) {
				target = graph->targets[start + next];
				if (search->numbers[target] == UNSEEN)
					break;
			}
		}
		if (next >= n)
			for (; (target = further(graph, node, next - n)) != HEAPSHOT_GRAPH_NONE;
			     next++)
				if (search->numbers[target] == UNSEEN)
					break;
		if (target == HEAPSHOT_GRAPH_NONE) {
			if (current == 0)
				return;
			current = visit->ancestor;
			continue;
		}
		visit->as.next = next + 1;
		add(search, target, current);
		current = search->n - 1;
	}
}

/*
 * The least semidominator on the way from NUMBER up to the first node that is
 * not above LAST.  The way is turned round going up, and set to its end coming
 * down.
 */
static uint32_t evaluate(struct visit *visits, uint32_t number, uint32_t last)
{
	uint32_t below = UNSEEN, at = number, end, least;

	if (visits[number].ancestor <= last)
		return visits[number].as.found.label;
	while (visits[at].ancestor > last) {
		uint32_t above = visits[at].ancestor;

		visits[at].ancestor = below;
		below = at;
		at = above;
	}
	end = visits[at].ancestor;
	least = visits[at].as.found.label;
	while (below != UNSEEN) {
		struct visit *visit = &visits[below];

		below = visit->ancestor;
		visit->ancestor = end;
		if (visit->as.found.label < least)
			least = visit->as.found.label;
		else
			visit->as.found.label = least;
	}
	return least;
}

static inline uint32_t take_least(struct search *search, uint32_t from, uint32_t number,
				  uint32_t least)
{
	uint32_t before = search->numbers[from];

	if (before == UNSEEN || before == number)
		return least;
	if (before > number)
		before = evaluate(search->visits, before, number);
	return before < least ? before : least;
}

/* The semidominator from what refers to NODE, beside its parent LEAST. */
static uint32_t find_semi(struct search *search, uint32_t node, uint32_t number, uint32_t least)
{
	const struct heapshot_graph *graph = search->graph;
	uint64_t edge = hs_start(&graph->in, node), end = hs_start(&graph->in, (uint64_t)node + 1);
	const struct heapshot_graph_root *roots;
	size_t n, i;

	for (; edge < end; edge++)
		least = take_least(search, graph->referrers[edge], number, least);
	if (graph->flags[node] & HEAPSHOT_GRAPH_VALUE) {
		i = hs_first_pair(graph->by_value, graph->n_ephemerons, node);
		for (; i < graph->n_ephemerons && graph->by_value[i] >> 32 == node; i++) {
			uint32_t ephemeron = (uint32_t)graph->by_value[i];

			if (hs_is_live_ephemeron(graph, ephemeron))
				least = take_least(search, graph->ephemerons[ephemeron].key, number,
						   least);
		}
	}
	if (graph->flags[node] & HEAPSHOT_GRAPH_ROOTED) {
		roots = heapshot_graph_roots_of(graph, node, &n);
		for (i = 0; i < n; i++)
			if (hs_is_holding(graph, &roots[i]))
				least = take_least(
					search, heapshot_graph_source_node(graph, roots[i].source),
					number, least);
	}
	return least;
}

static void find_dominators(struct search *search)
{
	struct visit *visits = search->visits;
	uint32_t number;

	/* What the numbers below are for is over. */
	for (number = 0; number < search->n; number++)
		visits[number].as.found.label = visits[number].as.found.semi = number;
	for (number = search->n - 1; number > 0; number--) {
		uint32_t node = search->nodes[number], semi = visits[number].dominator;

		/* To kinds and sources there is one way only. */
		if (node < search->graph->n)
			semi = find_semi(search, node, number, semi);
		visits[number].as.found.label = visits[number].as.found.semi = semi;
	}
	for (number = 1; number < search->n; number++) {
		uint32_t dominator = visits[number].dominator;

		while (dominator > visits[number].as.found.semi)
			dominator = visits[dominator].dominator;
		visits[number].dominator = dominator;
	}
}

/* Puts what was found into the graph, by nodes; NUMBERS become the dominators. */
static void keep(struct heapshot_graph *graph, struct search *search)
{
	uint32_t number;

	for (number = 1; number < search->n; number++)
		search->numbers[search->nodes[number]] =
			search->nodes[search->visits[number].dominator];
	search->numbers[hs_root_node(graph)] = HEAPSHOT_GRAPH_NONE;
	graph->dominators = search->numbers;
	search->numbers = NULL;
	hs_memory_release(graph->memory, search->visits, search->room * sizeof(*search->visits));
	search->visits = NULL;
}

/* Retained sizes and children: what is dominated has a higher number. */
static bool add_up(struct heapshot_graph *graph, const struct search *search)
{
	size_t n = (size_t)graph->counts.nodes;
	uint32_t number;

	graph->retained = hs_memory_grow(graph->memory, NULL, 0, n * sizeof(*graph->retained));
	graph->first_child =
		hs_memory_grow(graph->memory, NULL, 0, n * sizeof(*graph->first_child));
	graph->next_child = hs_memory_grow(graph->memory, NULL, 0, n * sizeof(*graph->next_child));
	if (graph->retained == NULL || graph->first_child == NULL || graph->next_child == NULL)
		return false;
	for (number = 0; number < search->n; number++) {
		uint32_t node = search->nodes[number];

		graph->first_child[node] = graph->next_child[node] = HEAPSHOT_GRAPH_NONE;
		if (node < graph->n)
			graph->retained[node] = hs_size(graph, node);
	}
	for (number = search->n - 1; number > 0; number--) {
		uint32_t node = search->nodes[number], dominator = graph->dominators[node];

		graph->retained[dominator] += graph->retained[node];
		graph->next_child[node] = graph->first_child[dominator];
		graph->first_child[dominator] = node;
	}
	return true;
}

void hs_graph_free_dominators(struct heapshot_graph *graph)
{
	size_t n = (size_t)graph->counts.nodes;

	hs_memory_release(graph->memory, graph->dominators, n * sizeof(*graph->dominators));
	hs_memory_release(graph->memory, graph->retained, n * sizeof(*graph->retained));
	hs_memory_release(graph->memory, graph->first_child, n * sizeof(*graph->first_child));
	hs_memory_release(graph->memory, graph->next_child, n * sizeof(*graph->next_child));
	graph->dominators = graph->first_child = graph->next_child = NULL;
	graph->retained = NULL;
}

enum heapshot_read_result heapshot_graph_dominate(struct heapshot_graph *graph)
{
	struct hs_memory *memory = graph->memory;
	size_t n = (size_t)graph->counts.nodes, used = memory->used, i;
	struct search search = {.graph = graph};
	bool has_memory;

	if (graph->next_child != NULL)
		return HEAPSHOT_READ_OK;
	search.room = (uint32_t)(graph->counts.live_objects + (n - graph->n));
	search.numbers = hs_memory_grow(memory, NULL, 0, n * sizeof(*search.numbers));
	search.nodes = hs_memory_grow(memory, NULL, 0, search.room * sizeof(*search.nodes));
	search.visits = hs_memory_grow(memory, NULL, 0, search.room * sizeof(*search.visits));
	has_memory = search.numbers != NULL && search.nodes != NULL && search.visits != NULL;
	if (has_memory) {
		for (i = 0; i < n; i++)
			search.numbers[i] = UNSEEN;
		give_numbers(&search);
		find_dominators(&search);
		keep(graph, &search);
		has_memory = add_up(graph, &search);
	}
	hs_memory_release(memory, search.numbers, n * sizeof(*search.numbers));
	hs_memory_release(memory, search.nodes, search.room * sizeof(*search.nodes));
	hs_memory_release(memory, search.visits, search.room * sizeof(*search.visits));
	if (!has_memory) {
		hs_graph_free_dominators(graph);
		return hs_fail_memory(graph->reader);
	}
	graph->counts.memory_bytes += memory->used - used;
	return HEAPSHOT_READ_OK;
}
