/* SPDX-License-Identifier: MIT */
/*
 * Ways from the root node: lengths held against a plain search, and distinct
 * paths against all simple paths of small random graphs.
 */
#include "tests/unit/graph_case.h"

TestSuite(paths, .fini = leak_check);

#define OBJECTS_MAX 8

/* Every path from an object back to a source, by its number of steps. */
struct all_paths {
	const struct heapshot_graph *graph;
	uint64_t excluded;
	bool without_ephemerons;
	bool is_on[OBJECTS_MAX];
	size_t n_by_length[OBJECTS_MAX + 3];
	size_t n;
};

static bool is_out(const struct all_paths *all, uint32_t source)
{
	size_t n;
	const struct heapshot_graph_source *sources = heapshot_graph_sources(all->graph, &n);

	return sources[source].is_holding && !(all->excluded >> sources[source].source.kind & 1);
}

/* Whether FROM leads to TO, counted once. */
static bool leads(const struct all_paths *all, uint32_t from, uint32_t to)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;

	heapshot_graph_walk_begin(all->graph, from, &walk);
	while (heapshot_graph_walk_next(&walk, &edge))
		if (edge.target == to && !(edge.is_ephemeron && all->without_ephemerons))
			return true;
	return false;
}

static void count_from(struct all_paths *all, uint32_t node, size_t length)
{
	size_t n_sources;
	struct heapshot_graph_counts counts;
	uint32_t i;

	heapshot_graph_counts(all->graph, &counts);
	heapshot_graph_sources(all->graph, &n_sources);
	for (i = 0; i < n_sources; i++)
		if (is_out(all, i) && leads(all, heapshot_graph_source_node(all->graph, i), node)) {
			all->n_by_length[length + 1]++;
			all->n++;
		}
	all->is_on[node] = true;
	for (i = 0; i < counts.objects; i++)
		if (!all->is_on[i] && heapshot_graph_is_live(all->graph, i) && leads(all, i, node))
			count_from(all, i, length + 1);
	all->is_on[node] = false;
}

static void check_path(const struct all_paths *all, const struct heapshot_graph_step *steps,
		       size_t n, uint32_t target)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	uint32_t index;
	size_t i;

	cr_assert_geq(n, 2);
	cr_assert_eq(heapshot_graph_node(all->graph, steps[0].node, &index), HEAPSHOT_NODE_SOURCE);
	cr_assert(is_out(all, index));
	cr_assert_eq(steps[n - 1].node, target);
	for (i = 0; i + 1 < n; i++) {
		bool is_there = false;

		heapshot_graph_walk_begin(all->graph, steps[i].node, &walk);
		while (heapshot_graph_walk_next(&walk, &edge))
			is_there |= edge.target == steps[i + 1].node &&
				    edge.offset == steps[i].offset &&
				    edge.is_ephemeron == steps[i].is_ephemeron;
		cr_assert(is_there);
	}
}

/* Distinct paths to TARGET: as many of each length as there are, in order. */
static void check_target(struct all_paths *all, struct heapshot_graph *graph,
			 const struct heapshot_graph_ways *ways, uint32_t target)
{
	const struct heapshot_graph_step *steps;
	struct heapshot_graph_paths *paths;
	size_t n, last = 0, found[OBJECTS_MAX + 3] = {0}, i;
	struct heapshot_graph_step step;
	uint32_t node = target, length = heapshot_graph_way_length(ways, target);

	memset(all->n_by_length, 0, sizeof(all->n_by_length));
	all->n = 0;
	if (heapshot_graph_is_live(graph, target))
		count_from(all, target, 1);
	cr_assert_eq(length != 0, all->n > 0);
	/* The root node and the kind are before the source. */
	for (i = 0; i < OBJECTS_MAX + 3 && all->n_by_length[i] == 0; i++)
		;
	if (length != 0)
		cr_assert_eq(length, i + 2);
	while (heapshot_graph_way_before(ways, node, &step)) {
		cr_assert_eq(heapshot_graph_way_length(ways, step.node) + 1,
			     heapshot_graph_way_length(ways, node));
		cr_assert(leads(all, step.node, node));
		node = step.node;
	}
	cr_assert_eq(node, length != 0 ? heapshot_graph_root_node(graph) : target);

	cr_assert_eq(heapshot_graph_paths_new(graph, ways, &target, 1, &paths), HEAPSHOT_READ_OK);
	while (heapshot_graph_paths_next(paths, &steps, &n) == HEAPSHOT_READ_OK) {
		check_path(all, steps, n, target);
		cr_assert_geq(n, last);
		last = n;
		found[n]++;
	}
	heapshot_graph_paths_free(paths);
	for (i = 0; i < OBJECTS_MAX + 3; i++)
		cr_assert_eq(found[i], all->n_by_length[i], "%zu paths of %zu nodes, not %zu",
			     found[i], i, all->n_by_length[i]);
}

