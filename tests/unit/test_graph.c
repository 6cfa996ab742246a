/* SPDX-License-Identifier: MIT */
/*
 * The graph of a snapshot: random heaps in shuffled rows are read back object by
 * object and edge by edge; what lives is marked again in the plainest way.
 */
#include "tests/unit/graph_case.h"

TestSuite(graph, .fini = leak_check);

/* Marks until nothing changes. */
static size_t mark_plainly(const struct heap *heap, bool *live)
{
	bool changes = true;
	size_t n = 0, i;

	for (i = 0; i < heap->n_roots; i++)
		if (heap->roots[i].kind != EPHEMERON)
			live[heap->roots[i].object] = true;
	while (changes) {
		changes = false;
		for (i = 0; i < heap->n_references; i++) {
			const struct heap_reference *edge = &heap->references[i];

			changes |= live[edge->from] && !live[edge->to];
			live[edge->to] |= live[edge->from];
		}
		for (i = 0; i < heap->n_ephemerons; i++) {
			const struct heap_ephemeron *edge = &heap->ephemerons[i];
			bool lives = live[edge->table] && live[edge->key];

			changes |= lives && !live[edge->value];
			live[edge->value] |= lives;
		}
	}
	for (i = 0; i < heap->n_objects; i++)
		n += live[i];
	return n;
}

/* The ways out of OBJECT are its references in order, then its live ephemerons. */
static void check_edges(const struct heap *heap, const struct heapshot_graph *graph,
			uint32_t object, const bool *live)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	const uint32_t *targets, *referrers;
	uint64_t n, at = 0, n_in = 0;
	size_t i, n_values = 0;

	targets = heapshot_graph_targets(graph, object, &n);
	heapshot_graph_walk_begin(graph, object, &walk);
	for (i = 0; i < heap->n_references; i++) {
		n_in += heap->references[i].to == object;
		if (heap->references[i].from != object)
			continue;
		cr_assert(heapshot_graph_walk_next(&walk, &edge));
		cr_assert(!edge.is_ephemeron);
		cr_assert_eq(edge.target, heap->references[i].to);
		cr_assert_eq(edge.offset, heap->references[i].offset);
		cr_assert_lt(at, n);
		cr_assert_eq(targets[at++], edge.target);
	}
	cr_assert_eq(at, n);
	while (heapshot_graph_walk_next(&walk, &edge)) {
		cr_assert(edge.is_ephemeron);
		cr_assert(live[edge.table] && live[object] && live[edge.target]);
		n_values++;
	}
	for (i = 0; i < heap->n_ephemerons; i++)
		if (heap->ephemerons[i].key == object && live[object] &&
		    live[heap->ephemerons[i].table])
			n_values--;
	cr_assert_eq(n_values, 0);
	referrers = heapshot_graph_referrers(graph, object, &n);
	cr_assert_eq(n, n_in);
	for (at = 0; at < n; at++) {
		if (at > 0)
			cr_assert_leq(referrers[at - 1], referrers[at]);
		for (i = 0; i < heap->n_references; i++)
			if (heap->references[i].from == referrers[at] &&
			    heap->references[i].to == object)
				break;
		cr_assert_lt(i, heap->n_references);
	}
}

