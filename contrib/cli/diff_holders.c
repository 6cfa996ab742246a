/* SPDX-License-Identifier: MIT */
/*
 * Objects by what holds them.  Objects move, so that those of two snapshots cannot
 * be told to be the same; the ways to them can.  Each live object counts with one
 * shortest way, of which the root, the types and the slots are kept, without
 * addresses and indexes; ways that are equal then are one.
 *
 * A way that comes back to a type of the program goes on from where it first met
 * that type, or lists and trees would have as many ways as objects.  Types of the
 * system are not such places: a dictionary in something in a dictionary is
 * something else.  Where ways get long or many, they are.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/diff.h"
#include "contrib/cli/labels.h"
#include "contrib/cli/triples.h"

#define DEPTH_FREE 24u      /* up to here types of the system may repeat */
#define NODES_FREE 50000u   /* and as long as there are no more ways than this */
#define NODES_MAX  1000000u /* what is behind comes together by type */
#define BEHIND     "(further ways)"
#define LABEL_MAX  512

struct diff_holders {
	struct diff_holder *nodes;
	size_t n, room;
	struct triples children; /* parent, label, row -> node */
	struct labels labels;    /* the same for both sides */
	/* Of one side: type, offset of the slot (both halves) -> label + 1. */
	struct triples slots;
};

const char *diff_holder_label(const struct diff_holders *holders, uint32_t label)
{
	return holders->labels.texts[label];
}

/* ---- Ways ---- */

struct diff_holders *diff_holders_new(void)
{
	struct diff_holders *holders = calloc(1, sizeof(*holders));

	if (holders == NULL)
		return NULL;
	holders->room = 1024;
	holders->nodes = calloc(holders->room, sizeof(*holders->nodes));
	if (holders->nodes == NULL || labels_add(&holders->labels, "") == UINT32_MAX) {
		diff_holders_free(holders);
		return NULL;
	}
	holders->nodes[0].row = DIFF_NO_ROW;
	holders->n = 1;
	return holders;
}

void diff_holders_free(struct diff_holders *holders)
{
	if (holders == NULL)
		return;
	labels_free(&holders->labels);
	triples_free(&holders->children);
	triples_free(&holders->slots);
	free(holders->nodes);
	free(holders);
}

const struct diff_holder *diff_holder(const struct diff_holders *holders, uint32_t number)
{
	return &holders->nodes[number];
}

static bool is_of_system(const struct diff_row *row)
{
	const size_t length = strlen(row->key.name);

	return strncmp(row->key.name, "System.", 7) == 0 ||
	       strncmp(row->key.name, "Mono.", 5) == 0 ||
	       (length > 0 && row->key.name[length - 1] == ']');
}

/* What goes on instead of a new way to objects of ROW: one of its beginnings, or 0. */
static uint32_t find_return(const struct diff *diff, uint32_t parent, uint32_t row)
{
	const struct diff_holders *holders = diff->holders;
	uint32_t at;

	if (holders->nodes[parent].row == row)
		return parent;
	if (holders->nodes[parent].depth < DEPTH_FREE && holders->n < NODES_FREE &&
	    is_of_system(&diff->rows[row]))
		return 0;
	for (at = holders->nodes[parent].parent; at != 0; at = holders->nodes[at].parent)
		if (holders->nodes[at].row == row)
			return at;
	return 0;
}

