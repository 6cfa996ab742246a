/* SPDX-License-Identifier: MIT */
/*
 * Dominators and retained sizes.  On random graphs each node is taken away in
 * turn, and what cannot be reached any more is what it must dominate.
 */
#include "tests/unit/graph_case.h"

TestSuite(dominators, .fini = leak_check);

#define NODES_MAX 80

/* The graph as lists of ways out, by nodes; ephemerons as the header states them. */
struct plain {
	uint32_t n, root;
	uint64_t sizes[NODES_MAX];
	uint32_t classes[NODES_MAX];
	uint64_t out[NODES_MAX][2]; /* bits */
	bool dominates[NODES_MAX][NODES_MAX];
	bool live[NODES_MAX];
};

static void join(struct plain *plain, uint32_t from, uint32_t to)
{
	plain->out[from][to / 64] |= (uint64_t)1 << to % 64;
}

/* Marks what is reached without node WITHOUT. */
static void reach_without(const struct plain *plain, uint32_t without, bool *reached)
{
	uint32_t stack[NODES_MAX], n = 0;
	uint64_t left[2] = {UINT64_MAX, UINT64_MAX};

	memset(reached, 0, NODES_MAX);
	if (without == plain->root)
		return;
	if (without != UINT32_MAX)
		left[without / 64] &= ~((uint64_t)1 << without % 64);
	left[plain->root / 64] &= ~((uint64_t)1 << plain->root % 64);
	reached[plain->root] = true;
	stack[n++] = plain->root;
	while (n > 0) {
		const uint64_t *out = plain->out[stack[--n]];
		unsigned half;

		for (half = 0; half < 2; half++)
			while ((out[half] & left[half]) != 0) {
				uint64_t bits = out[half] & left[half];
				uint32_t node = half * 64 + (uint32_t)__builtin_ctzll(bits);

				left[half] &= ~(bits & -bits);
				reached[node] = true;
				stack[n++] = node;
			}
	}
}

static void make_plain(struct plain *plain, const struct heap *heap,
		       const struct heapshot_graph *graph)
{
	size_t n_sources, i;
	const struct heapshot_graph_source *sources = heapshot_graph_sources(graph, &n_sources);
	struct heapshot_graph_counts counts;
	bool changes = true;

	heapshot_graph_counts(graph, &counts);
	memset(plain, 0, sizeof(*plain));
	cr_assert_leq(counts.nodes, NODES_MAX);
	plain->n = (uint32_t)counts.nodes;
	plain->root = heapshot_graph_root_node(graph);
	for (i = 0; i < heap->n_objects; i++) {
		plain->sizes[i] = heap->objects[i].size;
		plain->classes[i] = heapshot_graph_class_of(graph, (uint32_t)i);
	}
	for (i = 0; i < heap->n_references; i++)
		join(plain, heap->references[i].from, heap->references[i].to);
	for (i = 0; i < n_sources; i++) {
		uint32_t kind = heapshot_graph_kind_node(graph, sources[i].kind);
		uint32_t source = heapshot_graph_source_node(graph, (uint32_t)i);
		size_t k;

		join(plain, plain->root, kind);
		join(plain, kind, source);
		for (k = 0; k < heap->n_roots; k++)
			if (heap->roots[k].kind == sources[i].source.kind &&
			    heap->roots[k].kind != EPHEMERON &&
			    strcmp(heap->roots[k].name, sources[i].source.name) == 0)
				join(plain, source, heap->roots[k].object);
	}
	while (changes) {
		changes = false;
		reach_without(plain, UINT32_MAX, plain->live);
		for (i = 0; i < heap->n_ephemerons; i++) {
			const struct heap_ephemeron *edge = &heap->ephemerons[i];

			if (plain->live[edge->table] && plain->live[edge->key])
				join(plain, edge->key, edge->value);
			changes |= plain->live[edge->table] && plain->live[edge->key] &&
				   !plain->live[edge->value];
		}
	}
	for (i = 0; i < plain->n; i++) {
		bool reached[NODES_MAX];
		uint32_t k;

		reach_without(plain, (uint32_t)i, reached);
		for (k = 0; k < plain->n; k++)
			plain->dominates[i][k] = plain->live[i] && plain->live[k] && !reached[k];
	}
}

