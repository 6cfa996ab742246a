/* SPDX-License-Identifier: MIT */
/*
 * The tree that treemap and flame graph show: the merged tree of dominators of
 * contrib/export/flame.h, without what is too small or too deep.
 */
#include <stdlib.h>

#include "contrib/cli/report.h"
#include "contrib/export/flame.h"

struct sum {
	uint64_t objects, retained;
	uint32_t number, place;
};

/* A node retains no less than those below it, and stands before them. */
static int by_retained(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	if (a->retained != b->retained)
		return a->retained < b->retained ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

static struct sum *sum_up(const struct flame *flame)
{
	struct sum *sums = calloc(flame->n, sizeof(*sums));
	size_t i;

	if (sums == NULL)
		return NULL;
	for (i = 0; i < flame->n; i++) {
		sums[i].objects = flame->nodes[i].objects;
		sums[i].retained = flame->nodes[i].bytes;
		sums[i].number = (uint32_t)i;
	}
	for (i = flame->n - 1; i > 0; i--) {
		sums[flame->nodes[i].parent].objects += sums[i].objects;
		sums[flame->nodes[i].parent].retained += sums[i].retained;
	}
	return sums;
}

/* Moves what is shown to the front, the largest first; returns how many. */
static size_t choose(const struct flame *flame, struct sum *sums)
{
	uint64_t least = (uint64_t)((double)sums[0].retained * REPORT_SHARE);
	size_t n = 1, i;

	if (least == 0)
		least = 1;
	for (i = 1; i < flame->n; i++)
		if (sums[i].retained >= least && flame->nodes[i].depth <= REPORT_DEPTH)
			sums[n++] = sums[i];
	qsort(sums + 1, n - 1, sizeof(*sums), by_retained);
	return n < REPORT_NODES ? n : REPORT_NODES;
}

static bool keep(struct report *report, struct report_snapshot *snapshot, const struct flame *flame,
		 const struct sum *sums, size_t n)
{
	uint32_t *places = calloc(flame->n, sizeof(*places));
	size_t i;

	snapshot->nodes = calloc(n, sizeof(*snapshot->nodes));
	for (i = 0; places != NULL && snapshot->nodes != NULL && i < n; i++) {
		const struct flame_node *node = &flame->nodes[sums[i].number];
		uint32_t name = report_name(report, flame->names.texts[node->name]);

		if (name == UINT32_MAX)
			break;
		places[sums[i].number] = (uint32_t)i;
		snapshot->nodes[snapshot->n_nodes++] = (struct report_node){
			.parent = places[node->parent],
			.name = name,
			.objects = node->objects,
			.bytes = node->bytes,
			.all_objects = sums[i].objects,
			.retained = sums[i].retained,
		};
	}
	free(places);
	return snapshot->n_nodes == n;
}

int report_read_tree(struct report *report, struct report_snapshot *snapshot,
		     struct heapshot_graph *graph)
{
	struct export export = {
		.reader = snapshot->recording->reader,
		.snapshot = snapshot->snapshot,
		.graph = graph,
	};
	struct flame flame;
	struct sum *sums = NULL;
	bool is_good = flame_make(&flame, &export);

	if (is_good)
		sums = sum_up(&flame);
	is_good = sums != NULL && keep(report, snapshot, &flame, sums, choose(&flame, sums));
	free(sums);
	flame_free(&flame);
	return is_good ? CLI_OK : cli_no_memory();
}
