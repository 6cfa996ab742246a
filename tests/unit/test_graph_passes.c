/* SPDX-License-Identifier: MIT */
/*
 * A graph is read in one pass where the recording allows it, else in three, and
 * by two threads where it is large: it is the same each time.
 */
#include "tests/unit/graph_case.h"

TestSuite(graph_passes, .fini = leak_check);

/* Beyond what one pass can reach from the first object. */
#define FAR_AWAY ((uint64_t)64 << 30)

static void check_edges_alike(const struct heapshot_graph *a, const struct heapshot_graph *b,
			      uint32_t object)
{
	struct heapshot_graph_walk walks[2];
	struct heapshot_graph_edge edges[2];
	const uint32_t *referrers[2];
	uint64_t n[2], i;

	heapshot_graph_walk_begin(a, object, &walks[0]);
	heapshot_graph_walk_begin(b, object, &walks[1]);
	while (heapshot_graph_walk_next(&walks[0], &edges[0])) {
		cr_assert(heapshot_graph_walk_next(&walks[1], &edges[1]));
		cr_assert_eq(edges[0].target, edges[1].target);
		cr_assert_eq(edges[0].offset, edges[1].offset);
		cr_assert_eq(edges[0].is_ephemeron, edges[1].is_ephemeron);
	}
	cr_assert(!heapshot_graph_walk_next(&walks[1], &edges[1]));
	referrers[0] = heapshot_graph_referrers(a, object, &n[0]);
	referrers[1] = heapshot_graph_referrers(b, object, &n[1]);
	cr_assert_eq(n[0], n[1]);
	for (i = 0; i < n[0]; i++)
		cr_assert_eq(referrers[0][i], referrers[1][i]);
}

static void check_alike(const struct heapshot_graph *a, const struct heapshot_graph *b, uint32_t n)
{
	struct heapshot_graph_object objects[2];
	uint32_t i;

	for (i = 0; i < n; i++) {
		heapshot_graph_object(a, i, &objects[0]);
		heapshot_graph_object(b, i, &objects[1]);
		cr_assert_eq(objects[0].address, objects[1].address);
		cr_assert_eq(objects[0].size, objects[1].size);
		cr_assert_eq(objects[0].slot_size, objects[1].slot_size);
		cr_assert_eq(objects[0].type, objects[1].type);
		cr_assert_eq(objects[0].flags, objects[1].flags);
		check_edges_alike(a, b, i);
	}
}

Test(graph_passes, one_reads_what_three_do)
{
	uint64_t seed;
	int round;

	random_start("one pass and three");
	seed = random_next() | 1;
	for (round = 0; round < 100; round++) {
		struct opened near, far;
		struct heapshot_graph_counts counts[2];
		struct heap heap;
		uint32_t n;

		make_random(&heap, 80, true);
		n = (uint32_t)heap.n_objects;
		near = open_heap(&heap, round % 2 ? seed + (uint64_t)round : 0);
		heap_add_behind(&heap, TYPE_NODE, 24, FAR_AWAY);
		far = open_heap(&heap, round % 2 ? seed + (uint64_t)round : 0);
		cr_assert_eq(near.result, HEAPSHOT_READ_OK);
		cr_assert_eq(far.result, HEAPSHOT_READ_OK);
		heapshot_graph_counts(near.graph, &counts[0]);
		heapshot_graph_counts(far.graph, &counts[1]);
		cr_assert_eq(counts[0].objects, n);
		cr_assert_eq(counts[1].objects, n + 1);
		cr_assert_eq(counts[0].references, counts[1].references);
		cr_assert_eq(counts[0].bytes + 24, counts[1].bytes);
		cr_assert_eq(counts[0].slot_bytes + 24, counts[1].slot_bytes);
		cr_assert_eq(counts[0].live_bytes, counts[1].live_bytes);
		check_alike(near.graph, far.graph, n);
		close_graph(&near);
		close_graph(&far);
		heap_free(&heap);
	}
}

/* Enough references for a second thread; rows in any order. */
Test(graph_passes, two_threads_read_what_one_does)
{
	enum { N = 60000, EACH = 5 };
	struct opened ordered, shuffled, far;
	struct heapshot_graph_counts counts;
	struct heap heap = {0};
	size_t edge = 0;
	uint32_t i, k;

	random_start("two threads");
	for (i = 0; i < N; i++) {
		heap_add(&heap, TYPE_ARRAY, 32 + 8 * 300);
		for (k = 0; k < EACH; k++)
			heap_refer(&heap, i, k * 59 + (uint32_t)random_below(59),
				   k == 0 ? (i + 1) % N : (uint32_t)random_below(N));
	}
	heap_root(&heap, 4, "T.First", 0);
	ordered = open_heap(&heap, 0);
	shuffled = open_heap(&heap, 17);
	heap_add_behind(&heap, TYPE_NODE, 24, FAR_AWAY);
	far = open_heap(&heap, 0);
	heapshot_graph_counts(ordered.graph, &counts);
	cr_assert_eq(counts.objects, N);
	cr_assert_eq(counts.live_objects, N);
	cr_assert_eq(counts.references, N * EACH);
	for (i = 0; i < N; i++) {
		uint64_t n;
		const uint32_t *targets = heapshot_graph_targets(ordered.graph, i, &n);

		cr_assert_eq(n, EACH);
		for (k = 0; k < EACH; k++)
			cr_assert_eq(targets[k], heap.references[edge++].to);
	}
	check_alike(ordered.graph, shuffled.graph, N);
	check_alike(ordered.graph, far.graph, N);
	close_graph(&ordered);
	close_graph(&shuffled);
	close_graph(&far);
	heap_free(&heap);
}

/* Numbers that the end states are no reason to ask for memory beyond the limit, nor to fail. */
Test(graph_passes, totals_that_differ_are_borne)
{
	struct synthetic_bytes bytes;
	uint64_t i;

	for (i = 1; i <= SYNTHETIC_TOTALS; i++) {
		struct opened opened;

		cr_assert(synthetic_make("differs", i, &bytes));
		opened = open_bytes(bytes);
		cr_assert_not_null(opened.graph);
		close_graph(&opened);
	}
}
