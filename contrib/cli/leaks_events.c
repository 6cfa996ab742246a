/* SPDX-License-Identifier: MIT */
/*
 * Delegates that call many others: events with handlers that nobody took off.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/leaks.h"
#include "schema/heapshot.pb-c.h"

#define HANDLERS_MIN 50

static bool is_slot(const struct leaks *leaks, uint32_t class_index, uint64_t offset,
		    const char *const *names)
{
	char name[HEAPSHOT_SLOT_NAME_BYTES];

	if (!heapshot_reader_slot_name(leaks->recording->reader, leaks->classes[class_index].type,
				       offset, name))
		return false;
	for (; *names != NULL; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* The list of what DELEGATE calls, if it is long; else NONE.  Mono's name and .NET's. */
static uint32_t list_of(const struct leaks *leaks, uint32_t delegate)
{
	static const char *const names[] = {"delegates", "_invocationList", NULL};
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	uint64_t n, capacity;

	heapshot_graph_walk_begin(leaks->graph, delegate, &walk);
	while (heapshot_graph_walk_next(&walk, &edge)) {
		heapshot_graph_targets(leaks->graph, edge.target, &n);
		if (!edge.is_ephemeron && n >= HANDLERS_MIN &&
		    leaks_is_array(leaks, edge.target, &capacity) &&
		    is_slot(leaks, heapshot_graph_class_of(leaks->graph, delegate), edge.offset,
			    names))
			return edge.target;
	}
	return HEAPSHOT_GRAPH_NONE;
}

bool leaks_is_told(const struct leaks *leaks, uint32_t array)
{
	size_t i;

	for (i = 0; i < leaks->n; i++)
		if (leaks->list[i].kind == LEAK_EVENT &&
		    list_of(leaks, leaks->list[i].holder) == array)
			return true;
	return false;
}

/* What objects with methods the delegates of LIST have, counted by class. */
static uint32_t most_common_target(const struct leaks *leaks, uint32_t list, uint64_t *count,
				   uint64_t *offset_of_class, uint64_t *n_by_class)
{
	static const char *const names[] = {"m_target", "_target", NULL};
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	uint32_t most = HEAPSHOT_GRAPH_NONE, class_index;
	const uint32_t *handlers;
	uint64_t n, i;

	*count = 0;
	memset(n_by_class, 0, leaks->n_classes * sizeof(*n_by_class));
	handlers = heapshot_graph_targets(leaks->graph, list, &n);
	for (i = 0; i < n; i++) {
		uint32_t delegate_class = heapshot_graph_class_of(leaks->graph, handlers[i]);
		uint64_t *offset = &offset_of_class[delegate_class];

		heapshot_graph_walk_begin(leaks->graph, handlers[i], &walk);
		while (heapshot_graph_walk_next(&walk, &edge)) {
			if (edge.is_ephemeron)
				continue;
			if (*offset == 0 && is_slot(leaks, delegate_class, edge.offset, names))
				*offset = edge.offset;
			if (edge.offset != *offset)
				continue;
			class_index = heapshot_graph_class_of(leaks->graph, edge.target);
			if (++n_by_class[class_index] > *count) {
				*count = n_by_class[class_index];
				most = class_index;
			}
			break;
		}
	}
	return most;
}

static int add(struct leaks *leaks, uint32_t delegate, uint32_t list, uint64_t *offset_of_class,
	       uint64_t *n_by_class)
{
	char numbers[3][TEXT_NUMBER_BYTES], place[512], share[TEXT_SHARE_BYTES], of[512] = "";
	struct leak leak = {.kind = LEAK_EVENT, .holder = delegate, .target = delegate};
	uint64_t n_common, list_bytes = heapshot_graph_retained(leaks->graph, list);
	uint32_t common;

	heapshot_graph_targets(leaks->graph, list, &leak.count);
	/* A word on a stack may hold the list as well: then the delegate has hardly anything. */
	leak.bytes = heapshot_graph_retained(leaks->graph, delegate);
	if (list_bytes > leak.bytes)
		leak.bytes = list_bytes;
	leak.score = (double)leak.bytes;
	common = most_common_target(leaks, list, &n_common, offset_of_class, n_by_class);
	/* Static methods have no target. */
	leak_set_type(leaks, &leak,
		      common != HEAPSHOT_GRAPH_NONE
			      ? common
			      : heapshot_graph_class_of(leaks->graph, delegate));
	if (common != HEAPSHOT_GRAPH_NONE && n_common == leak.count)
		snprintf(of, sizeof(of), " of %s", leak_type(&leak));
	else if (common != HEAPSHOT_GRAPH_NONE)
		snprintf(of, sizeof(of), ", %s of them of %s,", text_number(numbers[2], n_common),
			 leak_type(&leak));
	leaks_put_place(leaks, delegate, place, sizeof(place));
	return leaks_add(leaks, &leak, "%s handlers%s stay subscribed to %s, %s %s bytes (%s)",
			 text_number(numbers[0], leak.count), of, place,
			 leak.bytes == list_bytes
				 ? "whose list, which something else holds too, retains"
				 : "which retains",
			 text_number(numbers[1], leak.bytes),
			 text_share(share, leak.bytes, leaks->live_bytes));
}

int leaks_find_events(struct leaks *leaks)
{
	uint64_t *offsets = calloc(leaks->n_classes + 1, sizeof(*offsets));
	uint64_t *n_by_class = calloc(leaks->n_classes + 1, sizeof(*n_by_class));
	bool *is_delegate = calloc(leaks->n_classes + 1, sizeof(*is_delegate));
	struct heapshot_graph_counts counts;
	int status = CLI_OK;
	size_t i;

	if (offsets == NULL || n_by_class == NULL || is_delegate == NULL)
		status = cli_no_memory();
	for (i = 0; i < leaks->n_classes && status == CLI_OK; i++) {
		const struct heapshot_type *type =
			heapshot_reader_type(leaks->recording->reader, leaks->classes[i].type);

		is_delegate[i] =
			type != NULL && type->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_DELEGATE;
	}
	heapshot_graph_counts(leaks->graph, &counts);
	for (i = 0; i < counts.objects && status == CLI_OK; i++) {
		uint32_t list;

		if (!is_delegate[heapshot_graph_class_of(leaks->graph, (uint32_t)i)] ||
		    !heapshot_graph_is_live(leaks->graph, (uint32_t)i))
			continue;
		list = list_of(leaks, (uint32_t)i);
		if (list != HEAPSHOT_GRAPH_NONE)
			status = add(leaks, (uint32_t)i, list, offsets, n_by_class);
	}
	free(offsets);
	free(n_by_class);
	free(is_delegate);
	return status;
}
