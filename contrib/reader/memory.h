/* SPDX-License-Identifier: MIT */
/*
 * Memory of a reader: every block is counted against one limit, so that no
 * file can make it grow beyond what the caller allowed.
 */
#ifndef HEAPSHOT_READER_MEMORY_H
#define HEAPSHOT_READER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_memory {
	size_t used, limit;
};

/*
 * Grows (or makes, with OLD NULL) a block; what is new in it is zero.  Returns
 * NULL over the limit or out of memory, and OLD is still there then.
 */
void *hs_memory_grow(struct hs_memory *memory, void *old, uint64_t old_bytes, uint64_t new_bytes);

/* A new block of N elements of SIZE bytes, all zero; a product that wraps is refused. */
void *hs_memory_array(struct hs_memory *memory, uint64_t n, size_t size);

/* Frees a block of BYTES; NULL is allowed. */
void hs_memory_release(struct hs_memory *memory, void *block, uint64_t bytes);

/*
 * Makes room for one more element in *ARRAY, which has N of *ROOM elements of
 * SIZE bytes.  False over the limit.
 */
bool hs_memory_reserve(struct hs_memory *memory, void *array, size_t n, size_t *room, size_t size);

/* Texts that live as long as the arena. */
struct hs_arena_chunk;
struct hs_arena {
	struct hs_arena_chunk *chunks;
};

/* A copy of SIZE bytes with a NUL behind; NULL over the limit. */
char *hs_arena_copy(struct hs_memory *memory, struct hs_arena *arena, const void *data,
		    size_t size);
/* A copy of TEXT; "" (static) when it is NULL or empty. */
const char *hs_arena_text(struct hs_memory *memory, struct hs_arena *arena, const char *text);
void hs_arena_free(struct hs_memory *memory, struct hs_arena *arena);

#endif
