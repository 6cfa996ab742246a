/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as an SQLite database: one transaction, indexes at its end, and no
 * journal, since the file bears its name only when it is whole.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "contrib/export/names.h"
#include "contrib/export/rows.h"
#include "contrib/export/sqlite.h"

/* Version of the tables, as PRAGMA user_version. */
#define SETTINGS                                                                                   \
	"PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"            \
	"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536;"                             \
	"PRAGMA application_id = 1213420372; PRAGMA user_version = 1;"

struct sqlite {
	struct rows rows;
	sqlite3 *db;
	sqlite3_stmt *insert[ROWS_TABLES];
	sqlite3_stmt *row; /* the one of the row under way */
	int column;        /* of it, from 1 */
};

static void fail(struct sqlite *out)
{
	rows_fail(&out->rows,
		  export_fail(out->rows.export, EXPORT_FAILED, "%s",
			      out->db != NULL ? sqlite3_errmsg(out->db) : "out of memory"));
}

static void execute(struct sqlite *out, const char *sql)
{
	if (out->rows.result == EXPORT_OK &&
	    sqlite3_exec(out->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail(out);
}

static void begin(struct rows *rows)
{
	struct sqlite *out = rows->sink_data;

	out->row = out->insert[rows->table];
	out->column = 0;
}

static void put_number(struct rows *rows, uint64_t number)
{
	struct sqlite *out = rows->sink_data;

	sqlite3_bind_int64(out->row, ++out->column, (sqlite3_int64)number);
}

static void put_signed(struct rows *rows, int64_t number)
{
	struct sqlite *out = rows->sink_data;

	sqlite3_bind_int64(out->row, ++out->column, number);
}

static void put_real(struct rows *rows, double number)
{
	struct sqlite *out = rows->sink_data;

	sqlite3_bind_double(out->row, ++out->column, number);
}

static void put_null(struct rows *rows)
{
	struct sqlite *out = rows->sink_data;

	sqlite3_bind_null(out->row, ++out->column);
}

static void put_text(struct rows *rows, const char *text)
{
	struct sqlite *out = rows->sink_data;
	const size_t bytes = export_clean_bytes(text);
	char *copy = sqlite3_malloc64(bytes + 1);
	int result = SQLITE_NOMEM;

	out->column++;
	if (copy != NULL) {
		export_clean(copy, text);
		result = sqlite3_bind_text64(out->row, out->column, copy, bytes, sqlite3_free,
					     SQLITE_UTF8);
	}
	if (result != SQLITE_OK)
		fail(out);
}

static void end(struct rows *rows)
{
	struct sqlite *out = rows->sink_data;

	if (rows->result == EXPORT_OK && sqlite3_step(out->row) != SQLITE_DONE)
		fail(out);
	sqlite3_reset(out->row);
}

static const struct rows_sink sink = {
	.number_max = INT64_MAX,
	.number_limit = "2^63 - 1, SQLite's largest number",
	.begin = begin,
	.number = put_number,
	.signed_number = put_signed,
	.real = put_real,
	.text = put_text,
	.null = put_null,
	.end = end,
};

/* Makes the table, and what inserts a row into it. */
static void make_table(struct sqlite *out, enum rows_table table)
{
	const struct rows_description *description = &rows_tables[table];
	char sql[512];
	const char *at;
	size_t n;

	snprintf(sql, sizeof(sql), "CREATE TABLE %s (%s)", description->name, description->columns);
	execute(out, sql);
	n = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", description->name);
	for (at = description->columns; (at = strchr(at, ',')) != NULL; at++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ", ?");
	snprintf(sql + n, sizeof(sql) - n, ")");
	if (out->rows.result == EXPORT_OK &&
	    sqlite3_prepare_v2(out->db, sql, -1, &out->insert[table], NULL) != SQLITE_OK)
		fail(out);
	out->rows.is_wanted[table] = true;
}

enum export_result export_write_sqlite(struct export *export)
{
	struct sqlite out = {.rows = {.export = export, .sink = &sink}};
	struct heapshot_graph_counts counts;
	unsigned table;

	out.rows.sink_data = &out;
	heapshot_graph_counts(export->graph, &counts);
	/* Indexes take about as long as the rows. */
	export->all = 2 * (counts.objects + counts.references) + counts.live_objects;
	if (sqlite3_open_v2(export->path, &out.db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		fail(&out);
	execute(&out, SETTINGS);
	execute(&out, "BEGIN");
	for (table = 0; table < ROWS_TABLES; table++)
		make_table(&out, table);
	rows_put_all(&out.rows);
	for (table = 0; table < ROWS_TABLES; table++)
		sqlite3_finalize(out.insert[table]);
	execute(&out, sqlite_indexes);
	execute(&out, sqlite_views);
	execute(&out, "COMMIT");
	/* What the planner needs to know of the tables, without reading them through. */
	execute(&out, "PRAGMA analysis_limit = 1000; ANALYZE;");
	if (sqlite3_close(out.db) != SQLITE_OK)
		fail(&out);
	return out.rows.result;
}
