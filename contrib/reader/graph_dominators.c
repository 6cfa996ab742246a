/* SPDX-License-Identifier: MIT */
/*
 * Dominators by the algorithm called semi-NCA (Georgiadis, "Linear-Time
 * Algorithms for Dominators and Related Problems", 2005): numbers in depth-first
 * order, semidominators with path compression, and the nearest common ancestor
 * of both in the tree that is made so far.  No recursion and no stack: the way
 * back stands in the ancestors.
 */
#include <string.h>

#include "contrib/reader/graph.h"

#define UNSEEN UINT32_MAX

/* Places in memory are asked for so many nodes before they are needed. */
#define AHEAD 8

/* By number in depth-first order; all that stands in it are such numbers. */
struct visit {
	uint32_t ancestor;
	uint32_t dominator; /* first the parent */
	union {
		uint64_t next; /* edge to follow next, while numbers are given */
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
	uint32_t n;
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

/* Where the search stands: a node, and which of its edges are still to be followed. */
struct place {
	uint32_t number, node;
	uint64_t next, end; /* edges; from END on other ways out */
};

static struct place place_of(const struct search *search, uint32_t number)
{
	const struct heapshot_graph *graph = search->graph;
	struct place place = {.number = number, .node = search->nodes[number]};

	place.next = search->visits[number].as.next;
	if (place.node < graph->n)
		place.end = hs_start(&graph->out, (uint64_t)place.node + 1);
	return place;
}

/* What is needed of the targets of edges from FROM on, should they be new. */
static inline void ask_for(const struct search *search, uint64_t from, uint64_t end)
{
	const struct heapshot_graph *graph = search->graph;

	for (; from < end; from++) {
		uint32_t target = graph->targets[from];

		__builtin_prefetch(&search->numbers[target], 1);
		__builtin_prefetch(&graph->out.low[target]);
	}
}

/*
 * Numbers what the edges of the place lead to, until one of them leads further:
 * that is the new place.  False when there is none.
 */
static bool follow_edges(struct search *search, struct place *place)
{
	const struct heapshot_graph *graph = search->graph;

	while (place->next < place->end) {
		uint32_t target;
		uint64_t start, end;

		if (place->next + AHEAD < place->end)
			ask_for(search, place->next + AHEAD, place->next + AHEAD + 1);
		target = graph->targets[place->next++];
		if (search->numbers[target] != UNSEEN)
			continue;
		add(search, target, place->number);
		start = hs_start(&graph->out, target);
		end = hs_start(&graph->out, (uint64_t)target + 1);
		/* Most objects lead nowhere: the search stays where it is. */
		if (start == end && !(graph->flags[target] & HEAPSHOT_GRAPH_KEY))
			continue;
		search->visits[place->number].as.next = place->next;
		*place = (struct place){search->n - 1, target, start, end};
		ask_for(search, start, end - start > AHEAD ? start + AHEAD : end);
		return true;
	}
	return false;
}

static bool follow_further(struct search *search, struct place *place)
{
	uint32_t target;

	while ((target = further(search->graph, place->node, place->next - place->end)) !=
	       HEAPSHOT_GRAPH_NONE) {
		place->next++;
		if (search->numbers[target] != UNSEEN)
			continue;
		search->visits[place->number].as.next = place->next;
		add(search, target, place->number);
		if (target < search->graph->n)
			search->visits[search->n - 1].as.next =
				hs_start(&search->graph->out, target);
		*place = place_of(search, search->n - 1);
		return true;
	}
	return false;
}

static void give_numbers(struct search *search)
{
	const struct heapshot_graph *graph = search->graph;
	struct place place;

	add(search, hs_root_node(graph), 0);
	place = place_of(search, 0);
	for (;;) {
		if (follow_edges(search, &place))
			continue;
		if ((place.node >= graph->n || (graph->flags[place.node] & HEAPSHOT_GRAPH_KEY)) &&
		    follow_further(search, &place))
			continue;
		if (place.number == 0)
			return;
		place = place_of(search, search->visits[place.number].ancestor);
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

	/* What one object refers to, and nothing else, has it for its parent. */
	if (end - edge == 1 &&
	    !(graph->flags[node] & (HEAPSHOT_GRAPH_VALUE | HEAPSHOT_GRAPH_ROOTED)))
		return least;
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

/* What will be needed of the nodes with lower numbers than NUMBER, the nearer ones in more depth. */
static inline void ask_before(const struct search *search, uint32_t number)
{
	const struct heapshot_graph *graph = search->graph;
	uint32_t node;

	/* Where nothing refers to anything there are no referrers. */
	if (number < 3 * AHEAD || graph->referrers == NULL)
		return;
	node = search->nodes[number - 3 * AHEAD];
	if (node < graph->n) {
		__builtin_prefetch(&graph->in.low[node]);
		__builtin_prefetch(&graph->flags[node]);
	}
	node = search->nodes[number - 2 * AHEAD];
	if (node < graph->n)
		__builtin_prefetch(&graph->referrers[hs_start(&graph->in, node)]);
	node = search->nodes[number - AHEAD];
	if (node < graph->n &&
	    hs_start(&graph->in, (uint64_t)node + 1) - hs_start(&graph->in, node) > 1)
		__builtin_prefetch(
			&search->numbers[graph->referrers[hs_start(&graph->in, node) + 1]]);
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

		ask_before(search, number);
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

/*
 * Puts what was found into the graph, by nodes: NUMBERS become the dominators,
 * and the memory of the visits the tree.
 */
static void keep(struct heapshot_graph *graph, struct search *search)
{
	uint32_t number;

	for (number = 1; number < search->n; number++) {
		if (number + AHEAD < search->n)
			__builtin_prefetch(&search->numbers[search->nodes[number + AHEAD]], 1);
		search->numbers[search->nodes[number]] =
			search->nodes[search->visits[number].dominator];
	}
	search->numbers[hs_root_node(graph)] = HEAPSHOT_GRAPH_NONE;
	graph->dominators = search->numbers;
	graph->tree = (struct hs_tree_node *)search->visits;
}

/* Retained sizes and children: what is dominated has a higher number. */
static void add_up(struct heapshot_graph *graph, const struct search *search)
{
	struct hs_tree_node *tree = graph->tree;
	uint32_t node, number;

	for (node = 0; node < graph->counts.nodes; node++) {
		tree[node] = (struct hs_tree_node){0, HEAPSHOT_GRAPH_NONE, HEAPSHOT_GRAPH_NONE};
		if (node < graph->n && graph->dominators[node] != HEAPSHOT_GRAPH_NONE)
			tree[node].retained = hs_size(graph, node);
	}
	for (number = search->n - 1; number > 0; number--) {
		uint32_t dominator;

		if (number > 2 * AHEAD) {
			node = search->nodes[number - 2 * AHEAD];
			__builtin_prefetch(&graph->dominators[node]);
			__builtin_prefetch(&tree[node], 1);
			node = search->nodes[number - AHEAD];
			__builtin_prefetch(&tree[graph->dominators[node]], 1);
		}
		node = search->nodes[number];
		dominator = graph->dominators[node];
		tree[dominator].retained += tree[node].retained;
		tree[node].next_child = tree[dominator].first_child;
		tree[dominator].first_child = node;
	}
}

void hs_graph_free_dominators(struct heapshot_graph *graph)
{
	size_t n = (size_t)graph->counts.nodes;

	hs_memory_release(graph->memory, graph->dominators, n * sizeof(*graph->dominators));
	hs_memory_release(graph->memory, graph->tree, n * sizeof(*graph->tree));
	graph->dominators = NULL;
	graph->tree = NULL;
}

enum heapshot_read_result heapshot_graph_dominate(struct heapshot_graph *graph)
{
	struct hs_memory *memory = graph->memory;
	size_t n = (size_t)graph->counts.nodes, n_live, used = memory->used;
	struct search search = {.graph = graph};
	bool has_memory;

	_Static_assert(sizeof(*search.visits) == sizeof(*graph->tree), "one becomes the other");
	if (graph->tree != NULL)
		return HEAPSHOT_READ_OK;
	n_live = (size_t)graph->counts.live_objects + (n - graph->n);
	search.numbers = hs_memory_array(memory, n, sizeof(*search.numbers));
	search.nodes = hs_memory_array(memory, n_live, sizeof(*search.nodes));
	search.visits = hs_memory_array(memory, n, sizeof(*search.visits));
	has_memory = search.numbers != NULL && search.nodes != NULL && search.visits != NULL;
	if (has_memory) {
		memset(search.numbers, 0xFF, n * sizeof(*search.numbers)); /* UNSEEN */
		give_numbers(&search);
		find_dominators(&search);
		keep(graph, &search);
		add_up(graph, &search);
	} else {
		hs_memory_release(memory, search.numbers, n * sizeof(*search.numbers));
		hs_memory_release(memory, search.visits, n * sizeof(*search.visits));
	}
	hs_memory_release(memory, search.nodes, n_live * sizeof(*search.nodes));
	if (!has_memory)
		return hs_fail_memory(graph->reader);
	graph->counts.memory_bytes += memory->used - used;
	return HEAPSHOT_READ_OK;
}
