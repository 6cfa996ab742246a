/* SPDX-License-Identifier: MIT */
/*
 * Counted memory and text arenas.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/memory.h"

#define ARENA_CHUNK_BYTES (32u << 10)

struct hs_arena_chunk {
	struct hs_arena_chunk *next;
	size_t bytes, used;
	char data[];
};

void *hs_memory_grow(struct hs_memory *memory, void *old, uint64_t old_bytes, uint64_t new_bytes)
{
	void *block;

	if (new_bytes <= old_bytes)
		return old;
	if (new_bytes - old_bytes > memory->limit ||
	    memory->used > memory->limit - (new_bytes - old_bytes))
		return NULL;
	/* Large new blocks come zeroed from the system, untouched. */
	block = old == NULL ? calloc(1, (size_t)new_bytes) : realloc(old, (size_t)new_bytes);
	if (block == NULL)
		return NULL;
	if (old != NULL)
		memset((char *)block + old_bytes, 0, (size_t)(new_bytes - old_bytes));
	memory->used += (size_t)(new_bytes - old_bytes);
	return block;
}

void *hs_memory_array(struct hs_memory *memory, uint64_t n, size_t size)
{
	return n <= UINT64_MAX / size ? hs_memory_grow(memory, NULL, 0, n * size) : NULL;
}

void hs_memory_release(struct hs_memory *memory, void *block, uint64_t bytes)
{
	if (block == NULL)
		return;
	memory->used -= (size_t)bytes;
	free(block);
}

bool hs_memory_reserve(struct hs_memory *memory, void *array, size_t n, size_t *room, size_t size)
{
	void *block;
	size_t more;

	if (n < *room)
		return true;
	more = *room < 16 ? 16 : *room + *room / 2;
	if (more > SIZE_MAX / size)
		return false;
	memcpy(&block, array, sizeof(block));
	block = hs_memory_grow(memory, block, *room * size, more * size);
	if (block == NULL)
		return false;
	memcpy(array, &block, sizeof(block));
	*room = more;
	return true;
}

char *hs_arena_copy(struct hs_memory *memory, struct hs_arena *arena, const void *data, size_t size)
{
	struct hs_arena_chunk *chunk = arena->chunks;
	char *copy;

	if (chunk == NULL || chunk->bytes - chunk->used <= size) {
		size_t bytes = size + 1 > ARENA_CHUNK_BYTES ? size + 1 : ARENA_CHUNK_BYTES;

		chunk = hs_memory_grow(memory, NULL, 0, sizeof(*chunk) + bytes);
		if (chunk == NULL)
			return NULL;
		chunk->bytes = bytes;
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	copy = chunk->data + chunk->used;
	memcpy(copy, data, size);
	copy[size] = '\0';
	chunk->used += size + 1;
	return copy;
}

const char *hs_arena_text(struct hs_memory *memory, struct hs_arena *arena, const char *text)
{
	if (text == NULL || *text == '\0')
		return "";
	return hs_arena_copy(memory, arena, text, strlen(text));
}

void hs_arena_free(struct hs_memory *memory, struct hs_arena *arena)
{
	while (arena->chunks != NULL) {
		struct hs_arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		hs_memory_release(memory, chunk, sizeof(*chunk) + chunk->bytes);
	}
}
