/* SPDX-License-Identifier: MIT */
/*
 * Graphs to test: of heaps told object by object, or random ones.
 */
#ifndef HEAPSHOT_TESTS_UNIT_GRAPH_CASE_H
#define HEAPSHOT_TESTS_UNIT_GRAPH_CASE_H

#include "contrib/reader/heapshot-graph.h"
#include "tests/data/heap.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/random.h"

#define SAVED_REGISTERS 19 /* the kind of root that holds what nothing else does */
#define EPHEMERON       16 /* the kind of root that holds nothing */

struct opened {
	struct synthetic_bytes bytes;
	struct heapshot_reader *reader;
	struct heapshot_graph *graph;
	enum heapshot_read_result result;
};

static inline struct opened open_bytes(struct synthetic_bytes bytes)
{
	struct heapshot_reader_options options = {.size = sizeof(options),
						  .memory_bytes = 1u << 30};
	struct opened opened = {.bytes = bytes, .reader = heapshot_reader_new(&options)};

	cr_assert_eq(heapshot_reader_open_memory(opened.reader, bytes.data, bytes.size),
		     HEAPSHOT_READ_OK);
	opened.result = heapshot_graph_open(
		opened.reader, heapshot_reader_snapshot(opened.reader, 1), &opened.graph);
	return opened;
}

static inline struct opened open_heap(const struct heap *heap, uint64_t seed)
{
	struct synthetic_bytes bytes;

	heap_record(heap, seed, &bytes);
	return open_bytes(bytes);
}

static inline void close_graph(struct opened *opened)
{
	heapshot_graph_free(opened->graph);
	heapshot_reader_free(opened->reader);
	free(opened->bytes.data);
}

/* Up to MOST objects; long arrays have several rows, with slots far apart. */
static inline void make_random(struct heap *heap, size_t most, bool has_long_arrays)
{
	static const uint32_t types[] = {TYPE_NODE, TYPE_PUB, TYPE_LATE, TYPE_COPY, TYPE_ARRAY};
	size_t n = 1 + random_below(most), i, k;

	*heap = (struct heap){0};
	for (i = 0; i < n; i++) {
		uint32_t type = types[random_below(5)];
		size_t slots = random_below(6);
		uint64_t gap = random_below(10) == 0 ? random_below(1 << 21) * 8 : 0;

		if (has_long_arrays && type == TYPE_ARRAY && random_below(8) == 0)
			slots = 300 + random_below(2000);
		heap_add_behind(heap, type, (type == TYPE_ARRAY ? 32 : 16) + 8 * slots, gap);
		for (k = 0; k < slots; k++)
			if (random_below(slots > 6 ? 4 : 2) == 0)
				heap_refer(heap, (uint32_t)i, (uint32_t)k,
					   (uint32_t)random_below(n));
	}
	for (i = random_below(4); i > 0; i--)
		heap_root(heap, (uint32_t)random_below(18), random_below(2) ? "one" : "two",
			  (uint32_t)random_below(n));
	for (i = random_below(6); i > 0; i--)
		heap_ephemeron(heap, (uint32_t)random_below(n), (uint32_t)random_below(n),
			       (uint32_t)random_below(n));
}

#endif
