/* SPDX-License-Identifier: MIT */
/*
 * heapshot retained: the upper part of the tree of dominators.  Nodes that retain
 * less than a share of all are left out; of the others those that retain the most
 * are shown, each below what dominates it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/cli/retained.h"
#include "contrib/cli/text.h"

#define ROWS_OF_TREE  16
#define JSON_TREE     200
#define DEFAULT_SHARE 1 /* per cent */

struct branch {
	uint32_t node;
	uint32_t n_alike; /* nodes between it and its children, of the same type */
	uint32_t last;    /* the last of those, or NODE: whose children are its children */
	uint32_t depth;
	size_t first_child, last_child, next; /* branches; 0: none, since 0 is the root node */
	size_t parent;
};

struct tree {
	const struct retained *retained;
	uint64_t least; /* bytes */
	struct branch *branches;
	size_t n, room;
	size_t *heap; /* branches whose children are not there yet; the largest first */
	size_t n_heap;
};

static uint64_t bytes_of(const struct tree *tree, size_t branch)
{
	return heapshot_graph_retained(tree->retained->graph, tree->branches[branch].node);
}

/* Of equal ones the first: what dominates comes before what is dominated. */
static bool is_before(const struct tree *tree, size_t a, size_t b)
{
	uint64_t bytes_a = bytes_of(tree, a), bytes_b = bytes_of(tree, b);

	return bytes_a != bytes_b ? bytes_a > bytes_b : a < b;
}

/* The only child of NODE that is large enough, if it is of the same type; else NONE. */
static uint32_t only_child_alike(const struct tree *tree, uint32_t node)
{
	const struct heapshot_graph *graph = tree->retained->graph;
	uint32_t only = HEAPSHOT_GRAPH_NONE, child;

	if (!graph_is_object(graph, node))
		return HEAPSHOT_GRAPH_NONE;
	for (child = heapshot_graph_first_child(graph, node); child != HEAPSHOT_GRAPH_NONE;
	     child = heapshot_graph_next_child(graph, child)) {
		if (heapshot_graph_retained(graph, child) < tree->least)
			continue;
		if (only != HEAPSHOT_GRAPH_NONE)
			return HEAPSHOT_GRAPH_NONE;
		only = child;
	}
	if (only != HEAPSHOT_GRAPH_NONE &&
	    heapshot_graph_class_of(graph, only) != heapshot_graph_class_of(graph, node))
		return HEAPSHOT_GRAPH_NONE;
	return only;
}

static bool add_branch(struct tree *tree, uint32_t node, size_t parent)
{
	struct branch branch = {.node = node, .last = node, .parent = parent};
	uint32_t next;
	size_t at;

	if (tree->n == tree->room) {
		size_t room = tree->room ? tree->room * 2 : 256;
		struct branch *branches = reallocarray(tree->branches, room, sizeof(*branches));
		size_t *heap =
			branches != NULL ? reallocarray(tree->heap, room, sizeof(*heap)) : NULL;

		if (branches != NULL)
			tree->branches = branches;
		if (heap == NULL)
			return false;
		tree->heap = heap;
		tree->room = room;
	}
	/* A list of a million links is one row. */
	while ((next = only_child_alike(tree, branch.last)) != HEAPSHOT_GRAPH_NONE) {
		branch.last = next;
		branch.n_alike++;
	}
	tree->branches[tree->n++] = branch;
	for (at = tree->n_heap++; at > 0 && is_before(tree, tree->n - 1, tree->heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		tree->heap[at] = tree->heap[(at - 1) / 2];
	tree->heap[at] = tree->n - 1;
	return true;
}

static size_t pop(struct tree *tree)
{
	size_t first = tree->heap[0], last = tree->heap[--tree->n_heap], at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= tree->n_heap)
			break;
		if (child + 1 < tree->n_heap &&
		    is_before(tree, tree->heap[child + 1], tree->heap[child]))
			child++;
		if (!is_before(tree, tree->heap[child], last))
			break;
		tree->heap[at] = tree->heap[child];
		at = child;
	}
	tree->heap[at] = last;
	return first;
}