static void check_roots(const struct heap *heap, const struct heapshot_graph *graph)
{
	size_t n_roots, n_sources, n_kinds, i, k, n = 0;
	const struct heapshot_graph_root *roots = heapshot_graph_roots(graph, &n_roots);
	const struct heapshot_graph_source *sources = heapshot_graph_sources(graph, &n_sources);
	const struct heapshot_graph_kind *kinds = heapshot_graph_kinds(graph, &n_kinds);

	cr_assert_eq(n_roots, heap->n_roots);
	for (i = 0; i < n_roots; i++) {
		const struct heapshot_graph_source *source = &sources[roots[i].source];

		for (k = 0; k < heap->n_roots; k++)
			if (heap->roots[k].object == roots[i].object &&
			    heap->roots[k].kind == source->source.kind &&
			    strcmp(heap->roots[k].name, source->source.name) == 0)
				break;
		cr_assert_lt(k, heap->n_roots);
		cr_assert_eq(source->is_holding, source->source.kind != EPHEMERON);
		cr_assert_eq(kinds[source->kind].kind, source->source.kind);
		if (i > 0)
			cr_assert_leq(roots[i - 1].object, roots[i].object);
	}
	for (i = 0; i < n_kinds; i++) {
		cr_assert_str_eq(kinds[i].name, heapshot_root_kind_name(kinds[i].kind));
		for (k = 0; k < kinds[i].n_sources; k++)
			cr_assert_eq(sources[kinds[i].first_source + k].kind, i);
		n += kinds[i].n_roots;
	}
	cr_assert_eq(n, n_roots);
	for (i = n = 0; i < heap->n_objects; i++) {
		heapshot_graph_roots_of(graph, (uint32_t)i, &k);
		n += k;
	}
	cr_assert_eq(n, n_roots);
}

static void check_heap(const struct heap *heap, const struct opened *opened)
{
	const struct heapshot_graph *graph = opened->graph;
	bool *live = calloc(heap->n_objects, 1);
	struct heapshot_graph_counts counts;
	size_t n_live = mark_plainly(heap, live), i;

	cr_assert_eq(opened->result, HEAPSHOT_READ_OK, "%s", heapshot_reader_error(opened->reader));
	heapshot_graph_counts(graph, &counts);
	cr_assert_eq(counts.objects, heap->n_objects);
	cr_assert_eq(counts.references, heap->n_references);
	cr_assert_eq(counts.ephemerons, heap->n_ephemerons);
	cr_assert_eq(counts.live_objects, n_live);
	for (i = 0; i < heap->n_objects; i++) {
		struct heapshot_graph_object object;

		heapshot_graph_object(graph, (uint32_t)i, &object);
		cr_assert_eq(object.address, heap->objects[i].address);
		cr_assert_eq(object.size, heap->objects[i].size);
		cr_assert_eq(object.type, heap->objects[i].type);
		cr_assert_eq(object.domain, object.type == TYPE_COPY ? 2 : 1);
		cr_assert_eq(heapshot_graph_find(graph, object.address), i);
		cr_assert_eq(heapshot_graph_find(graph, object.address + 8), UINT32_MAX);
		cr_assert_eq(heapshot_graph_find(graph, object.address + 1), UINT32_MAX);
		cr_assert_eq(heapshot_graph_find_around(graph, object.address + object.size - 1),
			     i);
		cr_assert_eq((object.flags & HEAPSHOT_GRAPH_LIVE) != 0, live[i]);
		check_edges(heap, graph, (uint32_t)i, live);
	}
	cr_assert_eq(heapshot_graph_find_around(graph, HEAP_BASE - 1), UINT32_MAX);
	cr_assert_eq(heapshot_graph_find_around(graph, heap->next_address), UINT32_MAX);
	check_roots(heap, graph);
	free(live);
}

Test(graph, reads_back_random_heaps)
{
	struct opened opened;
	struct heap heap;
	int i;

	random_start("graph");
	for (i = 0; i < 500; i++) {
		make_random(&heap, 40, true);
		opened = open_heap(&heap, random_next() | 1);
		check_heap(&heap, &opened);
		close_graph(&opened);
		heap_free(&heap);
	}
}

/* ---- by hand ---- */

Test(graph, knows_sizes_that_do_not_fit_its_columns)
{
	struct opened opened;
	struct heap heap = {0};
	struct heapshot_graph_object object;

	heap_add(&heap, TYPE_HUGE, (uint64_t)1 << 40);
	heap_add(&heap, TYPE_HUGE, UINT32_MAX);
	heap_add(&heap, TYPE_HUGE, UINT32_MAX - 1);
	opened = open_heap(&heap, 0);
	check_heap(&heap, &opened);
	heapshot_graph_object(opened.graph, 0, &object);
	cr_assert_eq(object.slot_size, (uint64_t)1 << 40);
	close_graph(&opened);
	heap_free(&heap);
}

