/* SPDX-License-Identifier: MIT */
/*
 * The table of formats, and how a writer tells what went wrong.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "contrib/export/export.h"

#ifdef HAVE_SQLITE
#define SQLITE export_write_sqlite, NULL
#else
#define SQLITE NULL, "libsqlite3 was not there when heapshot was built"
#endif

const struct export_format export_formats[] = {
	{"sqlite", SQLITE, true, true, false, "a database for SQL queries"},
	{"gcdump", export_write_gcdump, NULL, false, false, false,
	 "for PerfView, Visual Studio, dotnet-gcdump"},
	{"heapsnapshot", export_write_heapsnapshot, NULL, false, false, false,
	 "for the DevTools of Chromium, VS Code, memlab"},
	{"folded", export_write_folded, NULL, false, true, false,
	 "stacks of retained bytes, for flame graphs"},
	{"speedscope", export_write_speedscope, NULL, false, true, false,
	 "the same for speedscope"},
	{"mono-heap", export_write_mono_heap, NULL, false, false, false,
	 "for MonoHeapSnapshotViewer, dotnet-heapview"},
	{"pprof", export_write_pprof, NULL, false, true, false,
	 "the same for go tool pprof, Grafana"},
	{"csv", export_write_csv, NULL, false, true, true, "tables for DuckDB, Spark, ClickHouse"},
	{"ndjson", export_write_ndjson, NULL, false, true, true, "the same as lines of JSON"},
	{NULL, NULL, NULL, false, false, false, NULL},
};

const struct export_format *export_find_format(const char *name)
{
	const struct export_format *format;

	for (format = export_formats; format->name != NULL; format++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

enum export_result export_fail(struct export *export, enum export_result result, const char *format,
			       ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(export->error, sizeof(export->error), format, arguments);
	va_end(arguments);
	return result;
}

enum export_result export_fail_memory(struct export *export)
{
	return export_fail(export, EXPORT_FAILED, "out of memory");
}
