/* SPDX-License-Identifier: MIT */
/*
 * The view of one object: what it would go with, its fields, what refers to it,
 * its roots, and a path from a root.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/most.h"
#include "contrib/cli/object.h"
#include "contrib/cli/text.h"
#include "contrib/cli/tui.h"

/* References that are looked at to find the slots by which others refer to the object. */
#define LOOKS_MAX 10000000

static int put_heads(struct tui *tui, const struct heapshot_graph_object *facts, const char *type)
{
	struct tui_table *table = &tui->table;
	const uint32_t object = heapshot_graph_find(tui->graph, facts->address);
	const uint64_t retained = heapshot_graph_retained(tui->graph, object);
	char numbers[2][TEXT_NUMBER_BYTES], share[TEXT_SHARE_BYTES];
	struct object_details details;
	int status;

	snprintf(table->title, sizeof(table->title), "0x%" PRIx64 ", %.200s", facts->address, type);
	snprintf(table->heads[0], sizeof(table->heads[0]),
		 "%s bytes, retains %s (%s of what lives)%s", text_number(numbers[0], facts->size),
		 text_number(numbers[1], retained), text_share(share, retained, tui->live_bytes),
		 facts->flags & HEAPSHOT_GRAPH_LIVE ? "" : "; no root leads to it");
	/* Texts are looked for in all of the snapshot. */
	if (strcmp(type, "System.String") != 0)
		return CLI_OK;
	status = object_read_details(&tui->recording, facts->address, &details);
	if (status == CLI_OK && details.text != NULL)
		object_quote(details.text, details.text_bytes, details.is_cut, 160, table->heads[1],
			     sizeof(table->heads[1]));
	free(details.text);
	return status;
}

static bool put_fields(struct tui *tui, uint32_t object, const struct heapshot_graph_object *facts)
{
	struct object_slot *slots;
	char title[128], numbers[2][TEXT_NUMBER_BYTES];
	bool is_done = true;
	size_t n, i;

	slots = object_slots(&tui->recording, tui->graph, object, TUI_ROWS_MAX, &n);
	if (slots == NULL)
		return false;
	snprintf(title, sizeof(title), "Fields and elements");
	if (facts->n_references > TUI_ROWS_MAX && n >= TUI_ROWS_MAX)
		snprintf(title, sizeof(title), "Fields and elements: the first %s of %s references",
			 text_number(numbers[0], TUI_ROWS_MAX),
			 text_number(numbers[1], facts->n_references));
	if (n > 0)
		is_done = tui_add_section(&tui->table, title);
	for (i = 0; i < n && i < TUI_ROWS_MAX && is_done; i++) {
		if (slots[i].target != HEAPSHOT_GRAPH_NONE)
			is_done = tui_add_node(tui, slots[i].name, slots[i].target);
		else
			is_done = tui_add_named(&tui->table, slots[i].name, "-",
						(struct tui_place){0}) != NULL;
	}
	free(slots);
	return is_done;
}

/* The name of the slot by which REFERRER refers to OBJECT; "" when that was not found in LOOKS. */
static void find_slot(const struct tui *tui, uint32_t referrer, uint32_t object, uint64_t *looks,
		      char *name)
{
	size_t n;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(tui->graph, &n);
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;

	*name = '\0';
	heapshot_graph_walk_begin(tui->graph, referrer, &walk);
	while (*looks > 0 && heapshot_graph_walk_next(&walk, &edge)) {
		--*looks;
		if (edge.target != object || edge.is_ephemeron)
			continue;
		heapshot_reader_slot_name(
			tui->recording.reader,
			classes[heapshot_graph_class_of(tui->graph, referrer)].type, edge.offset,
			name);
		return;
	}
}

static bool put_referrers(struct tui *tui, uint32_t object)
{
	uint64_t n, i, n_all = 0, looks = LOOKS_MAX;
	const uint32_t *referrers = heapshot_graph_referrers(tui->graph, object, &n);
	char name[HEAPSHOT_SLOT_NAME_BYTES], title[128], numbers[2][TEXT_NUMBER_BYTES];
	struct most most;
	bool is_done = true;
	size_t k;

	if (n == 0)
		return true;
	if (!most_begin(&most, tui->graph, TUI_ROWS_MAX))
		return false;
	for (i = 0; i < n; i++) {
		if (i > 0 && referrers[i] == referrers[i - 1])
			continue;
		n_all++;
		most_offer(&most, referrers[i]);
	}
	most_sort(&most);
	snprintf(title, sizeof(title), "Referred to by");
	if (most.n < n_all)
		snprintf(title, sizeof(title), "Referred to by %s objects: the %s that retain most",
			 text_number(numbers[0], n_all), text_number(numbers[1], most.n));
	is_done = tui_add_section(&tui->table, title);
	for (k = 0; k < most.n && is_done; k++) {
		find_slot(tui, most.objects[k], object, &looks, name);
		is_done = tui_add_node(tui, name, most.objects[k]);
	}
	free(most.objects);
	return is_done;
}

