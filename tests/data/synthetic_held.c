/* SPDX-License-Identifier: MIT */
/*
 * A heap of 33 objects, 1,116 bytes live and 64 not:
 *
 *     static T.Pub.Root  -> T.Pub -> Object[4] [0] -> T.Node -> (string, T.Node X)
 *                                              [2] -> T.Node -> T.Node X -> T.Late
 *     static T.Pub.List  -> T.Pub -> 20 T.Node, one behind the other
 *     stack main         -> T.Node, key of an ephemeron in the first T.Pub -> T.Late
 *     finalizer_queue    -> T.Huge
 *     ephemeron          -> the T.Late of the ephemeron; holds nothing
 *     nothing            -> T.Node -> T.Node -> X
 *
 * N appends further pairs of T.Pub and T.Late by the root T.Pub.More: an array.
 */
#include "tests/data/synthetic_held.h"

#include "tests/data/heap.h"

enum { NEXT, VALUE };
enum { LINKS = 20 };

static uint32_t add_node(struct heap *heap)
{
	return heap_add(heap, TYPE_NODE, 32);
}

static void make_roots(struct heap *heap)
{
	uint32_t pub = heap_add(heap, TYPE_PUB, 24), array = heap_add(heap, TYPE_ARRAY, 32 + 8 * 4);
	uint32_t a = add_node(heap), b = add_node(heap), x = add_node(heap);

	heap_refer(heap, pub, NEXT, array);
	heap_refer(heap, array, 0, a);
	heap_refer(heap, array, 2, b);
	heap_refer(heap, a, NEXT, x);
	heap_refer(heap, a, VALUE, heap_add(heap, TYPE_STRING, 40));
	heap_refer(heap, b, NEXT, x);
	heap_refer(heap, x, VALUE, heap_add(heap, TYPE_LATE, 48));
	heap_root(heap, 4, "T.Pub.Root", pub);
	a = add_node(heap);
	b = add_node(heap);
	heap_refer(heap, a, NEXT, b);
	heap_refer(heap, b, NEXT, x);
	a = add_node(heap);
	b = heap_add(heap, TYPE_LATE, 48);
	heap_ephemeron(heap, pub, a, b);
	heap_root(heap, 2, "main", a);
	heap_root(heap, 16, "Ephemerons", b);
	heap_root(heap, 3, "", heap_add(heap, TYPE_HUGE, 100));
}

static void make_list(struct heap *heap)
{
	uint32_t last = heap_add(heap, TYPE_PUB, 24), i;

	heap_root(heap, 4, "T.Pub.List", last);
	for (i = 0; i < LINKS; i++) {
		uint32_t node = add_node(heap);

		heap_refer(heap, last, NEXT, node);
		last = node;
	}
}

static void make_more(struct heap *heap, uint64_t n)
{
	uint32_t array, i;

	if (n == 0)
		return;
	array = heap_add(heap, TYPE_ARRAY, 32 + 8 * n);
	heap_root(heap, 4, "T.Pub.More", array);
	for (i = 0; i < n; i++) {
		uint32_t pub = heap_add(heap, TYPE_PUB, 24);

		heap_refer(heap, array, i, pub);
		heap_refer(heap, pub, NEXT, heap_add(heap, TYPE_LATE, 48));
	}
}

void synthetic_held(struct synthetic_bytes *bytes, uint64_t n)
{
	struct heap heap = {0};

	make_roots(&heap);
	make_list(&heap);
	make_more(&heap, n);
	heap_record(&heap, 1, bytes);
	heap_free(&heap);
}