/* A chain of ephemerons that is only seen to live from its last one on. */
Test(graph, follows_chains_of_ephemerons)
{
	enum { LINKS = 1000 };
	struct opened opened;
	struct heap heap = {0};
	uint32_t table = heap_add(&heap, TYPE_NODE, 24), i;

	heap_root(&heap, 4, "T.Table", table);
	for (i = 0; i < LINKS; i++) {
		uint32_t key = heap_add(&heap, TYPE_NODE, 24);
		uint32_t value = heap_add(&heap, TYPE_NODE, 24);

		heap_ephemeron(&heap, table, key, value);
		if (i > 0) /* each value holds the key before it */
			heap_refer(&heap, value, 0, key - 2);
		if (i == LINKS - 1)
			heap_root(&heap, 2, "main", key);
	}
	opened = open_heap(&heap, 0);
	check_heap(&heap, &opened);
	close_graph(&opened);
	heap_free(&heap);
}

Test(graph, holds_nothing_by_weak_roots)
{
	struct opened opened;
	struct heap heap = {0};
	struct heapshot_graph_counts counts;

	heap_root(&heap, EPHEMERON, "ephemerons", heap_add(&heap, TYPE_NODE, 24));
	heap_root(&heap, 7, "handle", heap_add(&heap, TYPE_NODE, 24));
	opened = open_heap(&heap, 0);
	heapshot_graph_counts(opened.graph, &counts);
	cr_assert_eq(counts.roots, 2);
	cr_assert(!heapshot_graph_is_live(opened.graph, 0));
	cr_assert(heapshot_graph_is_live(opened.graph, 1));
	cr_assert_eq(counts.live_bytes, 24);
	cr_assert_eq(counts.bytes, 48);
	close_graph(&opened);
	heap_free(&heap);
}

Test(graph, saved_registers_hold_what_nothing_else_does)
{
	struct opened opened;
	struct heap heap = {0};
	struct heapshot_graph_counts counts;
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	const struct heapshot_graph_source *sources;
	size_t n_sources, n_edges = 0;
	uint32_t i, holder = heap_add(&heap, TYPE_NODE, 24), held = heap_add(&heap, TYPE_NODE, 24);
	uint32_t saved = heap_add(&heap, TYPE_NODE, 24), behind = heap_add(&heap, TYPE_NODE, 24);

	heap_add(&heap, TYPE_NODE, 24);
	heap_refer(&heap, holder, 0, held);
	heap_refer(&heap, saved, 0, behind);
	heap_refer(&heap, behind, 0, saved);
	heap_root(&heap, SAVED_REGISTERS, "main", held);
	heap_root(&heap, SAVED_REGISTERS, "main", saved);
	heap_root(&heap, SAVED_REGISTERS, "other", behind);
	heap_root(&heap, 4, "T.Holder", holder);
	opened = open_heap(&heap, 0);
	heapshot_graph_counts(opened.graph, &counts);
	cr_assert_eq(counts.roots, 4);
	cr_assert_eq(counts.live_objects, 4);
	for (i = 0; i < 5; i++)
		cr_assert_eq(heapshot_graph_is_live(opened.graph, i), i < 4);
	cr_assert_eq(heapshot_graph_dominate(opened.graph), HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_graph_dominator(opened.graph, held), holder);
	cr_assert_eq(heapshot_graph_dominator(opened.graph, behind), saved);
	cr_assert_eq(heapshot_graph_retained(opened.graph, holder), 48);
	sources = heapshot_graph_sources(opened.graph, &n_sources);
	for (i = 0; i < n_sources; i++) {
		heapshot_graph_walk_begin(opened.graph, heapshot_graph_source_node(opened.graph, i),
					  &walk);
		for (; heapshot_graph_walk_next(&walk, &edge); n_edges++)
			cr_assert_eq(edge.target, sources[i].source.kind == 4 ? holder : saved);
	}
	cr_assert_eq(n_edges, 2);
	close_graph(&opened);
	heap_free(&heap);
}

