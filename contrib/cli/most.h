/* SPDX-License-Identifier: MIT */
/*
 * The objects of many that retain the most, in the memory of those few.
 */
#ifndef HEAPSHOT_CLI_MOST_H
#define HEAPSHOT_CLI_MOST_H

#include <stdbool.h>
#include <stddef.h>

#include "contrib/reader/heapshot-graph.h"

struct most {
	const struct heapshot_graph *graph;
	uint32_t *objects; /* a heap whose least stands first, until they are sorted */
	size_t n, limit;
};

/* For at most LIMIT of them; false without memory.  To be freed by free(most->objects). */
bool most_begin(struct most *most, const struct heapshot_graph *graph, size_t limit);
void most_offer(struct most *most, uint32_t object);
/* The largest first. */
void most_sort(struct most *most);

#endif
