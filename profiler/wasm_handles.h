/* SPDX-License-Identifier: MIT */
/*
 * What the parts of handles.h for wasm share.
 */
#ifndef HEAPSHOT_PROFILER_WASM_HANDLES_H
#define HEAPSHOT_PROFILER_WASM_HANDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/handle_table.h"

/* Managed objects that know the number of what they stand for. */
enum hs_held {
	HS_HELD_NONE,
	HS_HELD_JS_OBJECT,
	HS_HELD_DOTNET_REFERENCE,
	HS_HELD_JS_REFERENCE,
	HS_N_HELD,
};

/* The table's name in recordings. */
extern const char *const hs_held_names[HS_N_HELD];

/* Forgets them; nothing is noted unless IS_WANTED. */
void hs_held_clear(bool is_wanted);
/* The object with NUMBER, or 0; it is not among those that are left any more. */
uint64_t hs_held_take(enum hs_held sort, int64_t number);
/* The next that was not taken, from *at on: false behind the last. */
bool hs_held_next(enum hs_held sort, size_t *at, struct hs_handle_row *row);
/* Objects that there was no memory for. */
uint64_t hs_held_n_lost(void);

/* A part of a table, as JavaScript writes it. */
enum { HS_JS_ROWS_MAX = 512, HS_JS_TEXTS_MAX = 128, HS_JS_BYTES_MAX = 8 << 10 };

struct hs_js_part {
	double escaped, released, collected;
	uint32_t n_rows, n_texts;
	struct hs_chars
		texts[HS_JS_TEXTS_MAX]; /* the table's name, its note, and what rows refer to */
	struct hs_handle_row rows[HS_JS_ROWS_MAX]; /* their objects are not set */
	char bytes[HS_JS_BYTES_MAX];
};

/* Whether there is a function Module.heapshot.tables. */
bool hs_js_has_tables(void);
/* Calls it; false when there is nothing to read. */
bool hs_js_begin(void);
/* The next part: false behind the last. */
bool hs_js_next(struct hs_js_part *part);

#endif
