/* SPDX-License-Identifier: MIT */
/*
 * heapshot top: the types of a snapshot with their objects and bytes.  Types of
 * one name and assembly are one row, however many domains loaded them.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/graph.h"
#include "contrib/cli/text.h"

#define DEFAULT_LIMIT 30

struct row {
	struct type_key key;
	uint64_t count, bytes, edges;
	uint64_t retained; /* with --retained */
};

static int by_key(const void *left, const void *right)
{
	return type_key_compare(&((const struct row *)left)->key,
				&((const struct row *)right)->key);
}

static int by_bytes(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : by_key(left, right);
}

static int by_count(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return a->count != b->count ? (a->count < b->count ? 1 : -1) : by_bytes(left, right);
}

/* Makes the rows; returns how many.  Sums were checked not to pass 2^64. */
static size_t make_rows(const struct recording *recording, const struct cli_arguments *arguments,
			const struct heapshot_totals *totals, struct row *rows)
{
	size_t n = 0, out = 0, i;

	for (i = 0; i < totals->n_types; i++) {
		const struct heapshot_type_total *total = &totals->types[i];

		rows[n] = (struct row){
			.key = type_key_of(recording, total->type),
			.count = total->objects,
			.bytes = total->bytes,
			.edges = total->references,
		};
		if (type_key_matches(&rows[n].key, arguments->assembly, arguments->filter))
			n++;
	}
	qsort(rows, n, sizeof(*rows), by_key);
	for (i = 0; i < n; i++) {
		if (out > 0 && by_key(&rows[out - 1], &rows[i]) == 0) {
			rows[out - 1].count += rows[i].count;
			rows[out - 1].bytes += rows[i].bytes;
			rows[out - 1].edges += rows[i].edges;
		} else {
			rows[out++] = rows[i];
		}
	}
	qsort(rows, out, sizeof(*rows),
	      arguments->by != NULL && strcmp(arguments->by, "count") == 0 ? by_count : by_bytes);
	return out;
}

/* Puts in what the types retain. */
static void add_retained(const struct graph_types *types, struct row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct graph_type *type = graph_types_find(types, &rows[i].key);

		if (type != NULL)
			rows[i].retained = type->retained;
	}
}

static void put_json(const struct recording *recording, const struct row *rows, size_t n,
		     bool is_retained)
{
	struct json json = {0};
	char unnamed[32];
	size_t i;

	json_begin(&json, '{');
	json_put_unsigned(&json, "snapshot", recording->snapshot->id);
	json_key(&json, "types");
	json_begin_rows(&json);
	for (i = 0; i < n; i++) {
		json_begin(&json, '{');
		json_put_text(&json, "type", type_key_name(&rows[i].key, unnamed));
		json_put_text(&json, "assembly", rows[i].key.assembly);
		json_put_unsigned(&json, "count", rows[i].count);
		json_put_unsigned(&json, "bytes", rows[i].bytes);
		json_put_unsigned(&json, "edges", rows[i].edges);
		if (is_retained)
			json_put_unsigned(&json, "retained", rows[i].retained);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static void put_row(struct text_table *table, const struct row *row, bool is_measure)
{
	char numbers[4][TEXT_NUMBER_BYTES], unnamed[32];
	const char *cells[] = {
		text_number(numbers[3], row->retained),       text_number(numbers[0], row->bytes),
		text_number(numbers[1], row->count),          text_number(numbers[2], row->edges),
		*row->key.assembly ? row->key.assembly : "-", type_key_name(&row->key, unnamed),
	};

	/* The first column is for --retained. */
	const char *const *from = strncmp(table->align, "rrrr", 4) == 0 ? cells : cells + 1;

	if (is_measure)
		text_table_measure(table, from);
	else
		text_table_print(table, from, false);
}

static void put_table(const struct recording *recording, const struct heapshot_totals *totals,
		      const struct row *rows, size_t n, size_t n_all, bool is_retained)
{
	static const char *const all_titles[] = {"RETAINED", "BYTES",    "COUNT",
						 "EDGES",    "ASSEMBLY", "TYPE"};
	const char *const *titles = is_retained ? all_titles : all_titles + 1;
	struct text_table table = {.align = is_retained ? "rrrrll" : "rrrll"};
	char numbers[4][TEXT_NUMBER_BYTES];
	size_t i;

	recording_print_title(recording);
	printf("%s objects, %s bytes, %s references\n", text_number(numbers[0], totals->objects),
	       text_number(numbers[1], totals->bytes), text_number(numbers[2], totals->references));
	text_table_measure(&table, titles);
	for (i = 0; i < n; i++)
		put_row(&table, &rows[i], true);
	text_table_print(&table, titles, true);
	for (i = 0; i < n; i++)
		put_row(&table, &rows[i], false);
	if (n < n_all)
		printf("... and %s more types (--limit 0 shows all)\n",
		       text_number(numbers[3], n_all - n));
}

static int show(struct recording *recording, const struct cli_arguments *arguments,
		const struct heapshot_totals *totals, const struct graph_types *types)
{
	struct row *rows = calloc(totals->n_types ? totals->n_types : 1, sizeof(*rows));
	size_t n, n_all, limit;

	if (rows == NULL)
		return cli_no_memory();
	n = n_all = make_rows(recording, arguments, totals, rows);
	if (n == 0 && (arguments->filter != NULL || arguments->assembly != NULL)) {
		cli_message("%s: no type with objects matches%s%s%s%s%s", recording->path,
			    arguments->filter ? " --filter " : "",
			    arguments->filter ? arguments->filter : "",
			    arguments->assembly ? " --assembly " : "",
			    arguments->assembly ? arguments->assembly : "",
			    text_case_hint(arguments->filter));
		free(rows);
		return CLI_NOT_FOUND;
	}
	if (arguments->is_retained)
		add_retained(types, rows, n);
	limit = cli_limit(arguments, DEFAULT_LIMIT, SIZE_MAX);
	if (limit < n)
		n = limit;
	if (arguments->is_json)
		put_json(recording, rows, n, arguments->is_retained);
	else
		put_table(recording, totals, rows, n, n_all, arguments->is_retained);
	free(rows);
	return CLI_OK;
}

static int find_retained(struct recording *recording, const struct cli_arguments *arguments,
			 struct graph_types *types)
{
	struct heapshot_graph *graph;
	int status = graph_open(recording, arguments, &graph);

	if (status == CLI_OK)
		status = recording_check(recording, heapshot_graph_dominate(graph));
	if (status == CLI_OK)
		status = graph_types_make(recording, graph, true, types);
	heapshot_graph_free(graph);
	return status;
}

int cli_top(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct heapshot_totals totals;
	struct graph_types types = {0};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);
	enum heapshot_read_result result;

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments,
				arguments.is_retained ? RECORDING_GRAPH : RECORDING_SNAPSHOT);
	if (status != CLI_OK)
		return status;
	status = recording_check(&recording, heapshot_reader_load_names(recording.reader));
	if (status == CLI_OK) {
		result = heapshot_reader_totals(recording.reader, recording.snapshot, &totals);
		status = recording_check(&recording, result);
		if (result == HEAPSHOT_READ_DAMAGED && totals.n_types == 0) {
			cli_message("%s: %s; refused", recording.path,
				    heapshot_reader_error(recording.reader));
			status = CLI_DAMAGED;
		}
	}
	if (status == CLI_OK && arguments.is_retained)
		status = find_retained(&recording, &arguments, &types);
	progress_stop();
	if (status == CLI_OK)
		status = show(&recording, &arguments, &totals, &types);
	graph_types_free(&types);
	return recording_close(&recording, status);
}