static void check_node(const struct plain *plain, const struct heapshot_graph *graph, uint32_t node)
{
	uint32_t dominator = heapshot_graph_dominator(graph, node), child, i;
	uint64_t retained = 0, of_children = plain->sizes[node];

	if (!plain->live[node] || node == plain->root)
		cr_assert_eq(dominator, HEAPSHOT_GRAPH_NONE);
	else
		cr_assert(dominator != node && plain->dominates[dominator][node]);
	for (i = 0; i < plain->n; i++) {
		if (plain->dominates[node][i])
			retained += plain->sizes[i];
		/* Whatever dominates the node dominates its nearest dominator. */
		if (i != node && plain->dominates[i][node])
			cr_assert(plain->dominates[i][dominator]);
	}
	cr_assert_eq(heapshot_graph_retained(graph, node), retained, "node %u: %llu, not %llu",
		     node, (unsigned long long)heapshot_graph_retained(graph, node),
		     (unsigned long long)retained);
	for (child = heapshot_graph_first_child(graph, node); child != HEAPSHOT_GRAPH_NONE;
	     child = heapshot_graph_next_child(graph, child)) {
		cr_assert_eq(heapshot_graph_dominator(graph, child), node);
		of_children += heapshot_graph_retained(graph, child);
	}
	if (plain->live[node])
		cr_assert_eq(of_children, retained);
}

/* Sums of random groups of classes. */
static void check_sums(const struct plain *plain, const struct heapshot_graph *graph)
{
	enum { GROUPS = 3 };
	uint32_t groups[8], group, i, k;
	struct heapshot_graph_sum sums[GROUPS], wanted[GROUPS] = {{0}};
	size_t n_classes;

	heapshot_graph_classes(graph, &n_classes);
	cr_assert_leq(n_classes, 8);
	for (i = 0; i < n_classes; i++)
		groups[i] =
			random_below(4) == 0 ? HEAPSHOT_GRAPH_NONE : (uint32_t)random_below(GROUPS);
	cr_assert_eq(heapshot_graph_sums(graph, groups, GROUPS, sums), HEAPSHOT_READ_OK);
	for (i = 0; i < plain->root; i++) {
		group = groups[plain->classes[i]];
		if (!plain->live[i] || group == HEAPSHOT_GRAPH_NONE)
			continue;
		wanted[group].objects++;
		wanted[group].bytes += plain->sizes[i];
		for (k = 0; k < plain->root; k++)
			if (k != i && plain->dominates[k][i] && groups[plain->classes[k]] == group)
				break;
		if (k == plain->root)
			wanted[group].retained += heapshot_graph_retained(graph, i);
	}
	for (i = 0; i < GROUPS; i++) {
		cr_assert_eq(sums[i].objects, wanted[i].objects);
		cr_assert_eq(sums[i].bytes, wanted[i].bytes);
		cr_assert_eq(sums[i].retained, wanted[i].retained);
	}
}

static void check(const struct heap *heap, struct opened *opened)
{
	static struct plain plain;
	struct heapshot_graph_counts counts;
	uint32_t i;

	cr_assert_eq(opened->result, HEAPSHOT_READ_OK, "%s", heapshot_reader_error(opened->reader));
	cr_assert_eq(heapshot_graph_dominate(opened->graph), HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_graph_dominate(opened->graph), HEAPSHOT_READ_OK);
	make_plain(&plain, heap, opened->graph);
	for (i = 0; i < plain.n; i++)
		check_node(&plain, opened->graph, i);
	heapshot_graph_counts(opened->graph, &counts);
	cr_assert_eq(heapshot_graph_retained(opened->graph, plain.root), counts.live_bytes);
	check_sums(&plain, opened->graph);
}