Test(graph, leaves_out_what_leads_nowhere)
{
	struct opened opened;
	struct heap heap = {0};
	struct heapshot_graph_counts counts;
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	uint32_t array = heap_add(&heap, TYPE_ARRAY, 32 + 8 * 5000), i;

	heap_add(&heap, TYPE_NODE, 24);
	for (i = 0; i < 1000; i++)
		heap_refer(&heap, array, i, i % 500 == 499 ? 1 : HEAP_NOWHERE);
	heap_refer(&heap, array, 4999, 1);
	heap_root(&heap, 4, "T.Array", array);
	heap_root(&heap, 4, "T.Gone", HEAP_NOWHERE);
	opened = open_heap(&heap, 0);
	cr_assert_eq(opened.result, HEAPSHOT_READ_OK);
	heapshot_graph_counts(opened.graph, &counts);
	cr_assert_eq(counts.dangling_references, 998);
	cr_assert_eq(counts.references, 3);
	cr_assert_eq(counts.loose_roots, 1);
	heapshot_graph_walk_begin(opened.graph, array, &walk);
	cr_assert(heapshot_graph_walk_next(&walk, &edge));
	cr_assert_eq(edge.offset, 32 + 8 * 499);
	cr_assert(heapshot_graph_walk_next(&walk, &edge));
	cr_assert_eq(edge.offset, 32 + 8 * 999);
	cr_assert(heapshot_graph_walk_next(&walk, &edge));
	cr_assert_eq(edge.offset, 32 + 8 * 4999);
	cr_assert(!heapshot_graph_walk_next(&walk, &edge));
	close_graph(&opened);
	heap_free(&heap);
}

/* Starts of 64 objects share a base, so that what is left out may move those of others. */
Test(graph, what_leads_nowhere_moves_no_other_reference)
{
	unsigned round;

	random_start("nowhere");
	for (round = 0; round < 100; round++) {
		const uint32_t nowhere = round % 2 ? HEAP_NOWHERE : HEAP_BESIDE;
		const size_t n = 1 + random_below(400);
		struct heapshot_graph_counts counts;
		struct opened opened;
		struct heap heap = {0};
		size_t i, k, kept = 0;

		for (i = 0; i < n; i++)
			heap_add(&heap, TYPE_ARRAY, 32 + 8 * 5);
		for (i = 0; i < n; i++)
			for (k = random_below(6); k > 0; k--)
				heap_refer(&heap, (uint32_t)i, 5 - (uint32_t)k,
					   random_below(2) ? nowhere : (uint32_t)random_below(n));
		opened = open_heap(&heap, round % 4 < 2 ? 0 : 1 + round);
		cr_assert_eq(opened.result, HEAPSHOT_READ_OK);
		heapshot_graph_counts(opened.graph, &counts);
		for (i = 0; i < heap.n_references; i++)
			if (heap.references[i].to != nowhere)
				heap.references[kept++] = heap.references[i];
		cr_assert_eq(counts.references, kept);
		cr_assert_eq(counts.dangling_references, heap.n_references - kept);
		heap.n_references = kept;
		for (i = 0; i < n; i++)
			check_edges(&heap, opened.graph, (uint32_t)i, NULL);
		close_graph(&opened);
		heap_free(&heap);
	}
}