static bool put_roots(struct tui *tui, uint32_t object)
{
	size_t n, i;
	const struct heapshot_graph_root *roots = heapshot_graph_roots_of(tui->graph, object, &n);
	uint32_t before = HEAPSHOT_GRAPH_NONE;
	bool is_done = n == 0 || tui_add_section(&tui->table, "Roots");

	for (i = 0; i < n && i < TUI_ROWS_MAX && is_done; i++) {
		if (roots[i].source != before)
			is_done = tui_add_node(
				tui, NULL, heapshot_graph_source_node(tui->graph, roots[i].source));
		before = roots[i].source;
	}
	return is_done;
}

static bool put_dominator(struct tui *tui, uint32_t object)
{
	const uint32_t dominator = heapshot_graph_dominator(tui->graph, object);

	if (dominator == HEAPSHOT_GRAPH_NONE)
		return true;
	return tui_add_section(&tui->table, "Dominated by") && tui_add_node(tui, NULL, dominator);
}

/* The steps of the shortest path; of long ones both ends. */
static bool put_steps(struct tui *tui, uint32_t object)
{
	size_t n_classes, i;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(tui->graph, &n_classes);
	struct path_steps steps = {0};
	char name[HEAPSHOT_SLOT_NAME_BYTES], text[64], number[TEXT_NUMBER_BYTES];
	bool is_done = path_find(&tui->path, object, &steps);

	for (i = 0; i < steps.n && is_done; i++) {
		const struct heapshot_graph_step *step = &steps.list[i];

		if (i == TUI_ROWS_MAX / 2 && steps.n > TUI_ROWS_MAX) {
			snprintf(text, sizeof(text), "... %s more ...",
				 text_number(number, steps.n - TUI_ROWS_MAX));
			is_done = tui_add_named(&tui->table, NULL, text, (struct tui_place){0}) !=
				  NULL;
			i = steps.n - TUI_ROWS_MAX / 2 - 1;
			continue;
		}
		*name = '\0';
		if (step->is_ephemeron)
			snprintf(name, sizeof(name), "(ConditionalWeakTable)");
		else if (i + 1 < steps.n && graph_is_object(tui->graph, step->node))
			heapshot_reader_slot_name(
				tui->recording.reader,
				classes[heapshot_graph_class_of(tui->graph, step->node)].type,
				step->offset, name);
		is_done = tui_add_node(tui, name, step->node);
	}
	free(steps.list);
	return is_done;
}

static void set_columns(struct tui_table *table)
{
	table->numbers[0] = "RETAINED";
	table->numbers[1] = "BYTES";
	table->n_numbers = 2;
	table->of = "SLOT";
	table->name = "OBJECT";
}

int tui_make_object(struct tui *tui, uint32_t object)
{
	struct heapshot_graph_object facts;
	char unnamed[32];
	int status = tui_want_ways(tui);

	heapshot_graph_object(tui->graph, object, &facts);
	set_columns(&tui->table);
	if (status == CLI_OK)
		status = put_heads(tui, &facts,
				   graph_object_type(&tui->recording, tui->graph, object, unnamed));
	if (status != CLI_OK)
		return status;
	if (put_fields(tui, object, &facts) && put_dominator(tui, object) &&
	    put_roots(tui, object) && put_referrers(tui, object) &&
	    (!heapshot_graph_is_live(tui->graph, object) ||
	     (tui_add_section(&tui->table, "Path from a root") && put_steps(tui, object))))
		return CLI_OK;
	return cli_no_memory();
}

int tui_make_path(struct tui *tui, uint32_t object)
{
	char text[1024];
	int status = tui_want_ways(tui);

	if (status != CLI_OK)
		return status;
	graph_put_node(&tui->recording, tui->graph, object, text, sizeof(text));
	snprintf(tui->table.title, sizeof(tui->table.title), "A shortest path to %.200s", text);
	set_columns(&tui->table);
	if (!put_steps(tui, object))
		return cli_no_memory();
	if (tui->table.n == 0)
		snprintf(tui->table.heads[0], sizeof(tui->table.heads[0]),
			 "no root leads to it: it is garbage, or its roots are missing");
	return CLI_OK;
}
