/* SPDX-License-Identifier: MIT */
/*
 * Snapshots in formats that other tools open.  A format is one row of the table
 * in formats.c and a function that writes; it knows of readers and graphs, and
 * nothing of the command line.
 */
#ifndef HEAPSHOT_EXPORT_EXPORT_H
#define HEAPSHOT_EXPORT_EXPORT_H

#include "contrib/export/output.h"
#include "contrib/reader/heapshot-graph.h"
#include "contrib/reader/heapshot-reader-fields.h"

enum export_result {
	EXPORT_OK,
	EXPORT_OUTPUT,  /* the output refused; its owner knows why */
	EXPORT_FAILED,  /* export->error says why: the system, memory */
	EXPORT_REFUSED, /* export->error says which limit of the format is passed */
};

/* Told now and then how far the writing came. */
typedef void export_progress(uint64_t done, uint64_t all);

struct export
{
	/* Names and fields are loaded. */
	struct heapshot_reader *reader;
	const struct heapshot_snapshot *snapshot;
	struct heapshot_graph *graph;
	const char *source; /* name of the recording */
	/* Where it goes: to a stream, or, for formats that want one, to an empty file. */
	struct export_output *output;
	const char *path;
	/* For formats of several tables: the stream of one, NULL when it is not wanted. */
	struct export_output *(*open_table)(void *user_data, const char *table);
	void *user_data;
	export_progress *progress; /* or NULL */
	uint64_t done, all;
	char error[320];
};

struct export_format {
	const char *name;
	enum export_result (*write)(struct export *export); /* NULL: built without it */
	const char *missing;                                /* why, then */
	bool wants_file;                                    /* it cannot be written to a stream */
	bool wants_dominators;
	bool is_tables; /* it goes to a folder, or one table of it to a stream */
	const char *help;
};

/* Ends with a row without a name. */
extern const struct export_format export_formats[];
const struct export_format *export_find_format(const char *name);

enum export_result export_write_sqlite(struct export *export);
enum export_result export_write_gcdump(struct export *export);
enum export_result export_write_folded(struct export *export);
enum export_result export_write_speedscope(struct export *export);
enum export_result export_write_mono_heap(struct export *export);
enum export_result export_write_pprof(struct export *export);
enum export_result export_write_csv(struct export *export);
enum export_result export_write_ndjson(struct export *export);
enum export_result export_write_heapsnapshot(struct export *export);

/* Sets the sentence for people and returns RESULT. */
enum export_result export_fail(struct export *export, enum export_result result, const char *format,
			       ...) __attribute__((format(printf, 3, 4)));
enum export_result export_fail_memory(struct export *export);

/* N more steps of export->all are done. */
static inline void export_advance(struct export *export, uint64_t n)
{
	const uint64_t before = export->done;

	export->done += n;
	if (export->progress != NULL && (before ^ export->done) >> 14 != 0)
		export->progress(export->done, export->all);
}

#endif
