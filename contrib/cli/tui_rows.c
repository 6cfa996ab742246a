/* SPDX-License-Identifier: MIT */
/*
 * Rows of a view: adding, sorting, filtering.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/text.h"
#include "contrib/cli/tui.h"

struct tui_row *tui_add(struct tui_table *table)
{
	if (table->n == table->room) {
		size_t room = table->room != 0 ? table->room * 2 : 64;
		struct tui_row *rows = reallocarray(table->rows, room, sizeof(*rows));

		if (rows == NULL)
			return NULL;
		table->rows = rows;
		table->room = room;
	}
	table->rows[table->n] = (struct tui_row){0};
	return &table->rows[table->n++];
}

struct tui_row *tui_add_named(struct tui_table *table, const char *of, const char *name,
			      struct tui_place to)
{
	struct tui_row *row = tui_add(table);

	if (row == NULL)
		return NULL;
	row->of = of != NULL ? strdup(of) : NULL;
	row->name = strdup(name);
	row->to = to;
	return row->name != NULL && (of == NULL || row->of != NULL) ? row : NULL;
}

bool tui_add_section(struct tui_table *table, const char *name)
{
	struct tui_row *row = tui_add_named(table, NULL, name, (struct tui_place){0});

	if (row != NULL)
		row->is_section = true;
	return row != NULL;
}

struct tui_place tui_place_of(const struct heapshot_graph *graph, uint32_t node)
{
	uint32_t index;

	switch (heapshot_graph_node(graph, node, &index)) {
	case HEAPSHOT_NODE_OBJECT:
		return (struct tui_place){TUI_OBJECT, node};
	case HEAPSHOT_NODE_KIND:
		return (struct tui_place){TUI_SOURCES, index};
	case HEAPSHOT_NODE_SOURCE:
		return (struct tui_place){TUI_ROOTED, index};
	default:
		return (struct tui_place){TUI_KINDS, 0};
	}
}

bool tui_add_node(struct tui *tui, const char *of, uint32_t node)
{
	struct tui_row *row;
	char text[2048];

	graph_put_node(&tui->recording, tui->graph, node, text, sizeof(text));
	row = tui_add_named(&tui->table, of, text, tui_place_of(tui->graph, node));
	if (row == NULL)
		return false;
	row->numbers[0] = heapshot_graph_retained(tui->graph, node);
	row->n_numbers = 1;
	if (graph_is_object(tui->graph, node))
		row->numbers[row->n_numbers++] = heapshot_graph_size(tui->graph, node);
	return true;
}

static void free_row(struct tui_row *row)
{
	free(row->of);
	free(row->name);
}

void tui_clear(struct tui_table *table)
{
	size_t i;

	for (i = 0; i < table->n; i++)
		free_row(&table->rows[i]);
	free(table->rows);
	*table = (struct tui_table){0};
}

/* ---- Sorting ---- */

/* qsort has no argument for it. */
static size_t sorted_column;
static bool is_change;

static int compare(const void *left, const void *right)
{
	const struct tui_row *a = left, *b = right;
	size_t i, column = sorted_column;
	int order;

	/* Equal ones by the other numbers, in their order. */
	for (i = 0; i <= TUI_NUMBERS_MAX; i++, column = i - 1) {
		const uint64_t flip = is_change ? UINT64_C(1) << 63 : 0;

		if (a->numbers[column] != b->numbers[column])
			return (a->numbers[column] ^ flip) < (b->numbers[column] ^ flip) ? 1 : -1;
	}
	order = strcmp(a->name, b->name);
	return order != 0 || a->of == NULL || b->of == NULL ? order : strcmp(a->of, b->of);
}

void tui_sort_rows(struct tui_table *table, enum tui_sort sort)
{
	static const char *const columns[] = {"RETAINED", "BYTES", "COUNT"};
	const char *wanted = columns[sort];
	size_t i;

	for (i = 0; i <= table->n_numbers; i++) {
		/* Where there is no such column, the first. */
		const size_t column = i < table->n_numbers ? i : 0;
		const char *title = table->numbers[column];

		/* Of changes "+BYTES" comes before "BYTES". */
		if (i < table->n_numbers && strcmp(title + (*title == '+'), wanted) != 0)
			continue;
		sorted_column = column;
		is_change = table->changes != 0;
		if (table->n > 0)
			qsort(table->rows, table->n, sizeof(*table->rows), compare);
		return;
	}
}

/* ---- Filtering ---- */

void tui_filter_rows(struct tui_table *table, const char *filter)
{
	size_t n = 0, i;

	if (*filter == '\0')
		return;
	for (i = 0; i < table->n; i++) {
		struct tui_row *row = &table->rows[i];

		if (row->is_section || text_matches(row->name, filter) ||
		    (row->of != NULL && text_matches(row->of, filter)))
			table->rows[n++] = *row;
		else
			free_row(row);
	}
	table->n = n;
}
