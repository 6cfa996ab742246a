/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as an SQLite database: one transaction, indexes at its end, and no
 * journal, since the file bears its name only when it is whole.
 */
#include <inttypes.h>
#include <stdarg.h>

#include "contrib/export/names.h"
#include "contrib/export/sqlite.h"

/* Version of the tables, as PRAGMA user_version. */
#define SETTINGS                                                                                   \
	"PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"            \
	"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536;"                             \
	"PRAGMA application_id = 1213420372; PRAGMA user_version = 1;"

void sqlite_fail(struct sqlite_out *out)
{
	if (out->result == EXPORT_OK)
		out->result =
			export_fail(out->export, EXPORT_FAILED, "%s",
				    out->db != NULL ? sqlite3_errmsg(out->db) : "out of memory");
}

void sqlite_execute(struct sqlite_out *out, const char *sql)
{
	if (out->result == EXPORT_OK && sqlite3_exec(out->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		sqlite_fail(out);
}

sqlite3_stmt *sqlite_prepare(struct sqlite_out *out, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (out->result == EXPORT_OK &&
	    sqlite3_prepare_v2(out->db, sql, -1, &statement, NULL) != SQLITE_OK)
		sqlite_fail(out);
	return statement;
}

void sqlite_step(struct sqlite_out *out, sqlite3_stmt *statement)
{
	if (out->result == EXPORT_OK && sqlite3_step(statement) != SQLITE_DONE)
		sqlite_fail(out);
	sqlite3_reset(statement);
}

void sqlite_bind_number(struct sqlite_out *out, sqlite3_stmt *statement, int column,
			uint64_t number)
{
	if (number > INT64_MAX && out->result == EXPORT_OK)
		out->result =
			export_fail(out->export, EXPORT_REFUSED,
				    "%" PRIu64 " passes 2^63 - 1, SQLite's largest number", number);
	sqlite3_bind_int64(statement, column, (sqlite3_int64)number);
}

static void bind_text(struct sqlite_out *out, sqlite3_stmt *statement, int column, const char *text)
{
	size_t bytes = text != NULL ? export_clean_bytes(text) : 0;
	char *copy = text != NULL ? sqlite3_malloc64(bytes + 1) : NULL;
	int result;

	if (text == NULL) {
		sqlite3_bind_null(statement, column);
		return;
	}
	if (copy != NULL)
		export_clean(copy, text);
	result = copy != NULL ? sqlite3_bind_text64(statement, column, copy, bytes, sqlite3_free,
						    SQLITE_UTF8)
			      : SQLITE_NOMEM;
	if (result != SQLITE_OK)
		sqlite_fail(out);
}

void sqlite_put(struct sqlite_out *out, sqlite3_stmt *statement, const char *letters, ...)
{
	va_list values;
	int column;

	if (out->result != EXPORT_OK)
		return;
	va_start(values, letters);
	for (column = 1; *letters != '\0'; column++) {
		uint64_t number = 0;
		int64_t signed_number;

		switch (*letters++) {
		case 'u':
			sqlite_bind_number(out, statement, column, va_arg(values, uint64_t));
			break;
		case 'z':
			number = va_arg(values, uint64_t);
			if (number != 0)
				sqlite_bind_number(out, statement, column, number);
			else
				sqlite3_bind_null(statement, column);
			break;
		case 'a':
			number = va_arg(values, uint64_t);
			if (number != 0 && number <= INT64_MAX)
				sqlite3_bind_int64(statement, column, (sqlite3_int64)number);
			else
				sqlite3_bind_null(statement, column);
			break;
		case 'i':
			sqlite3_bind_int64(statement, column, va_arg(values, int64_t));
			break;
		case 'o':
			signed_number = va_arg(values, int64_t);
			if (signed_number >= 0)
				sqlite3_bind_int64(statement, column, signed_number);
			else
				sqlite3_bind_null(statement, column);
			break;
		case 'b':
			sqlite3_bind_int(statement, column, va_arg(values, int) != 0);
			break;
		case 'd':
			sqlite3_bind_double(statement, column, va_arg(values, double));
			break;
		case 't':
			bind_text(out, statement, column, va_arg(values, const char *));
			break;
		default:
			sqlite3_bind_null(statement, column);
			break;
		}
	}
	va_end(values);
	sqlite_step(out, statement);
}

enum export_result export_write_sqlite(struct export *export)
{
	struct sqlite_out out = {.export = export};
	struct heapshot_graph_counts counts;

	heapshot_graph_counts(export->graph, &counts);
	/* Indexes take about as long as the rows. */
	export->all = 2 * (counts.objects + counts.references) + counts.live_objects;
	if (sqlite3_open_v2(export->path, &out.db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		sqlite_fail(&out);
	sqlite_execute(&out, SETTINGS);
	sqlite_execute(&out, "BEGIN");
	sqlite_execute(&out, sqlite_tables);
	sqlite_put_recording(&out);
	sqlite_put_graph(&out);
	sqlite_put_events(&out);
	sqlite_execute(&out, sqlite_indexes);
	sqlite_execute(&out, sqlite_views);
	sqlite_execute(&out, "COMMIT");
	/* What the planner needs to know of the tables, without reading them through. */
	sqlite_execute(&out, "PRAGMA analysis_limit = 1000; ANALYZE;");
	if (sqlite3_close(out.db) != SQLITE_OK)
		sqlite_fail(&out);
	return out.result;
}
