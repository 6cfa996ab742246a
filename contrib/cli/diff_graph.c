/* SPDX-License-Identifier: MIT */
/*
 * What needs the graph of a snapshot: retained sizes of types and of checks, and
 * what holds the objects.
 */
#include <stdlib.h>

#include "contrib/cli/diff.h"

static int sum_rows(struct diff *diff, int side, const struct heapshot_graph *graph,
		    const uint32_t *row_of_class)
{
	struct heapshot_graph_sum *sums = calloc(diff->n_rows + 1, sizeof(*sums));
	size_t i;

	if (sums == NULL ||
	    heapshot_graph_sums(graph, row_of_class, diff->n_rows, sums) != HEAPSHOT_READ_OK) {
		free(sums);
		return cli_no_memory();
	}
	for (i = 0; i < diff->n_rows; i++)
		diff->rows[i].sides[side].of[DIFF_RETAINED] = sums[i].retained;
	free(sums);
	diff->sums[side].of[DIFF_RETAINED] =
		heapshot_graph_retained(graph, heapshot_graph_root_node(graph));
	return CLI_OK;
}

/* All types of a check are one group, so that nothing in it counts twice. */
static int sum_checks(struct diff *diff, int side, const struct heapshot_graph *graph,
		      const uint32_t *row_of_class, size_t n_classes)
{
	uint32_t *groups = calloc(n_classes + 1, sizeof(*groups));
	size_t i, k;

	for (i = 0; groups != NULL && i < diff->n_checks; i++) {
		struct diff_check *check = &diff->checks[i];
		struct heapshot_graph_sum sum;

		if (check->field != DIFF_RETAINED)
			continue;
		for (k = 0; k < n_classes; k++)
			groups[k] =
				row_of_class[k] != DIFF_NO_ROW &&
						diff_is_checked(check, &diff->rows[row_of_class[k]])
					? 0
					: HEAPSHOT_GRAPH_NONE;
		if (heapshot_graph_sums(graph, groups, 1, &sum) != HEAPSHOT_READ_OK) {
			free(groups);
			return cli_no_memory();
		}
		check->sides[side].of[DIFF_RETAINED] = sum.retained;
	}
	free(groups);
	return groups != NULL ? CLI_OK : cli_no_memory();
}

static int read_graph(struct diff *diff, int side, struct heapshot_graph *graph)
{
	struct recording *recording = &diff->recordings[side];
	size_t n, i;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(graph, &n);
	uint32_t *row_of_class = calloc(n + 1, sizeof(*row_of_class));
	int status = CLI_OK;

	if (row_of_class == NULL)
		return cli_no_memory();
	for (i = 0; i < n; i++)
		row_of_class[i] = diff_find_row(diff, side, classes[i].type);
	if (diff->with_retained)
		status = recording_check(recording, heapshot_graph_dominate(graph));
	if (status == CLI_OK && diff->with_retained)
		status = sum_rows(diff, side, graph, row_of_class);
	if (status == CLI_OK && diff->with_retained)
		status = sum_checks(diff, side, graph, row_of_class, n);
	if (status == CLI_OK && diff->holders != NULL)
		status = diff_holders_add(diff, side, graph, row_of_class);
	free(row_of_class);
	return status;
}

int diff_read_graph(struct diff *diff, int side)
{
	struct heapshot_graph *graph;
	int status = graph_open(&diff->recordings[side], diff->arguments, &graph);

	if (status == CLI_OK)
		status = read_graph(diff, side, graph);
	heapshot_graph_free(graph);
	return status;
}