Test(dominators, are_those_of_taking_each_node_away)
{
	struct opened opened;
	struct heap heap;
	int i;

	random_start("dominators");
	for (i = 0; i < 2000; i++) {
		make_random(&heap, 1 + (size_t)i % 50, false);
		opened = open_heap(&heap, random_next() | 1);
		check(&heap, &opened);
		close_graph(&opened);
		heap_free(&heap);
	}
}

/* ---- by hand ---- */

struct expectation {
	uint32_t node;
	uint64_t retained;
};

static void check_retained(const struct heap *heap, const struct expectation *wanted, size_t n)
{
	struct opened opened = open_heap(heap, 0);
	size_t i;

	check(heap, &opened);
	for (i = 0; i < n; i++)
		cr_assert_eq(
			heapshot_graph_retained(opened.graph, wanted[i].node), wanted[i].retained,
			"%u: %llu", wanted[i].node,
			(unsigned long long)heapshot_graph_retained(opened.graph, wanted[i].node));
	close_graph(&opened);
}

#define CHECK(heap, ...)                                                                           \
	check_retained(heap, (const struct expectation[]){__VA_ARGS__},                            \
		       sizeof((const struct expectation[]){__VA_ARGS__}) /                         \
			       sizeof(struct expectation))

/* 0 holds 1 and 2, both hold 3, which leads back to 0. */
Test(dominators, of_a_diamond_in_a_cycle)
{
	struct heap heap = {0};
	int i;

	for (i = 0; i < 4; i++)
		heap_add(&heap, TYPE_NODE, 32);
	heap_refer(&heap, 0, 0, 1);
	heap_refer(&heap, 0, 1, 2);
	heap_refer(&heap, 1, 0, 3);
	heap_refer(&heap, 2, 0, 3);
	heap_refer(&heap, 3, 0, 0);
	heap_root(&heap, 4, "T.Head", 0);
	CHECK(&heap, {0, 128}, {1, 32}, {2, 32}, {3, 32});
	/* Held from outside too: then it is nobody's, though it leads back to all. */
	heap_root(&heap, 2, "main", 3);
	CHECK(&heap, {0, 96}, {1, 32}, {2, 32}, {3, 32});
	heap_free(&heap);
}

Test(dominators, tell_what_does_not_live_apart)
{
	struct heap heap = {0};
	int i;

	for (i = 0; i < 4; i++)
		heap_add(&heap, TYPE_NODE, 32);
	heap_root(&heap, 4, "T.Head", 0);
	heap_refer(&heap, 0, 0, 1);
	/* A ring that nothing holds leads to what lives. */
	heap_refer(&heap, 2, 0, 3);
	heap_refer(&heap, 3, 0, 2);
	heap_refer(&heap, 3, 1, 1);
	CHECK(&heap, {0, 64}, {1, 32}, {2, 0}, {3, 0}, {4, 64});
	/* Nor does it hold by a weak root. */
	heap_root(&heap, EPHEMERON, "ephemerons", 2);
	CHECK(&heap, {0, 64}, {1, 32}, {2, 0}, {3, 0}, {4, 64});
	heap_free(&heap);
}

/* 0 table, 1 key, 2 value, 3 what the value holds. */
Test(dominators, of_ephemerons)
{
	struct heap heap = {0};
	int i;

	for (i = 0; i < 4; i++)
		heap_add(&heap, TYPE_NODE, 32);
	heap_refer(&heap, 2, 0, 3);
	heap_ephemeron(&heap, 0, 1, 2);
	heap_root(&heap, 4, "T.Table", 0);
	/* The key is dead, and so is the value. */
	CHECK(&heap, {0, 32}, {1, 0}, {2, 0}, {3, 0});
	heap_root(&heap, 4, "T.Key", 1);
	CHECK(&heap, {0, 32}, {1, 96}, {2, 64}, {3, 32});
	/* The value held otherwise, too. */
	heap_root(&heap, 2, "main", 2);
	CHECK(&heap, {0, 32}, {1, 32}, {2, 64}, {3, 32});
	heap_free(&heap);
}

