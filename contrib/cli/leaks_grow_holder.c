/* SPDX-License-Identifier: MIT */
/*
 * What holds the objects of a type that grew: the nearest node that dominates half of
 * what they are.  Each may have a holder of its own, which has one in turn.
 */
#include <stdlib.h>

#include "contrib/cli/leaks.h"

/* Dominators that are climbed in search of one that many objects share. */
#define CLIMB_MAX 16

/* An object of the type that no other of the type dominates, and what dominates it. */
struct head {
	uint32_t dominator, object;
	uint64_t retained;
};

static int by_dominator(const void *left, const void *right)
{
	const struct head *a = left, *b = right;

	if (a->dominator != b->dominator)
		return a->dominator < b->dominator ? -1 : 1;
	return (a->object > b->object) - (a->object < b->object);
}

/* Fills HEADS; returns how many. */
static size_t find_heads(const struct leaks *leaks, uint32_t type, struct head *heads)
{
	const uint32_t *of_class = leaks->types.of_class;
	struct heapshot_graph_counts counts;
	size_t n = 0, i;

	heapshot_graph_counts(leaks->graph, &counts);
	for (i = 0; i < counts.objects; i++) {
		uint32_t object = (uint32_t)i, dominator;

		if (of_class[heapshot_graph_class_of(leaks->graph, object)] != type ||
		    !heapshot_graph_is_live(leaks->graph, object))
			continue;
		dominator = heapshot_graph_dominator(leaks->graph, object);
		if (graph_is_object(leaks->graph, dominator) &&
		    of_class[heapshot_graph_class_of(leaks->graph, dominator)] == type)
			continue;
		heads[n++] = (struct head){dominator, object,
					   heapshot_graph_retained(leaks->graph, object)};
	}
	return n;
}

/* The dominator below which most is retained; the first of its heads, *share of all. */
static size_t most_common(struct head *heads, size_t n, size_t *n_below, double *share)
{
	uint64_t most = 0, all = 0;
	size_t found = 0, i, k;

	qsort(heads, n, sizeof(*heads), by_dominator);
	for (i = 0, *n_below = 0; i < n; i = k) {
		uint64_t retained = 0;

		for (k = i; k < n && heads[k].dominator == heads[i].dominator; k++)
			retained += heads[k].retained;
		all += retained;
		if (retained <= most)
			continue;
		most = retained;
		found = i;
		*n_below = k - i;
	}
	*share = all != 0 ? (double)most / (double)all : 1;
	return found;
}

bool leaks_find_holder(const struct leaks *leaks, uint32_t type, struct leak *leak)
{
	struct head *heads =
		calloc((size_t)leaks->types.types[type].live_objects + 1, sizeof(*heads));
	size_t n, n_below = 0, at = 0, i;
	bool is_higher = true;
	double share = 0;
	unsigned climbed;

	if (heads == NULL)
		return false;
	n = find_heads(leaks, type, heads);
	for (climbed = 0; n > 0 && is_higher && climbed < CLIMB_MAX; climbed++) {
		at = most_common(heads, n, &n_below, &share);
		is_higher = false;
		for (i = 0; share < 0.5 && i < n; i++)
			if (graph_is_object(leaks->graph, heads[i].dominator)) {
				heads[i].dominator =
					heapshot_graph_dominator(leaks->graph, heads[i].dominator);
				is_higher = true;
			}
	}
	if (n > 0)
		leak->target = heads[at].object;
	if (n > 0 && !is_higher && heads[at].dominator != heapshot_graph_root_node(leaks->graph)) {
		leak->holder = heads[at].dominator;
		leak->is_merged = n_below > 1;
	}
	free(heads);
	return true;
}