Test(paths, are_all_simple_ones_in_order)
{
	struct heapshot_graph_counts counts;
	struct opened opened;
	struct heap heap;
	uint32_t object;
	int i;

	random_start("paths");
	for (i = 0; i < 1000; i++) {
		struct heapshot_graph_ways_options options = {.size = sizeof(options)};
		struct heapshot_graph_ways *ways;
		struct all_paths all = {0};

		make_random(&heap, OBJECTS_MAX, false);
		opened = open_heap(&heap, random_next() | 1);
		options.excluded_kinds = random_below(2) ? 0 : random_next();
		options.without_ephemerons = random_below(2);
		cr_assert_eq(heapshot_graph_ways_new(opened.graph, &options, &ways),
			     HEAPSHOT_READ_OK);
		all.graph = opened.graph;
		all.excluded = options.excluded_kinds;
		all.without_ephemerons = options.without_ephemerons;
		heapshot_graph_counts(opened.graph, &counts);
		for (object = 0; object < counts.objects; object++)
			check_target(&all, opened.graph, ways, object);
		heapshot_graph_ways_free(ways);
		close_graph(&opened);
		heap_free(&heap);
	}
}

/* What sources of some kinds hold is told by others where these hold it, too. */
Test(paths, last_kinds_come_last)
{
	struct heapshot_graph_counts counts;
	struct opened opened;
	struct heap heap;
	uint32_t object, node;
	int i;

	random_start("last_kinds");
	for (i = 0; i < 500; i++) {
		struct heapshot_graph_ways_options all = {.size = sizeof(all)}, others, last;
		struct heapshot_graph_ways *ways[3];
		struct heapshot_graph_step step;

		make_random(&heap, OBJECTS_MAX, false);
		opened = open_heap(&heap, random_next() | 1);
		all.excluded_kinds = random_next() & random_next();
		others = last = all;
		last.last_kinds = random_next();
		others.excluded_kinds |= last.last_kinds;
		cr_assert_eq(heapshot_graph_ways_new(opened.graph, &all, &ways[0]),
			     HEAPSHOT_READ_OK);
		cr_assert_eq(heapshot_graph_ways_new(opened.graph, &others, &ways[1]),
			     HEAPSHOT_READ_OK);
		cr_assert_eq(heapshot_graph_ways_new(opened.graph, &last, &ways[2]),
			     HEAPSHOT_READ_OK);
		heapshot_graph_counts(opened.graph, &counts);
		for (object = 0; object < counts.objects; object++) {
			uint32_t length = heapshot_graph_way_length(ways[2], object);

			cr_assert_eq(length != 0, heapshot_graph_way_length(ways[0], object) != 0);
			if (heapshot_graph_way_length(ways[1], object) != 0)
				cr_assert_eq(length, heapshot_graph_way_length(ways[1], object));
			for (node = object; heapshot_graph_way_before(ways[2], node, &step);
			     length--)
				node = step.node;
			cr_assert(length <= 1);
		}
		for (object = 0; object < 3; object++)
			heapshot_graph_ways_free(ways[object]);
		close_graph(&opened);
		heap_free(&heap);
	}
}

/* Slots beyond the column, and a chain that is long. */
Test(paths, go_far)
{
	enum { N = 200000 };
	struct heap heap = {0};
	struct opened opened;
	struct heapshot_graph_ways *ways;
	struct heapshot_graph_paths *paths;
	const struct heapshot_graph_step *steps;
	struct heapshot_graph_step step;
	uint32_t array = heap_add(&heap, TYPE_ARRAY, (uint64_t)1 << 40), i;
	size_t n;

	heap_root(&heap, 4, "T.Array", array);
	for (i = 0; i < N; i++)
		heap_add(&heap, TYPE_NODE, 24);
	heap_refer(&heap, array, UINT32_MAX, 1);
	for (i = 1; i + 1 <= N; i++)
		heap_refer(&heap, i, 0, i + 1);
	opened = open_heap(&heap, 0);
	cr_assert_eq(opened.result, HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_graph_ways_new(opened.graph, NULL, &ways), HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_graph_way_length(ways, N), N + 4);
	cr_assert(heapshot_graph_way_before(ways, 1, &step));
	cr_assert_eq(step.node, array);
	cr_assert_eq(step.offset, 32 + 8 * (uint64_t)UINT32_MAX);
	i = N;
	cr_assert_eq(heapshot_graph_paths_new(opened.graph, ways, &i, 1, &paths), HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_graph_paths_next(paths, &steps, &n), HEAPSHOT_READ_OK);
	cr_assert_eq(n, N + 2);
	cr_assert_eq(steps[1].offset, 32 + 8 * (uint64_t)UINT32_MAX);
	cr_assert_eq(heapshot_graph_paths_next(paths, &steps, &n), HEAPSHOT_READ_END);
	heapshot_graph_paths_free(paths);
	heapshot_graph_ways_free(ways);
	close_graph(&opened);
	heap_free(&heap);
}
