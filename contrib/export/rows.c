/* SPDX-License-Identifier: MIT */
/*
 * The tables.  doc/export-sqlite.md and doc/export-tables.md explain them; tests
 * hold both against what is here.
 */
#include <inttypes.h>
#include <stdarg.h>

#include "contrib/export/rows.h"

const struct rows_description rows_tables[ROWS_TABLES] = {
	[ROWS_RECORDING] = {"recording",
			    "file TEXT, exporter TEXT, writer TEXT, pid INTEGER, host TEXT,"
			    " command_line TEXT, runtime TEXT, architecture TEXT, system TEXT,"
			    " options TEXT, word_bytes INTEGER, started_unix_ns INTEGER",
			    false},
	[ROWS_SNAPSHOTS] = {"snapshots",
			    "id INTEGER PRIMARY KEY, label TEXT, cause TEXT, time_ns INTEGER,"
			    " complete INTEGER, exported INTEGER, objects INTEGER, refs INTEGER,"
			    " bytes INTEGER, slot_bytes INTEGER, roots INTEGER, ephemerons INTEGER,"
			    " heap_bytes INTEGER, pause_ns INTEGER, duration_ns INTEGER",
			    false},
	[ROWS_TYPES] = {"types",
			"id INTEGER PRIMARY KEY, name TEXT, assembly TEXT, name_space TEXT,"
			" kind TEXT, parent INTEGER, element INTEGER, instance_bytes INTEGER",
			false},
	[ROWS_DOMAINS] = {"domains", "id INTEGER PRIMARY KEY, name TEXT, unloaded INTEGER", false},
	[ROWS_TYPE_TOTALS] = {"type_totals",
			      "snapshot INTEGER, type TEXT, assembly TEXT, objects INTEGER,"
			      " bytes INTEGER, live_objects INTEGER, live_bytes INTEGER,"
			      " retained INTEGER",
			      true},
	[ROWS_OBJECTS] = {"objects",
			  "id INTEGER PRIMARY KEY, snapshot INTEGER, address INTEGER,"
			  " type INTEGER, domain INTEGER, bytes INTEGER, slot_bytes INTEGER,"
			  " live INTEGER",
			  false},
	[ROWS_REFS] = {"refs", "source INTEGER, target INTEGER, field INTEGER, item INTEGER",
		       false},
	[ROWS_FIELDS] = {"fields", "id INTEGER PRIMARY KEY, name TEXT", false},
	[ROWS_EPHEMERONS] = {"ephemerons", "holder INTEGER, source INTEGER, target INTEGER", false},
	[ROWS_STRINGS] = {"strings", "object INTEGER, length INTEGER, cut INTEGER, text TEXT",
			  false},
	[ROWS_ROOT_SOURCES] = {"root_sources",
			       "id INTEGER PRIMARY KEY, snapshot INTEGER, kind TEXT, name TEXT,"
			       " handle_type TEXT, type INTEGER, domain INTEGER, thread INTEGER,"
			       " retained INTEGER",
			       true},
	[ROWS_ROOTS] = {"roots",
			"id INTEGER PRIMARY KEY, object INTEGER, source INTEGER, holds INTEGER,"
			" address INTEGER",
			false},
	[ROWS_DOMINATORS] = {"dominators",
			     "object INTEGER PRIMARY KEY, dominator INTEGER, source INTEGER,"
			     " retained INTEGER",
			     true},
	[ROWS_EVENTS] = {"events",
			 "id INTEGER PRIMARY KEY, time_ns INTEGER, kind TEXT, phase TEXT,"
			 " pause INTEGER, generation INTEGER, serial INTEGER, address INTEGER,"
			 " bytes INTEGER, number INTEGER, text TEXT",
			 false},
	[ROWS_COUNTERS] = {"counters",
			   "id INTEGER PRIMARY KEY, name TEXT, section TEXT, unit TEXT,"
			   " variance TEXT",
			   false},
	[ROWS_COUNTER_SAMPLES] = {"counter_samples", "time_ns INTEGER, counter INTEGER, value",
				  false},
};

void rows_fail(struct rows *rows, enum export_result result)
{
	if (rows->result == EXPORT_OK)
		rows->result = result;
}

void rows_number(struct rows *rows, uint64_t number)
{
	if (number > rows->sink->number_max && rows->result == EXPORT_OK)
		rows->result = export_fail(rows->export, EXPORT_REFUSED, "%" PRIu64 " passes %s",
					   number, rows->sink->number_limit);
	rows->sink->number(rows, number);
}

/* A number, or null where it is 0 or passes MAX. */
static void put_some(struct rows *rows, uint64_t number, uint64_t max)
{
	if (number != 0 && number <= max)
		rows_number(rows, number);
	else
		rows->sink->null(rows);
}

void rows_put(struct rows *rows, enum rows_table table, const char *letters, ...)
{
	const struct rows_sink *sink = rows->sink;
	va_list values;

	if (!rows_want(rows, table))
		return;
	rows_begin(rows, table);
	va_start(values, letters);
	for (; *letters != '\0'; letters++) {
		int64_t signed_number;
		const char *text;

		switch (*letters) {
		case 'u':
			rows_number(rows, va_arg(values, uint64_t));
			break;
		case 'z':
			put_some(rows, va_arg(values, uint64_t), UINT64_MAX);
			break;
		case 'a':
			put_some(rows, va_arg(values, uint64_t), sink->number_max);
			break;
		case 'i':
			sink->signed_number(rows, va_arg(values, int64_t));
			break;
		case 'o':
			signed_number = va_arg(values, int64_t);
			if (signed_number >= 0)
				sink->signed_number(rows, signed_number);
			else
				sink->null(rows);
			break;
		case 'b':
			sink->number(rows, va_arg(values, int) != 0);
			break;
		case 'd':
			sink->real(rows, va_arg(values, double));
			break;
		case 't':
			text = va_arg(values, const char *);
			if (text != NULL)
				sink->text(rows, text);
			else
				sink->null(rows);
			break;
		default:
			sink->null(rows);
			break;
		}
	}
	va_end(values);
	rows_end(rows);
}

void rows_put_all(struct rows *rows)
{
	rows_put_recording(rows);
	rows_put_graph(rows);
	rows_put_events(rows);
}