/* A key that only its own value holds does not live. */
Test(dominators, of_an_ephemeron_that_holds_its_key)
{
	struct heap heap = {0};
	int i;

	for (i = 0; i < 3; i++)
		heap_add(&heap, TYPE_NODE, 32);
	heap_ephemeron(&heap, 0, 1, 2);
	heap_refer(&heap, 2, 0, 1);
	heap_root(&heap, 4, "T.Table", 0);
	CHECK(&heap, {0, 32}, {1, 0}, {2, 0});
	heap_free(&heap);
}

/* Retained sizes of sources and kinds: 0 by two statics, 1 by one, 2 by a thread. */
Test(dominators, of_roots_and_their_kinds)
{
	struct heap heap = {0};
	struct opened opened;
	const struct heapshot_graph_kind *kinds;
	const struct heapshot_graph_source *sources;
	size_t n, i;
	int k;

	for (k = 0; k < 3; k++)
		heap_add(&heap, TYPE_NODE, 32);
	heap_root(&heap, 4, "T.A", 0);
	heap_root(&heap, 4, "T.B", 0);
	heap_root(&heap, 4, "T.B", 1);
	heap_root(&heap, 2, "main", 2);
	opened = open_heap(&heap, 0);
	check(&heap, &opened);
	kinds = heapshot_graph_kinds(opened.graph, &n);
	cr_assert_eq(n, 2);
	for (i = 0; i < n; i++)
		cr_assert_eq(
			heapshot_graph_retained(
				opened.graph, heapshot_graph_kind_node(opened.graph, (uint32_t)i)),
			kinds[i].kind == 4 ? 64 : 32);
	sources = heapshot_graph_sources(opened.graph, &n);
	cr_assert_eq(n, 3);
	for (i = 0; i < n; i++)
		cr_assert_eq(heapshot_graph_retained(
				     opened.graph,
				     heapshot_graph_source_node(opened.graph, (uint32_t)i)),
			     strcmp(sources[i].source.name, "T.A") == 0 ? 0 : 32);
	close_graph(&opened);
	heap_free(&heap);
}

/* What recursion, or a way back that costs as much as it is long, would not bear. */
Test(dominators, of_long_chains)
{
	enum { N = 300000 };
	struct synthetic_bytes bytes;
	struct heapshot_graph_counts counts;
	struct opened opened;

	cr_assert(synthetic_make("many", N, &bytes));
	opened = open_bytes(bytes);
	cr_assert_eq(opened.result, HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_graph_dominate(opened.graph), HEAPSHOT_READ_OK);
	heapshot_graph_counts(opened.graph, &counts);
	cr_assert_gt(counts.live_objects, N);
	cr_assert_eq(heapshot_graph_retained(opened.graph, heapshot_graph_root_node(opened.graph)),
		     counts.live_bytes);
	close_graph(&opened);
}

/* Each limit gives MEMORY until there is enough, and takes nothing back of the graph. */
Test(dominators, keep_within_the_limit_of_memory)
{
	struct synthetic_bytes bytes;
	struct heapshot_graph_counts counts;
	struct opened opened;
	enum heapshot_read_result result;
	uint64_t before;
	size_t limit;
	int refused = 0;

	cr_assert(synthetic_make("good", 0, &bytes));
	opened = open_bytes(bytes);
	heapshot_graph_counts(opened.graph, &counts);
	before = counts.memory_bytes;
	limit = before;
	do {
		limit += 4 << 10;
		heapshot_reader_set_memory(opened.reader, limit);
		result = heapshot_graph_dominate(opened.graph);
		refused += result == HEAPSHOT_READ_MEMORY;
		heapshot_graph_counts(opened.graph, &counts);
		if (result != HEAPSHOT_READ_OK)
			cr_assert_eq(counts.memory_bytes, before);
	} while (result == HEAPSHOT_READ_MEMORY);
	cr_assert_eq(result, HEAPSHOT_READ_OK);
	cr_assert_gt(refused, 10);
	cr_assert_leq(counts.memory_bytes - before, 20 * counts.nodes);
	close_graph(&opened);
}
