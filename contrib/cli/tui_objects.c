/* SPDX-License-Identifier: MIT */
/*
 * Views of objects: those of a type, those that a root leads to.  Of more than
 * TUI_ROWS_MAX those that retain most.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/cli/most.h"
#include "contrib/cli/text.h"
#include "contrib/cli/tui.h"

/* Rows of those in MOST, of N_ALL. */
static int put_objects(struct tui *tui, struct most *most, uint64_t n_all, const char *what)
{
	struct tui_table *table = &tui->table;
	char numbers[2][TEXT_NUMBER_BYTES], address[32];
	int status = CLI_OK;
	size_t i;

	most_sort(most);
	snprintf(table->title, sizeof(table->title), "%s object%s of %s",
		 text_number(numbers[0], n_all), n_all == 1 ? "" : "s", what);
	if (most->n < n_all)
		snprintf(table->heads[0], sizeof(table->heads[0]), "the %s that retain most",
			 text_number(numbers[1], most->n));
	table->numbers[0] = "RETAINED";
	table->numbers[1] = "BYTES";
	table->n_numbers = 2;
	table->of = "OBJECT";
	table->name = "DOMINATED BY";
	for (i = 0; i < most->n && status == CLI_OK; i++) {
		const uint32_t object = most->objects[i];
		const uint32_t dominator = heapshot_graph_dominator(tui->graph, object);
		char held[1024] = "(no root leads to it)";
		struct tui_row *row;

		snprintf(address, sizeof(address), "0x%" PRIx64,
			 heapshot_graph_address(tui->graph, object));
		if (dominator != HEAPSHOT_GRAPH_NONE)
			graph_put_node(&tui->recording, tui->graph, dominator, held, sizeof(held));
		row = tui_add_named(table, address, held, (struct tui_place){TUI_OBJECT, object});
		if (row == NULL) {
			status = cli_no_memory();
			break;
		}
		row->n_numbers = table->n_numbers;
		row->numbers[0] = heapshot_graph_retained(tui->graph, object);
		row->numbers[1] = heapshot_graph_size(tui->graph, object);
	}
	free(most->objects);
	return status;
}

int tui_make_objects(struct tui *tui, uint32_t type)
{
	struct heapshot_graph_counts counts;
	uint64_t n_all = 0;
	char unnamed[32];
	struct most most;
	uint32_t i;

	heapshot_graph_counts(tui->graph, &counts);
	if (!most_begin(&most, tui->graph, TUI_ROWS_MAX))
		return cli_no_memory();
	for (i = 0; i < counts.objects; i++) {
		if (tui->types.of_class[heapshot_graph_class_of(tui->graph, i)] != type ||
		    !heapshot_graph_is_live(tui->graph, i))
			continue;
		n_all++;
		most_offer(&most, i);
	}
	return put_objects(tui, &most, n_all, type_key_name(&tui->types.types[type].key, unnamed));
}

int tui_make_rooted(struct tui *tui, uint32_t source)
{
	size_t n, i;
	const struct heapshot_graph_root *roots = heapshot_graph_roots(tui->graph, &n);
	uint32_t before = HEAPSHOT_GRAPH_NONE;
	char what[512];
	uint64_t n_all = 0;
	struct most most;

	if (!most_begin(&most, tui->graph, TUI_ROWS_MAX))
		return cli_no_memory();
	/* In the order of objects: one that has several roots of the source comes once. */
	for (i = 0; i < n; i++) {
		if (roots[i].source != source || roots[i].object == before)
			continue;
		before = roots[i].object;
		n_all++;
		most_offer(&most, before);
	}
	graph_put_node(&tui->recording, tui->graph, heapshot_graph_source_node(tui->graph, source),
		       what, sizeof(what));
	return put_objects(tui, &most, n_all, what);
}
