/* SPDX-License-Identifier: MIT */
/*
 * The whole tree of retained sizes, node by node: the report has only what is large.
 */
#include <stdlib.h>

#include <emscripten.h>

#include "contrib/export/flame.h"
#include "contrib/wasm/reader_host.h"

/* Of one node; what is left out counts as others. */
#define CHILDREN_MAX 2000

struct child {
	uint64_t retained;
	uint32_t node;
};

static struct tree {
	const struct report_snapshot *of;
	struct flame flame;
	uint64_t *objects, *retained; /* by node, with all below */
	uint32_t *first;              /* by node: place of its children in the list */
	struct child *children;       /* of each, the largest first */
} tree;

static void drop(void)
{
	flame_free(&tree.flame);
	free(tree.objects);
	free(tree.retained);
	free(tree.first);
	free(tree.children);
	tree = (struct tree){0};
}

/* As in a report. */
static int by_retained(const void *left, const void *right)
{
	const struct child *a = left, *b = right;

	if (a->retained != b->retained)
		return a->retained < b->retained ? 1 : -1;
	return (a->node > b->node) - (a->node < b->node);
}

static void sum_up(void)
{
	const struct flame *flame = &tree.flame;
	size_t i;

	for (i = 0; i < flame->n; i++) {
		tree.objects[i] = flame->nodes[i].objects;
		tree.retained[i] = flame->nodes[i].bytes;
	}
	for (i = flame->n - 1; i > 0; i--) {
		tree.objects[flame->nodes[i].parent] += tree.objects[i];
		tree.retained[flame->nodes[i].parent] += tree.retained[i];
	}
}

static void list_children(void)
{
	const struct flame *flame = &tree.flame;
	size_t i;

	for (i = 1; i < flame->n; i++)
		tree.first[flame->nodes[i].parent + 1]++;
	for (i = 0; i < flame->n; i++)
		tree.first[i + 1] += tree.first[i];
	/* From the last one on, so that each moves its parent's end to its begin. */
	for (i = flame->n - 1; i > 0; i--) {
		uint32_t *end = &tree.first[flame->nodes[i].parent + 1];

		tree.children[--*end] = (struct child){tree.retained[i], (uint32_t)i};
	}
	for (i = 0; i < flame->n; i++)
		tree.first[i] = tree.first[i + 1];
	tree.first[flame->n] = (uint32_t)flame->n - 1;
	for (i = 0; i < flame->n; i++)
		if (tree.first[i + 1] > tree.first[i] + 1)
			qsort(tree.children + tree.first[i], tree.first[i + 1] - tree.first[i],
			      sizeof(*tree.children), by_retained);
}

static int make_tree(uint32_t snapshot)
{
	struct report_snapshot *of = reader_snapshot(snapshot);
	struct export export = {.progress = NULL};
	int status;

	if (of == NULL)
		return CLI_NOT_FOUND;
	if (tree.of == of)
		return CLI_OK;
	drop();
	status = report_keep_graph(&reader_report, of);
	if (status != CLI_OK)
		return status;
	export.reader = of->recording->reader;
	export.snapshot = of->snapshot;
	export.graph = reader_report.kept.graph;
	if (!flame_make(&tree.flame, &export))
		return cli_no_memory();
	tree.objects = calloc(tree.flame.n, sizeof(*tree.objects));
	tree.retained = calloc(tree.flame.n, sizeof(*tree.retained));
	tree.first = calloc(tree.flame.n + 1, sizeof(*tree.first));
	tree.children = calloc(tree.flame.n, sizeof(*tree.children));
	if (tree.objects == NULL || tree.retained == NULL || tree.first == NULL ||
	    tree.children == NULL) {
		drop();
		return cli_no_memory();
	}
	sum_up();
	list_children();
	tree.of = of;
	return CLI_OK;
}

static void put_node(struct json *json, uint32_t node)
{
	const struct flame *flame = &tree.flame;

	json_begin(json, '{');
	json_put_unsigned(json, "node", node);
	json_put_text(json, "name", flame->names.texts[flame->nodes[node].name]);
	json_put_unsigned(json, "objects", flame->nodes[node].objects);
	json_put_unsigned(json, "bytes", flame->nodes[node].bytes);
	json_put_unsigned(json, "all_objects", tree.objects[node]);
	json_put_unsigned(json, "retained", tree.retained[node]);
	json_put_unsigned(json, "children", tree.first[node + 1] - tree.first[node]);
	json_end(json, '}');
}

EMSCRIPTEN_KEEPALIVE int reader_children(uint32_t snapshot, uint32_t node)
{
	struct json json = {0};
	uint32_t i;
	int status = make_tree(snapshot);

	if (status != CLI_OK)
		return status;
	if (node >= tree.flame.n) {
		cli_message("there is no node %u", node);
		return CLI_NOT_FOUND;
	}
	json.out = reader_answer();
	if (json.out == NULL)
		return CLI_IO;
	json_begin(&json, '[');
	for (i = tree.first[node]; i < tree.first[node + 1] && i - tree.first[node] < CHILDREN_MAX;
	     i++)
		put_node(&json, tree.children[i].node);
	json_end(&json, ']');
	return reader_answered(json.out, CLI_OK);
}
