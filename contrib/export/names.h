/* SPDX-License-Identifier: MIT */
/*
 * Texts with numbers: each distinct one once, numbered from 0 in the order in
 * which they came, as valid UTF-8 (U+FFFD for what is not).
 */
#ifndef HEAPSHOT_EXPORT_NAMES_H
#define HEAPSHOT_EXPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT_NO_NAME UINT32_MAX

struct export_names_chunk;
struct export_names {
	const char **texts;
	size_t n, room;
	uint32_t *index; /* by hash; numbers from 1, 0: free */
	size_t index_room;
	struct export_names_chunk *chunks;
};

/* The number of TEXT, added when it is new; NO_NAME without memory. */
uint32_t export_name(struct export_names *names, const char *text);
void export_names_free(struct export_names *names);

/* Bytes that TEXT takes as valid UTF-8, without the NUL. */
size_t export_clean_bytes(const char *text);
/* Writes it, with a NUL; returns its end. */
char *export_clean(char *to, const char *text);

#endif
