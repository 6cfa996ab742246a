/* SPDX-License-Identifier: MIT */
/*
 * Tables of `heapshot retained`: types, roots and their kinds.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/retained.h"
#include "contrib/cli/text.h"

#define ROWS_OF_TYPES 12
#define ROWS_OF_ROOTS 30

int retained_order(const void *left, const void *right)
{
	const struct retained_row *a = left, *b = right;
	int order = (a->retained < b->retained) - (a->retained > b->retained);

	if (order == 0)
		order = (a->bytes < b->bytes) - (a->bytes > b->bytes);
	if (order == 0 && a->name != NULL && b->name != NULL)
		order = strcmp(a->name, b->name);
	return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

void retained_put_table(const struct retained *retained, const char *title,
			const char *const *titles, const char *align,
			const struct retained_row *rows, size_t n, size_t n_all)
{
	struct text_table table = {.align = align};
	bool has_bytes = strncmp(align, "rrrr", 4) == 0;
	char number[TEXT_NUMBER_BYTES];
	unsigned is_printed;
	size_t i;

	printf("\n%s\n", title);
	text_table_measure(&table, titles);
	for (is_printed = 0; is_printed < 2; is_printed++) {
		if (is_printed)
			text_table_print(&table, titles, true);
		for (i = 0; i < n; i++) {
			char numbers[3][TEXT_NUMBER_BYTES], share[TEXT_SHARE_BYTES];
			const char *cells[7];
			size_t k = 0;

			cells[k++] = text_number(numbers[0], rows[i].retained);
			cells[k++] = text_share(share, rows[i].retained, retained->live_bytes);
			cells[k++] = text_number(numbers[1], rows[i].count);
			if (has_bytes)
				cells[k++] = text_number(numbers[2], rows[i].bytes);
			if (rows[i].of != NULL)
				cells[k++] = *rows[i].of ? rows[i].of : "-";
			cells[k] = *rows[i].name ? rows[i].name : "-";
			if (is_printed)
				text_table_print(&table, cells, false);
			else
				text_table_measure(&table, cells);
		}
	}
	if (n < n_all)
		printf("... and %s more (--limit 0 shows all)\n", text_number(number, n_all - n));
}

/* ---- Types ---- */

int retained_types(const struct retained *retained, struct json *json)
{
	static const char *const titles[] = {"RETAINED", "SHARE",    "COUNT",
					     "BYTES",    "ASSEMBLY", "TYPE"};
	size_t limit = cli_limit(retained->arguments, ROWS_OF_TYPES, SIZE_MAX), n = 0, i;
	struct retained_row *rows = calloc(retained->types.n + 1, sizeof(*rows));

	if (rows == NULL)
		return cli_no_memory();
	for (i = 0; i < retained->types.n; i++) {
		const struct graph_type *type = &retained->types.types[i];

		if (!retained->is_wanted[i])
			continue;
		rows[n] = (struct retained_row){
			.retained = type->retained,
			.count = type->live_objects,
			.bytes = type->live_bytes,
			.name = type->key.name,
			.of = type->key.assembly,
			.number = type->key.id,
		};
		n++;
	}
	qsort(rows, n, sizeof(*rows), retained_order);
	for (i = 0; i < n; i++)
		if (*rows[i].name == '\0')
			rows[i].name = recording_type_name(retained->recording, rows[i].number,
							   rows[i].text);
	if (json != NULL) {
		json_key(json, "types");
		json_begin_rows(json);
		for (i = 0; i < n && i < limit; i++) {
			json_begin(json, '{');
			json_put_text(json, "type", rows[i].name);
			json_put_text(json, "assembly", rows[i].of);
			json_put_unsigned(json, "count", rows[i].count);
			json_put_unsigned(json, "bytes", rows[i].bytes);
			json_put_unsigned(json, "retained", rows[i].retained);
			json_end(json, '}');
		}
		json_end(json, ']');
	} else {
		retained_put_table(retained, "TYPES", titles, "rrrrll", rows, n < limit ? n : limit,
				   n);
	}
	free(rows);
	return CLI_OK;
}

/* ---- Roots and kinds ---- */

static int put_roots(const struct retained *retained, struct json *json, const char *key,
		     struct retained_row *rows, size_t n)
{
	static const char *const source_titles[] = {"RETAINED", "SHARE", "ROOTS", "KIND", "NAME"};
	static const char *const kind_titles[] = {"RETAINED", "SHARE", "ROOTS", "KIND"};
	size_t limit = cli_limit(retained->arguments, ROWS_OF_ROOTS, SIZE_MAX), i;
	bool is_source = strcmp(key, "roots") == 0;

	qsort(rows, n, sizeof(*rows), retained_order);
	if (limit > n)
		limit = n;
	if (json == NULL) {
		retained_put_table(retained, is_source ? "ROOTS" : "KINDS OF ROOTS",
				   is_source ? source_titles : kind_titles,
				   is_source ? "rrrll" : "rrrl", rows, limit, n);
		free(rows);
		return CLI_OK;
	}
	json_key(json, key);
	json_begin_rows(json);
	for (i = 0; i < limit; i++) {
		json_begin(json, '{');
		json_put_text(json, "kind", is_source ? rows[i].of : rows[i].name);
		if (is_source)
			json_put_text(json, "name", rows[i].name);
		json_put_unsigned(json, "count", rows[i].count);
		json_put_unsigned(json, "retained", rows[i].retained);
		json_end(json, '}');
	}
	json_end(json, ']');
	free(rows);
	return CLI_OK;
}

int retained_roots(const struct retained *retained, struct json *json)
{
	size_t n, n_kinds, i;
	const struct heapshot_graph_source *sources = heapshot_graph_sources(retained->graph, &n);
	const struct heapshot_graph_kind *kinds = heapshot_graph_kinds(retained->graph, &n_kinds);
	struct retained_row *rows = calloc(n + 1, sizeof(*rows));

	if (rows == NULL)
		return cli_no_memory();
	for (i = 0; i < n; i++)
		rows[i] = (struct retained_row){
			.retained = heapshot_graph_retained(
				retained->graph,
				heapshot_graph_source_node(retained->graph, (uint32_t)i)),
			.count = sources[i].n_roots,
			.name = graph_source_name(&sources[i]),
			.of = kinds[sources[i].kind].name,
			.number = (uint32_t)i,
		};
	return put_roots(retained, json, "roots", rows, n);
}

int retained_kinds(const struct retained *retained, struct json *json)
{
	size_t n, i;
	const struct heapshot_graph_kind *kinds = heapshot_graph_kinds(retained->graph, &n);
	struct retained_row *rows = calloc(n + 1, sizeof(*rows));

	if (rows == NULL)
		return cli_no_memory();
	for (i = 0; i < n; i++)
		rows[i] = (struct retained_row){
			.retained = heapshot_graph_retained(
				retained->graph,
				heapshot_graph_kind_node(retained->graph, (uint32_t)i)),
			.count = kinds[i].n_roots,
			.name = kinds[i].name,
			.number = (uint32_t)i,
		};
	return put_roots(retained, json, "kinds", rows, n);
}