/* Hangs BRANCH into the tree, behind its larger sisters. */
static void hang(struct tree *tree, size_t branch)
{
	struct branch *at = &tree->branches[branch], *parent = &tree->branches[at->parent];

	if (branch == 0)
		return;
	at->depth = parent->depth + 1;
	if (parent->first_child == 0)
		parent->first_child = branch;
	else
		tree->branches[parent->last_child].next = branch;
	parent->last_child = branch;
}

/* Adds at most LIMIT branches; *is_cut: there were more that are large enough. */
static bool grow(struct tree *tree, size_t limit, bool *is_cut)
{
	const struct heapshot_graph *graph = tree->retained->graph;
	size_t n = 0;

	if (!add_branch(tree, heapshot_graph_root_node(graph), 0))
		return false;
	for (; tree->n_heap > 0 && n < limit; n++) {
		size_t branch = pop(tree);
		uint32_t child;

		hang(tree, branch);
		for (child = heapshot_graph_first_child(graph, tree->branches[branch].last);
		     child != HEAPSHOT_GRAPH_NONE; child = heapshot_graph_next_child(graph, child))
			if (heapshot_graph_retained(graph, child) >= tree->least &&
			    !add_branch(tree, child, branch))
				return false;
	}
	*is_cut = tree->n_heap > 0;
	return true;
}

static void put_branch(const struct tree *tree, const struct branch *branch, struct json *json)
{
	const struct retained *retained = tree->retained;
	uint64_t bytes = heapshot_graph_retained(retained->graph, branch->node);
	char number[TEXT_NUMBER_BYTES], share[TEXT_SHARE_BYTES], text[512];

	if (json != NULL) {
		json_begin(json, '{');
		json_put_unsigned(json, "depth", branch->depth);
		graph_node_json(json, retained->recording, retained->graph, branch->node);
		json_put_unsigned(json, "alike", branch->n_alike);
		json_put_unsigned(json, "retained", bytes);
		json_end(json, '}');
		return;
	}
	graph_put_node(retained->recording, retained->graph, branch->node, text, sizeof(text));
	printf("%17s %8s  %*s", text_number(number, bytes),
	       text_share(share, bytes, retained->live_bytes), (int)(2 * branch->depth), "");
	text_put_masked(stdout, text);
	if (branch->n_alike > 0)
		printf(" and %s alike below it", text_number(number, branch->n_alike));
	putchar('\n');
}

static void put_tree(const struct tree *tree, struct json *json)
{
	size_t at = 0;

	for (;;) {
		const struct branch *branch = &tree->branches[at];

		put_branch(tree, branch, json);
		if (branch->first_child != 0) {
			at = branch->first_child;
			continue;
		}
		while (at != 0 && tree->branches[at].next == 0)
			at = tree->branches[at].parent;
		if (at == 0)
			return;
		at = tree->branches[at].next;
	}
}

int retained_tree(const struct retained *retained, struct json *json)
{
	const struct cli_arguments *arguments = retained->arguments;
	uint64_t share = arguments->has_share ? arguments->share : DEFAULT_SHARE;
	struct tree tree = {.retained = retained};
	bool is_cut = false, is_done;

	tree.least = (uint64_t)((double)retained->live_bytes * (double)share / 100);
	if (tree.least == 0)
		tree.least = 1;
	is_done = grow(&tree, cli_limit(retained->arguments, ROWS_OF_TREE, JSON_TREE), &is_cut);
	if (is_done && json != NULL) {
		json_key(json, "tree");
		json_begin_rows(json);
		put_tree(&tree, json);
		json_end(json, ']');
	} else if (is_done) {
		printf("\nWHAT DOMINATES, from %" PRIu64 " %% of all on\n", share);
		put_tree(&tree, NULL);
		if (is_cut)
			puts("... and more (--limit 0 shows all)");
	}
	free(tree.branches);
	free(tree.heap);
	return is_done ? CLI_OK : cli_no_memory();
}
