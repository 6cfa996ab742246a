/* SPDX-License-Identifier: MIT */
/*
 * A heap of objects by their retained sizes.
 */
#include <stdlib.h>

#include "contrib/cli/most.h"

bool most_begin(struct most *most, const struct heapshot_graph *graph, size_t limit)
{
	*most = (struct most){.graph = graph, .limit = limit};
	most->objects = calloc(limit + 1, sizeof(*most->objects));
	return most->objects != NULL;
}

static bool is_less(const struct most *most, uint32_t a, uint32_t b)
{
	uint64_t retained_a = heapshot_graph_retained(most->graph, a);
	uint64_t retained_b = heapshot_graph_retained(most->graph, b);

	return retained_a != retained_b ? retained_a < retained_b : a > b;
}

static void sift_down(struct most *most, size_t at, size_t n)
{
	uint32_t object = most->objects[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n && is_less(most, most->objects[child + 1], most->objects[child]))
			child++;
		if (!is_less(most, most->objects[child], object))
			break;
		most->objects[at] = most->objects[child];
		at = child;
	}
	most->objects[at] = object;
}

void most_offer(struct most *most, uint32_t object)
{
	size_t at;

	if (most->n == most->limit) {
		if (most->limit == 0 || !is_less(most, most->objects[0], object))
			return;
		most->objects[0] = object;
		sift_down(most, 0, most->n);
		return;
	}
	for (at = most->n++; at > 0 && is_less(most, object, most->objects[(at - 1) / 2]);
	     at = (at - 1) / 2)
		most->objects[at] = most->objects[(at - 1) / 2];
	most->objects[at] = object;
}

void most_sort(struct most *most)
{
	size_t k;

	for (k = most->n; k > 1; k--) {
		const uint32_t last = most->objects[k - 1];

		most->objects[k - 1] = most->objects[0];
		most->objects[0] = last;
		sift_down(most, 0, k - 1);
	}
}
