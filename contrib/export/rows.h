/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as rows of tables: which tables there are (rows.c), where their rows
 * come from (rows_*.c), and the sink that takes them: a database (sqlite.c) or a
 * file a table (tables.c).
 */
#ifndef HEAPSHOT_EXPORT_ROWS_H
#define HEAPSHOT_EXPORT_ROWS_H

#include "contrib/export/export.h"

/* In the order in which they are filled; events, counters and samples together. */
enum rows_table {
	ROWS_RECORDING,
	ROWS_SNAPSHOTS,
	ROWS_TYPES,
	ROWS_DOMAINS,
	ROWS_TYPE_TOTALS,
	ROWS_OBJECTS,
	ROWS_REFS,
	ROWS_FIELDS,
	ROWS_EPHEMERONS,
	ROWS_STRINGS,
	ROWS_ROOT_SOURCES,
	ROWS_ROOTS,
	ROWS_DOMINATORS,
	ROWS_EVENTS,
	ROWS_COUNTERS,
	ROWS_COUNTER_SAMPLES,
	ROWS_TABLES /* their number */
};

struct rows_description {
	const char *name;
	const char *columns;   /* as SQL declares them: "id INTEGER, name TEXT" */
	bool wants_dominators; /* some column is of them */
};

/* By enum rows_table. */
extern const struct rows_description rows_tables[ROWS_TABLES];

struct rows;

/* A row is begun, gets a value for each of its columns in their order, and ends. */
struct rows_sink {
	uint64_t number_max;              /* larger numbers are refused */
	const char *number_limit;         /* what that is, in words */
	void (*begin)(struct rows *rows); /* a row of rows->table */
	void (*number)(struct rows *rows, uint64_t number);
	void (*signed_number)(struct rows *rows, int64_t number);
	void (*real)(struct rows *rows, double number);
	void (*text)(struct rows *rows, const char *text); /* perhaps no valid UTF-8 */
	void (*null)(struct rows *rows);
	void (*end)(struct rows *rows);
};

struct rows {
	struct export *export;
	const struct rows_sink *sink;
	void *sink_data;
	bool is_wanted[ROWS_TABLES];
	enum export_result result; /* the first one that is not OK stays */
	enum rows_table table;     /* of the row under way */
};

/* Puts the rows of all tables that are wanted. */
void rows_put_all(struct rows *rows);

/* Its parts: the recording itself, its snapshots, types, domains, ... */
void rows_put_recording(struct rows *rows);
/* ... objects, references, ephemerons, strings, roots, dominators of the snapshot, ... */
void rows_put_graph(struct rows *rows);
/* ... and what happened between the snapshots. */
void rows_put_events(struct rows *rows);

/* Whether there is anything to do for TABLE. */
static inline bool rows_want(const struct rows *rows, enum rows_table table)
{
	return rows->is_wanted[table] && rows->result == EXPORT_OK;
}

static inline void rows_begin(struct rows *rows, enum rows_table table)
{
	rows->table = table;
	rows->sink->begin(rows);
}

/* Refused where the sink has no room for it. */
void rows_number(struct rows *rows, uint64_t number);

static inline void rows_end(struct rows *rows)
{
	rows->sink->end(rows);
}

/*
 * Puts a whole row, if the table is wanted.  LETTERS has one a column: u uint64_t;
 * z the same, null for 0; a the same for what stands for an address, null also
 * where the sink has no room for it; i int64_t; o the same, null below 0; b bool;
 * d double; t const char *, null for NULL; n nothing, null.
 */
void rows_put(struct rows *rows, enum rows_table table, const char *letters, ...);

/* Keeps the first failure. */
void rows_fail(struct rows *rows, enum export_result result);

#endif
