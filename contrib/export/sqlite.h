/* SPDX-License-Identifier: MIT */
/*
 * What the files of the sqlite format share: a database with an error that stays,
 * and rows by letters.
 */
#ifndef HEAPSHOT_EXPORT_SQLITE_H
#define HEAPSHOT_EXPORT_SQLITE_H

#include <sqlite3.h>

#include "contrib/export/export.h"

struct sqlite_out {
	struct export *export;
	sqlite3 *db;
	enum export_result result; /* the first one that is not OK stays */
};

/* Tables; then, when they are full, indexes and views.  See doc/export-sqlite.md. */
extern const char sqlite_tables[], sqlite_indexes[], sqlite_views[];

void sqlite_execute(struct sqlite_out *out, const char *sql);
/* NULL when something failed, now or before. */
sqlite3_stmt *sqlite_prepare(struct sqlite_out *out, const char *sql);
/*
 * Inserts a row.  LETTERS has one a column: u uint64_t; z the same, null for 0; a
 * the same for what stands for an address, null also where SQLite has no room for
 * it; i int64_t; o the same, null below 0; b bool; d double; t const char *, null
 * for NULL; n nothing, null.
 */
void sqlite_put(struct sqlite_out *out, sqlite3_stmt *statement, const char *letters, ...);
/* Inserts the row whose columns are bound. */
void sqlite_step(struct sqlite_out *out, sqlite3_stmt *statement);
/* Binds a number, refused where it passes what SQLite has room for. */
void sqlite_bind_number(struct sqlite_out *out, sqlite3_stmt *statement, int column,
			uint64_t number);
void sqlite_fail(struct sqlite_out *out);

/* The recording itself, its snapshots, types, domains, threads. */
void sqlite_put_recording(struct sqlite_out *out);
/* Objects, references, ephemerons, roots, dominators of the snapshot. */
void sqlite_put_graph(struct sqlite_out *out);
/* What happened between the snapshots. */
void sqlite_put_events(struct sqlite_out *out);

#endif
