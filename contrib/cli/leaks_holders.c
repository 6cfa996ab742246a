/* SPDX-License-Identifier: MIT */
/*
 * Where objects accumulate: nodes of the dominator tree below which much hangs in
 * many small parts.  The tree is gone down along its large parts; a node is told
 * when its small parts together are large.  A large part of the node's own class
 * makes it a list or tree, which is told at its top.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/leaks.h"

/* Fewer are parts of something, not a heap of things. */
#define PARTS_MIN 16

/* The most common class of the small parts below NODE; N_BY_CLASS is all 0, and is again. */
static uint32_t common_class(const struct leaks *leaks, uint32_t node, uint64_t *n_by_class,
			     uint64_t *count, uint32_t *one)
{
	uint32_t child, class_index, most = 0;

	*count = 0;
	for (child = heapshot_graph_first_child(leaks->graph, node); child != HEAPSHOT_GRAPH_NONE;
	     child = heapshot_graph_next_child(leaks->graph, child)) {
		if (!graph_is_object(leaks->graph, child) ||
		    heapshot_graph_retained(leaks->graph, child) >= leaks->threshold)
			continue;
		class_index = heapshot_graph_class_of(leaks->graph, child);
		if (++n_by_class[class_index] > *count) {
			*count = n_by_class[class_index];
			most = class_index;
			*one = child;
		}
	}
	for (child = heapshot_graph_first_child(leaks->graph, node); child != HEAPSHOT_GRAPH_NONE;
	     child = heapshot_graph_next_child(leaks->graph, child))
		if (graph_is_object(leaks->graph, child))
			n_by_class[heapshot_graph_class_of(leaks->graph, child)] = 0;
	return most;
}

static int add_holder(struct leaks *leaks, uint32_t node, uint64_t n_parts, uint64_t *n_by_class)
{
	char numbers[4][TEXT_NUMBER_BYTES], what[512], parts[512], share[TEXT_SHARE_BYTES];
	struct leak leak = {.kind = LEAK_HOLDER, .holder = node, .target = node, .count = n_parts};
	uint64_t n_common, capacity;
	uint32_t common, one = node;

	leak.bytes = heapshot_graph_retained(leaks->graph, node);
	leak.score = (double)leak.bytes;
	common = common_class(leaks, node, n_by_class, &n_common, &one);
	leak_set_type(leaks, &leak, common);
	if (!graph_is_object(leaks->graph, node)) {
		leak.target = one;
		leak.is_merged = true;
		graph_put_node(leaks->recording, leaks->graph, node, what, sizeof(what));
	} else if (leaks_is_array(leaks, node, &capacity)) {
		char place[480];

		leak.kind = LEAK_COLLECTION;
		leaks_put_place(leaks, node, place, sizeof(place));
		snprintf(what, sizeof(what), "the array in %s", place);
	} else {
		char unnamed[32];

		snprintf(what, sizeof(what), "one %s",
			 leaks_class_name(leaks, heapshot_graph_class_of(leaks->graph, node),
					  unnamed));
	}
	if (n_common == n_parts)
		snprintf(parts, sizeof(parts), " %s", leak_type(&leak));
	else
		snprintf(parts, sizeof(parts), ", %s of them %s,",
			 text_number(numbers[1], n_common), leak_type(&leak));
	return leaks_add(leaks, &leak, "%s objects%s hang on %s, which retains %s bytes (%s)",
			 text_number(numbers[0], n_parts), parts, what,
			 text_number(numbers[2], leak.bytes),
			 text_share(share, leak.bytes, leaks->live_bytes));
}

