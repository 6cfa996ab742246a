/* SPDX-License-Identifier: MIT */
/*
 * GCHandles that hold objects: by kind of handle and type of object.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/leaks.h"

#define HANDLES_MIN 100

struct handle {
	uint32_t source, class_index, object;
};

static int by_class(const void *left, const void *right)
{
	const struct handle *a = left, *b = right;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->class_index != b->class_index)
		return a->class_index < b->class_index ? -1 : 1;
	return (a->object > b->object) - (a->object < b->object);
}

static int add(struct leaks *leaks, const struct handle *handles, size_t n)
{
	size_t n_sources, i;
	const struct heapshot_graph_source *sources =
		heapshot_graph_sources(leaks->graph, &n_sources);
	char numbers[2][TEXT_NUMBER_BYTES], share[TEXT_SHARE_BYTES];
	struct leak leak = {
		.kind = LEAK_HANDLES,
		.holder = heapshot_graph_source_node(leaks->graph, handles->source),
		.target = handles->object,
		.is_merged = true,
		.count = n,
	};

	/* Only roots dominate an object that has one: nothing counts twice but equals. */
	for (i = 0; i < n; i++)
		if (i == 0 || handles[i].object != handles[i - 1].object)
			leak.bytes += heapshot_graph_retained(leaks->graph, handles[i].object);
	leak.score = (double)leak.bytes;
	leak_set_type(leaks, &leak, handles->class_index);
	return leaks_add(leaks, &leak, "%s GCHandles (%s) to %s were not freed; %s bytes (%s)",
			 text_number(numbers[0], n), graph_source_name(&sources[handles->source]),
			 leak_type(&leak), text_number(numbers[1], leak.bytes),
			 text_share(share, leak.bytes, leaks->live_bytes));
}

int leaks_find_handles(struct leaks *leaks)
{
	size_t n_roots, n_sources, n = 0, i, k;
	const struct heapshot_graph_root *roots = heapshot_graph_roots(leaks->graph, &n_roots);
	const struct heapshot_graph_source *sources =
		heapshot_graph_sources(leaks->graph, &n_sources);
	struct handle *handles = calloc(n_roots + 1, sizeof(*handles));
	int status = CLI_OK;

	if (handles == NULL)
		return cli_no_memory();
	for (i = 0; i < n_roots; i++) {
		const struct heapshot_graph_source *source = &sources[roots[i].source];

		if (source->is_holding &&
		    strcmp(heapshot_root_kind_name(source->source.kind), "gc_handle") == 0)
			handles[n++] = (struct handle){
				roots[i].source,
				heapshot_graph_class_of(leaks->graph, roots[i].object),
				roots[i].object};
	}
	if (n > 0)
		qsort(handles, n, sizeof(*handles), by_class);
	for (i = 0; i < n && status == CLI_OK; i = k) {
		for (k = i; k < n && handles[k].source == handles[i].source &&
			    handles[k].class_index == handles[i].class_index;
		     k++)
			;
		if (k - i >= HANDLES_MIN)
			status = add(leaks, &handles[i], k - i);
	}
	free(handles);
	return status;
}