/* The way from PARENT by the slot, or root, LABEL to objects of ROW; UINT32_MAX without memory. */
static uint32_t find_child(struct diff *diff, uint32_t parent, uint32_t label, uint32_t row)
{
	struct diff_holders *holders = diff->holders;
	uint32_t node;

	if (!triples_reserve(&holders->children))
		return UINT32_MAX;
	node = triples_find(&holders->children, parent, label, row)->value;
	if (node != 0)
		return node;
	node = row != DIFF_NO_ROW ? find_return(diff, parent, row) : 0;
	if (node == 0 && holders->n >= NODES_MAX && parent != 0 && row != DIFF_NO_ROW) {
		label = labels_add(&holders->labels, BEHIND);
		return label != UINT32_MAX ? find_child(diff, 0, label, row) : UINT32_MAX;
	}
	if (node == 0) {
		if (holders->n == holders->room) {
			struct diff_holder *nodes = realloc(
				holders->nodes, holders->room * 2 * sizeof(*holders->nodes));

			if (nodes == NULL)
				return UINT32_MAX;
			holders->nodes = nodes;
			holders->room *= 2;
		}
		node = (uint32_t)holders->n++;
		holders->nodes[node] = (struct diff_holder){
			.parent = parent,
			.label = label,
			.row = row,
			.depth = holders->nodes[parent].depth + 1,
		};
	}
	return triples_add(&holders->children, parent, label, row, node) ? node : UINT32_MAX;
}

/* ---- Objects of one side ---- */

struct side {
	struct diff *diff;
	int number;
	const struct recording *recording;
	struct heapshot_graph *graph;
	struct heapshot_graph_ways *ways;
	const struct heapshot_graph_class *classes;
	const uint32_t *row_of_class;
	uint32_t *holders; /* by node of the graph; 0: not known yet */
};

static uint32_t slot_label(const struct side *side, const struct heapshot_graph_step *step)
{
	struct diff_holders *holders = side->diff->holders;
	const uint32_t type = side->classes[heapshot_graph_class_of(side->graph, step->node)].type;
	uint64_t offset = step->offset, index = 0, inner;
	char name[HEAPSHOT_SLOT_NAME_BYTES];
	struct triple *known;
	uint32_t label;

	if (step->is_ephemeron)
		return labels_add(&holders->labels, "(ConditionalWeakTable)");
	if (heapshot_reader_element(side->recording->reader, type, offset, &index, &inner))
		offset = inner | (uint64_t)1 << 63;
	if (!triples_reserve(&holders->slots))
		return UINT32_MAX;
	known = triples_find(&holders->slots, type, (uint32_t)(offset >> 32), (uint32_t)offset);
	if (known->value != 0)
		return known->value - 1;
	heapshot_reader_slot_name(side->recording->reader, type, step->offset, name);
	graph_drop_index(name);
	label = labels_add(&holders->labels, name);
	if (label == UINT32_MAX || !triples_add(&holders->slots, type, (uint32_t)(offset >> 32),
						(uint32_t)offset, label + 1))
		return UINT32_MAX;
	return label;
}

/* The way to NODE from the one of the node before it. */
static uint32_t follow(const struct side *side, uint32_t node)
{
	struct heapshot_graph_step step;
	char text[LABEL_MAX];
	uint32_t label, row;
	bool has_way = heapshot_graph_way_before(side->ways, node, &step);

	switch (heapshot_graph_node(side->graph, node, NULL)) {
	case HEAPSHOT_NODE_SOURCE:
		graph_put_node(side->recording, side->graph, node, text, sizeof(text));
		label = labels_add(&side->diff->holders->labels, text);
		return label != UINT32_MAX ? find_child(side->diff, 0, label, DIFF_NO_ROW)
					   : UINT32_MAX;
	case HEAPSHOT_NODE_OBJECT:
		break;
	default:
		return 0;
	}
	row = side->row_of_class[heapshot_graph_class_of(side->graph, node)];
	if (row == DIFF_NO_ROW)
		return UINT32_MAX;
	if (!has_way)
		return find_child(side->diff, 0, 0, row);
	label = 0;
	if (graph_is_object(side->graph, step.node))
		label = slot_label(side, &step);
	return label != UINT32_MAX ? find_child(side->diff, side->holders[step.node], label, row)
				   : UINT32_MAX;
}

