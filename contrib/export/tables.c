/* SPDX-License-Identifier: MIT */
/*
 * The formats csv and ndjson: a stream for each table, for engines that read many
 * files as one table.  See doc/export-tables.md.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "contrib/export/names.h"
#include "contrib/export/rows.h"

#define COLUMNS_MAX  16
#define COLUMN_BYTES 24

struct tables {
	struct rows rows;
	struct export_output *outputs[ROWS_TABLES];
	/* What stands before the value of a column: `,` or `,"address":`. */
	char before[ROWS_TABLES][COLUMNS_MAX][COLUMN_BYTES];
	struct export_output *output; /* of the row under way */
	unsigned column;              /* of it, the next one */
	char *text;                   /* room for a text that is made valid */
	size_t text_room;
};

/* The name of the column that SQL declares at *AT, which moves to the next one. */
static int next_column(const char **at, const char **name)
{
	const char *begin = *at + strspn(*at, " "), *end = strchr(begin, ',');

	*name = begin;
	*at = end != NULL ? end + 1 : begin + strlen(begin);
	return (int)strcspn(begin, " ,");
}

static void begin(struct rows *rows)
{
	struct tables *tables = rows->sink_data;

	tables->output = tables->outputs[rows->table];
	tables->column = 0;
}

/* The stream, behind what stands before the next column. */
static struct export_output *next(struct rows *rows)
{
	struct tables *tables = rows->sink_data;

	export_put_text(tables->output, tables->before[rows->table][tables->column++]);
	return tables->output;
}

static void put_number(struct rows *rows, uint64_t number)
{
	export_put_number(next(rows), number);
}

static void put_signed(struct rows *rows, int64_t number)
{
	struct export_output *output = next(rows);

	if (number < 0)
		export_put_byte(output, '-');
	export_put_number(output, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* Digits enough to read the same number back; what is none is null. */
static void put_real(struct rows *rows, double number)
{
	char text[40], *at;

	if (!isfinite(number)) {
		rows->sink->null(rows);
		return;
	}
	snprintf(text, sizeof(text), "%.17g", number);
	for (at = text; *at != '\0'; at++)
		if (*at == ',') /* a locale's */
			*at = '.';
	export_put_text(next(rows), text);
}

/* TEXT as valid UTF-8, until the next call; NULL without memory. */
static const char *clean(struct tables *tables, const char *text)
{
	const size_t bytes = export_clean_bytes(text) + 1;

	if (bytes > tables->text_room) {
		char *room = reallocarray(tables->text, bytes, 2);

		if (room == NULL) {
			rows_fail(&tables->rows, export_fail_memory(tables->rows.export));
			return NULL;
		}
		tables->text = room;
		tables->text_room = bytes * 2;
	}
	export_clean(tables->text, text);
	return tables->text;
}

/* RFC 4180; the empty text is told from null by its quotes. */
static void put_csv_text(struct rows *rows, const char *text)
{
	struct export_output *output = next(rows);
	const char *at = clean(rows->sink_data, text);

	if (at == NULL)
		return;
	if (*at != '\0' && strpbrk(at, ",\"\r\n") == NULL) {
		export_put_text(output, at);
		return;
	}
	export_put_byte(output, '"');
	for (; *at != '\0'; at++) {
		if (*at == '"')
			export_put_byte(output, '"');
		export_put_byte(output, (uint8_t)*at);
	}
	export_put_byte(output, '"');
}

static void put_csv_null(struct rows *rows)
{
	next(rows);
}

static void end_csv(struct rows *rows)
{
	struct tables *tables = rows->sink_data;

	export_put_byte(tables->output, '\n');
	rows->result = tables->output->has_failed ? EXPORT_OUTPUT : rows->result;
}

static void put_json_text(struct rows *rows, const char *text)
{
	struct export_output *output = next(rows);
	const char *valid = clean(rows->sink_data, text);

	if (valid != NULL)
		export_put_json_text(output, valid);
}

static void put_json_null(struct rows *rows)
{
	export_put_text(next(rows), "null");
}

static void end_json(struct rows *rows)
{
	struct tables *tables = rows->sink_data;

	export_put_text(tables->output, "}\n");
	rows->result = tables->output->has_failed ? EXPORT_OUTPUT : rows->result;
}

static const struct rows_sink csv_sink = {
	.number_max = UINT64_MAX,
	.begin = begin,
	.number = put_number,
	.signed_number = put_signed,
	.real = put_real,
	.text = put_csv_text,
	.null = put_csv_null,
	.end = end_csv,
};

static const struct rows_sink json_sink = {
	.number_max = UINT64_MAX,
	.begin = begin,
	.number = put_number,
	.signed_number = put_signed,
	.real = put_real,
	.text = put_json_text,
	.null = put_json_null,
	.end = end_json,
};

/* A line with the names of the columns. */
static void put_header(struct export_output *output, const char *columns)
{
	const char *name;

	while (*columns != '\0') {
		const int length = next_column(&columns, &name);

		export_put(output, name, (size_t)length);
		export_put_byte(output, *columns != '\0' ? ',' : '\n');
	}
}

static void open_table(struct tables *tables, enum rows_table table, bool is_json)
{
	struct export *export = tables->rows.export;
	const char *columns = rows_tables[table].columns, *name;
	unsigned i;

	tables->outputs[table] = export->open_table(export->user_data, rows_tables[table].name);
	tables->rows.is_wanted[table] = tables->outputs[table] != NULL;
	if (tables->outputs[table] == NULL)
		return;
	if (!is_json)
		put_header(tables->outputs[table], columns);
	for (i = 0; *columns != '\0' && i < COLUMNS_MAX; i++) {
		char *before = tables->before[table][i];
		const int length = next_column(&columns, &name);

		if (is_json)
			snprintf(before, COLUMN_BYTES, "%c\"%.*s\":", i > 0 ? ',' : '{', length,
				 name);
		else
			strcpy(before, i > 0 ? "," : "");
	}
}

static enum export_result write_tables(struct export *export, bool is_json)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	struct heapshot_graph_counts counts;
	enum export_result result;
	unsigned table;

	if (tables == NULL)
		return export_fail_memory(export);
	tables->rows = (struct rows){
		.export = export,
		.sink = is_json ? &json_sink : &csv_sink,
		.sink_data = tables,
	};
	for (table = 0; table < ROWS_TABLES; table++)
		open_table(tables, table, is_json);
	heapshot_graph_counts(export->graph, &counts);
	if (tables->rows.is_wanted[ROWS_OBJECTS])
		export->all += counts.objects;
	if (tables->rows.is_wanted[ROWS_REFS] || tables->rows.is_wanted[ROWS_FIELDS])
		export->all += counts.references;
	if (tables->rows.is_wanted[ROWS_DOMINATORS])
		export->all += counts.live_objects;
	rows_put_all(&tables->rows);
	result = tables->rows.result;
	free(tables->text);
	free(tables);
	return result;
}

enum export_result export_write_csv(struct export *export)
{
	return write_tables(export, false);
}

enum export_result export_write_ndjson(struct export *export)
{
	return write_tables(export, true);
}