/* Objects of the class of TOP that it dominates, itself too. */
static uint64_t count_alike(const struct leaks *leaks, uint32_t top)
{
	uint32_t class_index = heapshot_graph_class_of(leaks->graph, top), node = top, next;
	uint64_t n = 0;

	for (;;) {
		n += heapshot_graph_class_of(leaks->graph, node) == class_index;
		next = heapshot_graph_first_child(leaks->graph, node);
		while (next == HEAPSHOT_GRAPH_NONE && node != top) {
			next = heapshot_graph_next_child(leaks->graph, node);
			node = heapshot_graph_dominator(leaks->graph, node);
		}
		if (next == HEAPSHOT_GRAPH_NONE)
			return n;
		node = next;
	}
}

static int add_structure(struct leaks *leaks, uint32_t node)
{
	char numbers[2][TEXT_NUMBER_BYTES], place[512], share[TEXT_SHARE_BYTES];
	struct leak leak = {.kind = LEAK_STRUCTURE, .holder = node, .target = node};

	leak.count = count_alike(leaks, node);
	leak.bytes = heapshot_graph_retained(leaks->graph, node);
	leak.score = (double)leak.bytes;
	leak_set_type(leaks, &leak, heapshot_graph_class_of(leaks->graph, node));
	leaks_put_place(leaks, node, place, sizeof(place));
	return leaks_add(leaks, &leak,
			 "%s objects %s hang on one another below %s; they retain %s bytes (%s)",
			 text_number(numbers[0], leak.count), leak_type(&leak), place,
			 text_number(numbers[1], leak.bytes),
			 text_share(share, leak.bytes, leaks->live_bytes));
}

/* Handles are told by a detector of their own. */
static bool is_handles(const struct leaks *leaks, uint32_t node)
{
	const struct heapshot_graph_source *sources;
	uint32_t index;
	size_t n;

	if (heapshot_graph_node(leaks->graph, node, &index) != HEAPSHOT_NODE_SOURCE)
		return false;
	sources = heapshot_graph_sources(leaks->graph, &n);
	return strcmp(heapshot_root_kind_name(sources[index].source.kind), "gc_handle") == 0;
}

static int visit(struct leaks *leaks, uint32_t node, struct graph_nodes *nodes,
		 uint64_t *n_by_class)
{
	enum heapshot_graph_node_kind kind = heapshot_graph_node(leaks->graph, node, NULL);
	uint64_t small = 0, n_small = 0, retained;
	size_t n_before = nodes->n;
	bool is_structure = false;
	uint32_t child;

	for (child = heapshot_graph_first_child(leaks->graph, node); child != HEAPSHOT_GRAPH_NONE;
	     child = heapshot_graph_next_child(leaks->graph, child)) {
		retained = heapshot_graph_retained(leaks->graph, child);
		if (retained < leaks->threshold) {
			small += retained;
			n_small++;
			continue;
		}
		if (!graph_nodes_push(nodes, child))
			return cli_no_memory();
		if (kind == HEAPSHOT_NODE_OBJECT && graph_is_object(leaks->graph, child) &&
		    heapshot_graph_class_of(leaks->graph, node) ==
			    heapshot_graph_class_of(leaks->graph, child))
			is_structure = true;
	}
	if (is_structure) {
		nodes->n = n_before;
		return add_structure(leaks, node);
	}
	if (small < leaks->threshold || n_small < PARTS_MIN || kind == HEAPSHOT_NODE_ROOT ||
	    kind == HEAPSHOT_NODE_KIND || is_handles(leaks, node) || leaks_is_told(leaks, node))
		return CLI_OK;
	return add_holder(leaks, node, n_small, n_by_class);
}

int leaks_find_holders(struct leaks *leaks)
{
	uint64_t *n_by_class = calloc(leaks->n_classes + 1, sizeof(*n_by_class));
	struct graph_nodes nodes = {0};
	int status = CLI_OK;

	if (n_by_class == NULL || !graph_nodes_push(&nodes, heapshot_graph_root_node(leaks->graph)))
		status = cli_no_memory();
	while (status == CLI_OK && nodes.n > 0)
		status = visit(leaks, nodes.list[--nodes.n], &nodes, n_by_class);
	free(n_by_class);
	free(nodes.list);
	return status;
}