Test(graph, reads_all_variants)
{
	struct heapshot_graph_counts counts;
	struct synthetic_bytes bytes;
	const char *name;
	size_t i, n;

	for (i = 0; (name = synthetic_name(i)) != NULL; i++) {
		struct heapshot_reader *reader = heapshot_reader_new(NULL);
		const struct heapshot_snapshot *snapshots;
		struct heapshot_graph *graph;
		enum heapshot_read_result result, wanted = HEAPSHOT_READ_OK;

		cr_assert(synthetic_make(name, 0, &bytes));
		if (heapshot_reader_open_memory(reader, bytes.data, bytes.size) ==
			    HEAPSHOT_READ_OK &&
		    (snapshots = heapshot_reader_snapshots(reader, &n), n > 0)) {
			result = heapshot_graph_open(reader, &snapshots[n - 1], &graph);
			if (strcmp(name, "stats") == 0)
				wanted = HEAPSHOT_READ_NOT_FOUND;
			else if (strcmp(name, "overflow") == 0)
				wanted = HEAPSHOT_READ_DAMAGED;
			else if (strcmp(name, "killed") == 0 || strcmp(name, "differs") == 0 ||
				 strcmp(name, "abandoned") == 0)
				wanted = HEAPSHOT_READ_INCOMPLETE;
			else if (strcmp(name, "inconsistent") == 0)
				/* The repeated object's bytes count once. */
				wanted = HEAPSHOT_READ_INCOMPLETE;
			cr_assert_eq(result, wanted, "%s: %d, %s", name, result,
				     heapshot_reader_error(reader));
			cr_assert_eq(graph != NULL, result == HEAPSHOT_READ_OK ||
							    result == HEAPSHOT_READ_INCOMPLETE);
			if (graph != NULL)
				heapshot_graph_counts(graph, &counts);
			heapshot_graph_free(graph);
		}
		heapshot_reader_free(reader);
		free(bytes.data);
	}
}

/* Each limit from nothing up gives MEMORY, until there is enough; nothing leaks. */
Test(graph, keeps_within_the_limit_of_memory)
{
	struct synthetic_bytes bytes;
	struct heapshot_reader *reader;
	struct heapshot_graph_counts counts;
	struct heapshot_graph *graph;
	enum heapshot_read_result result;
	size_t limit = 0;
	int refused = 0;

	cr_assert(synthetic_make("good", 0, &bytes));
	do {
		limit += 4 << 10;
		reader = heapshot_reader_new(NULL);
		cr_assert_eq(heapshot_reader_open_memory(reader, bytes.data, bytes.size),
			     HEAPSHOT_READ_OK);
		heapshot_reader_set_memory(reader, limit);
		result = heapshot_graph_open(reader, heapshot_reader_snapshot(reader, 3), &graph);
		refused += result == HEAPSHOT_READ_MEMORY;
		if (result == HEAPSHOT_READ_OK) {
			heapshot_graph_counts(graph, &counts);
			cr_assert_leq(counts.memory_bytes, limit);
		} else {
			cr_assert_eq(result, HEAPSHOT_READ_MEMORY);
			cr_assert_null(graph);
		}
		heapshot_graph_free(graph);
		heapshot_reader_free(reader);
	} while (result != HEAPSHOT_READ_OK);
	cr_assert_gt(refused, 10);
	free(bytes.data);
}

/* 20 bytes an object, 9 a reference, and what the heap's addresses take. */
Test(graph, takes_the_memory_that_it_states)
{
	enum { N = 200000 };
	struct synthetic_bytes bytes;
	struct opened opened;
	struct heapshot_graph_counts counts;

	cr_assert(synthetic_make("many", N, &bytes));
	opened = open_bytes(bytes);
	cr_assert_eq(opened.result, HEAPSHOT_READ_OK);
	heapshot_graph_counts(opened.graph, &counts);
	cr_assert_gt(counts.objects, N);
	/* Strings of "many" lie 4 KB apart: a bit and a half for each of 8 bytes. */
	cr_assert_leq(counts.memory_bytes, 20 * counts.objects + 9 * counts.references +
						   (N * 32 + N / 10 * 4096) / 8 * 3 / 16 +
						   (256 << 10));
	close_graph(&opened);
}
