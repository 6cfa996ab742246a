/* SPDX-License-Identifier: MIT */
/*
 * Arrays of references with hardly anything in them, and with no room for it: what
 * collections are made of.
 */
#include <stdlib.h>

#include "contrib/cli/leaks.h"

#define CAPACITY_MIN 16   /* of a sparse array */
#define FILLED_PART  4    /* less than a fourth is filled */
#define EMPTY_MIN    1000 /* arrays without elements */

/* Arrays of one class. */
struct arrays {
	uint64_t n_sparse, capacity, filled, n_empty, empty_bytes;
	uint64_t largest; /* free places in one of them */
	uint32_t sparse, empty;
};

static int add_sparse(struct leaks *leaks, uint32_t class_index, const struct arrays *arrays)
{
	char numbers[4][TEXT_NUMBER_BYTES], share[TEXT_SHARE_BYTES];
	uint64_t word = heapshot_reader_header(leaks->recording->reader)->word_bytes;
	struct leak leak = {
		.kind = LEAK_SPARSE,
		.holder = HEAPSHOT_GRAPH_NONE,
		.target = arrays->sparse,
		.count = arrays->n_sparse,
		.bytes = (arrays->capacity - arrays->filled) * word,
	};

	if (leak.bytes < LEAKS_BYTES_MIN)
		return CLI_OK;
	if (arrays->n_sparse == 1)
		leak.holder = arrays->sparse;
	leak.score = (double)leak.bytes;
	leak_set_type(leaks, &leak, class_index);
	return leaks_add(
		leaks, &leak, "%s array%s %s use%s %s of %s places; %s bytes (%s) are for nothing",
		text_number(numbers[0], arrays->n_sparse), arrays->n_sparse == 1 ? "" : "s",
		leak_type(&leak), arrays->n_sparse == 1 ? "s" : "",
		text_number(numbers[1], arrays->filled), text_number(numbers[2], arrays->capacity),
		text_number(numbers[3], leak.bytes),
		text_share(share, leak.bytes, leaks->live_bytes));
}

static int add_empty(struct leaks *leaks, uint32_t class_index, const struct arrays *arrays)
{
	char numbers[2][TEXT_NUMBER_BYTES], share[TEXT_SHARE_BYTES];
	struct leak leak = {
		.kind = LEAK_EMPTY,
		.holder = HEAPSHOT_GRAPH_NONE,
		.target = arrays->empty,
		.count = arrays->n_empty,
		.bytes = arrays->empty_bytes,
		.score = (double)arrays->empty_bytes,
		.is_merged = true,
	};

	if (arrays->n_empty < EMPTY_MIN)
		return CLI_OK;
	leak_set_type(leaks, &leak, class_index);
	return leaks_add(leaks, &leak,
			 "%s arrays %s have no elements; one would do for all, %s bytes (%s)",
			 text_number(numbers[0], arrays->n_empty), leak_type(&leak),
			 text_number(numbers[1], leak.bytes),
			 text_share(share, leak.bytes, leaks->live_bytes));
}

static void count(const struct leaks *leaks, uint32_t object, struct arrays *arrays)
{
	uint64_t capacity, n;

	if (!heapshot_graph_is_live(leaks->graph, object) ||
	    !leaks_is_array(leaks, object, &capacity))
		return;
	if (capacity == 0) {
		/*
		 * One to be shown: the 1st, 2nd, 4th, 8th ...  At the ends of the heap lie those
		 * that the framework shares.
		 */
		arrays->n_empty++;
		if ((arrays->n_empty & (arrays->n_empty - 1)) == 0)
			arrays->empty = object;
		arrays->empty_bytes += heapshot_graph_size(leaks->graph, object);
		return;
	}
	heapshot_graph_targets(leaks->graph, object, &n);
	if (capacity < CAPACITY_MIN || n >= capacity / FILLED_PART)
		return;
	arrays->n_sparse++;
	arrays->capacity += capacity;
	arrays->filled += n;
	if (capacity - n <= arrays->largest)
		return;
	arrays->largest = capacity - n;
	arrays->sparse = object;
}

int leaks_find_arrays(struct leaks *leaks)
{
	struct arrays *by_class = calloc(leaks->n_classes + 1, sizeof(*by_class));
	struct heapshot_graph_counts counts;
	int status = CLI_OK;
	size_t i;

	if (by_class == NULL)
		return cli_no_memory();
	heapshot_graph_counts(leaks->graph, &counts);
	for (i = 0; i < counts.objects; i++)
		count(leaks, (uint32_t)i,
		      &by_class[heapshot_graph_class_of(leaks->graph, (uint32_t)i)]);
	for (i = 0; i < leaks->n_classes && status == CLI_OK; i++) {
		status = add_sparse(leaks, (uint32_t)i, &by_class[i]);
		if (status == CLI_OK)
			status = add_empty(leaks, (uint32_t)i, &by_class[i]);
	}
	free(by_class);
	return status;
}
