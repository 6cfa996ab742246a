/* SPDX-License-Identifier: MIT */
/*
 * Views of what holds objects from outside: kinds of roots, and the roots of a kind.
 */
#include <stdlib.h>

#include "contrib/cli/text.h"
#include "contrib/cli/tui.h"

static void set_columns(struct tui_table *table, const char *name)
{
	table->numbers[0] = "RETAINED";
	table->numbers[1] = "COUNT";
	table->n_numbers = 2;
	table->name = name;
	table->is_sortable = true;
}

int tui_make_kinds(struct tui *tui)
{
	size_t n, i;
	const struct heapshot_graph_kind *kinds = heapshot_graph_kinds(tui->graph, &n);

	snprintf(tui->table.title, sizeof(tui->table.title), "Roots by kind");
	set_columns(&tui->table, "KIND");
	for (i = 0; i < n; i++) {
		struct tui_row *row = tui_add_named(&tui->table, NULL, kinds[i].name,
						    (struct tui_place){TUI_SOURCES, i});

		if (row == NULL)
			return cli_no_memory();
		row->n_numbers = tui->table.n_numbers;
		row->numbers[0] = heapshot_graph_retained(
			tui->graph, heapshot_graph_kind_node(tui->graph, (uint32_t)i));
		row->numbers[1] = kinds[i].n_roots;
	}
	return CLI_OK;
}

int tui_make_sources(struct tui *tui, uint32_t kind)
{
	size_t n, i;
	const struct heapshot_graph_kind *of = &heapshot_graph_kinds(tui->graph, &n)[kind];
	const struct heapshot_graph_source *sources = heapshot_graph_sources(tui->graph, &n);

	snprintf(tui->table.title, sizeof(tui->table.title), "Roots of kind %.200s", of->name);
	set_columns(&tui->table, "ROOT");
	for (i = of->first_source; i < of->first_source + (size_t)of->n_sources; i++) {
		const char *name = graph_source_name(&sources[i]);
		struct tui_row *row = tui_add_named(&tui->table, NULL, *name ? name : of->name,
						    (struct tui_place){TUI_ROOTED, i});

		if (row == NULL)
			return cli_no_memory();
		row->n_numbers = tui->table.n_numbers;
		row->numbers[0] = heapshot_graph_retained(
			tui->graph, heapshot_graph_source_node(tui->graph, (uint32_t)i));
		row->numbers[1] = sources[i].n_roots;
	}
	return CLI_OK;
}
