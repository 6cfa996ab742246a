/* SPDX-License-Identifier: MIT */
/*
 * The reader in WebAssembly: what it asks of JavaScript (contrib/browser/panel/reader.js),
 * and what its files share.  Sizes and places are doubles, which hold 2^53.
 */
#ifndef HEAPSHOT_WASM_READER_HOST_H
#define HEAPSHOT_WASM_READER_HOST_H

#include "contrib/cli/json.h"
#include "contrib/cli/report.h"
#include "contrib/export/export.h"

#define HOST(name) __attribute__((import_module("heapshot"), import_name(name)))

/* Bytes of file number FILE; reads SIZE of them, or fewer at the end: how many, -1: failed. */
HOST("size") double host_size(uint32_t file);
HOST("read") int32_t host_read(uint32_t file, double offset, void *buffer, uint32_t size);
/* Takes what an export writes; false: it cannot. */
HOST("take") bool host_take(const void *data, uint32_t size);
/* How far reading (else writing) came. */
HOST("progress") void host_progress(bool is_reading, double done, double all);

/* Names of the files, in their order. */
extern const char *const *reader_names;
extern uint32_t reader_n_names;

/* The report that is open. */
extern struct report reader_report;
/* By place among the snapshots of the report; NULL, said, where there is none. */
struct report_snapshot *reader_snapshot(uint32_t snapshot);

/* What the last question was answered by, text of JSON; the stream is closed by the latter. */
FILE *reader_answer(void);
int reader_answered(FILE *out, int status);

/* ---- What JavaScript calls: statuses, failures are said ---- */

/* Opens N files and reads them as a report does.  NAMES: one behind the other; they stay. */
int reader_open(const char *names, uint32_t n, bool is_all);
/* Answers with the JSON of the report, of MOST bytes at most. */
int reader_json(double most);
/* The text of the last answer. */
const char *reader_text(void);
size_t reader_text_bytes(void);
/* Answers with the nodes below NODE of the tree of retained sizes; 0: the whole heap. */
int reader_children(uint32_t snapshot, uint32_t node);
/* Answers with at most MOST paths to TYPE, a number of the report's JSON. */
int reader_paths(uint32_t snapshot, uint32_t type, uint32_t most);
/* Gives a snapshot in the format NAME, one of a single stream, or "hs": as a recording of its own. */
int reader_export(uint32_t snapshot, const char *name);

#endif
