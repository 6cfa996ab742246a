/* SPDX-License-Identifier: MIT */
/*
 * Handle tables: what JavaScript and the runtime hold of each other.  FORMAT.md,
 * "Handle tables", is the specification.  Nothing here allocates.
 */
#ifndef HEAPSHOT_SCHEMA_HANDLE_TABLE_H
#define HEAPSHOT_SCHEMA_HANDLE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "schema/type_records.h"
#include "schema/wire.h"

struct hs_handle_row {
	int64_t handle;
	uint32_t js_type, js_name; /* positions among the texts, from 1; 0: none */
	uint64_t object;           /* 0: not known */
};

/* A record: a table, or a part of one. */
struct hs_handle_part {
	uint64_t snapshot, escaped, released, collected;
	struct hs_chars name, note;
	const struct hs_chars *texts;
	size_t n_texts;
	const struct hs_handle_row *rows;
	size_t n_rows;
	unsigned word_bytes;
};

/* Length of the message, and the message; PART is the struct above, returned is the end. */
size_t hs_handle_part_bytes(const struct hs_handle_part *part);
uint8_t *hs_handle_part_encode(uint8_t *out, const void *part);

struct hs_handle_decoder {
	struct hs_slice message;
	unsigned word_bytes;
	uint64_t snapshot, escaped, released, collected;
	struct hs_slice name, note;
	size_t n_texts, n_rows;
	uint32_t n_unknown;
	struct hs_slice handle, js_type, js_name, object;
	uint64_t last_handle, last_object;
};

/*
 * Begins to decode the HandleTable of SIZE bytes at DATA, which must stay.  Returns 0,
 * or -1 with a static text in *error.
 */
int hs_handle_decode(struct hs_handle_decoder *decoder, const uint8_t *data, size_t size,
		     unsigned word_bytes, const char **error);
/* The next text, beginning with a zeroed *cursor: 1, or 0 behind the last. */
int hs_handle_next_text(const struct hs_handle_decoder *decoder, struct hs_slice *cursor,
			struct hs_slice *text);
/* The next row: 1, 0 behind the last, -1 with *error set. */
int hs_handle_next(struct hs_handle_decoder *decoder, struct hs_handle_row *row,
		   const char **error);

#endif