/* Finds the ways of NODE and of all that lies before it. */
static bool resolve(const struct side *side, uint32_t node, struct graph_nodes *stack)
{
	struct heapshot_graph_step step = {.node = node};

	stack->n = 0;
	do {
		if (side->holders[step.node] != 0 ||
		    heapshot_graph_node(side->graph, step.node, NULL) == HEAPSHOT_NODE_KIND)
			break;
		node = step.node;
		if (!graph_nodes_push(stack, node))
			return false;
	} while (heapshot_graph_way_before(side->ways, node, &step));
	while (stack->n > 0) {
		uint32_t found;

		node = stack->list[--stack->n];
		found = follow(side, node);
		if (found == UINT32_MAX)
			return false;
		side->holders[node] = found;
	}
	return true;
}

static bool add_objects(const struct side *side)
{
	struct graph_nodes stack = {0};
	struct heapshot_graph_counts counts;
	uint32_t i;

	heapshot_graph_counts(side->graph, &counts);
	for (i = 0; i < counts.objects; i++) {
		struct diff_values *values;

		if (side->holders[i] == 0 && !resolve(side, i, &stack)) {
			free(stack.list);
			return false;
		}
		values = &side->diff->holders->nodes[side->holders[i]].sides[side->number];
		values->of[DIFF_COUNT]++;
		values->of[DIFF_BYTES] += heapshot_graph_size(side->graph, i);
	}
	free(stack.list);
	return true;
}

int diff_holders_add(struct diff *diff, int side_number, struct heapshot_graph *graph,
		     const uint32_t *row_of_class)
{
	struct heapshot_graph_counts counts;
	struct side side = {
		.diff = diff,
		.number = side_number,
		.recording = &diff->recordings[side_number],
		.graph = graph,
		.row_of_class = row_of_class,
	};
	size_t n;
	int status = recording_check(&diff->recordings[side_number],
				     heapshot_graph_ways_new(graph, NULL, &side.ways));

	if (status != CLI_OK)
		return status;
	heapshot_graph_counts(graph, &counts);
	side.classes = heapshot_graph_classes(graph, &n);
	side.holders = calloc((size_t)counts.nodes + 1, sizeof(*side.holders));
	/* Types have other ids in another file. */
	triples_free(&diff->holders->slots);
	if (side.holders == NULL || !add_objects(&side)) {
		status = cli_no_memory();
	}
	free(side.holders);
	heapshot_graph_ways_free(side.ways);
	return status;
}

/* ---- Which are shown ---- */

static const struct diff_holders *sorted; /* for the comparisons below */
static enum diff_field sorted_by;

static int compare_field(const struct diff_holder *a, const struct diff_holder *b,
			 enum diff_field field)
{
	int64_t left = diff_change(a->sides[DIFF_BEFORE].of[field], a->sides[DIFF_AFTER].of[field]);
	int64_t right =
		diff_change(b->sides[DIFF_BEFORE].of[field], b->sides[DIFF_AFTER].of[field]);

	return (left < right) - (left > right);
}

static int by_growth(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_field(&sorted->nodes[a], &sorted->nodes[b], sorted_by);

	if (order == 0)
		order = compare_field(&sorted->nodes[a], &sorted->nodes[b],
				      sorted_by == DIFF_BYTES ? DIFF_COUNT : DIFF_BYTES);
	return order != 0 ? order : (a > b) - (a < b);
}

uint32_t *diff_holders_choose(const struct diff *diff, size_t *n)
{
	const struct diff_holders *holders = diff->holders;
	const char *sort = diff->arguments->sort;
	uint32_t *chosen = calloc(holders->n, sizeof(*chosen)), i;

	*n = 0;
	if (chosen == NULL)
		return NULL;
	for (i = 0; i < holders->n; i++) {
		const struct diff_holder *node = &holders->nodes[i];

		if (node->row != DIFF_NO_ROW && diff_is_wanted(diff, &diff->rows[node->row]) &&
		    memcmp(&node->sides[DIFF_BEFORE], &node->sides[DIFF_AFTER],
			   sizeof(*node->sides)) != 0)
			chosen[(*n)++] = i;
	}
	sorted = holders;
	sorted_by = sort != NULL && strcmp(sort, "count") == 0 ? DIFF_COUNT : DIFF_BYTES;
	qsort(chosen, *n, sizeof(*chosen), by_growth);
	return chosen;
}
