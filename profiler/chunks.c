/* SPDX-License-Identifier: MIT */
/*
 * Chunks of code in a sorted array: there are few, and they come seldom.
 */
#include "config.h"

#include <string.h>

#include "profiler/chunks.h"

static struct hs_chunk *array(const struct hs_chunks *chunks)
{
	return (struct hs_chunk *)(void *)chunks->sorted.data;
}

static size_t count(const struct hs_chunks *chunks)
{
	return chunks->sorted.used / sizeof(struct hs_chunk);
}

/* How many begin at or below ADDRESS. */
static size_t upper(const struct hs_chunks *chunks, uintptr_t address)
{
	size_t low = 0, high = count(chunks);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (array(chunks)[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool hs_chunks_add(struct hs_chunks *chunks, uintptr_t address, uint64_t bytes)
{
	const size_t at = upper(chunks, address), n = count(chunks);
	struct hs_chunk *place;

	if (at && array(chunks)[at - 1].address == address) {
		array(chunks)[at - 1].bytes = bytes;
		return true;
	}
	if (hs_area_add(&chunks->sorted, sizeof *place) == SIZE_MAX)
		return false;
	place = array(chunks) + at;
	memmove(place + 1, place, (n - at) * sizeof *place);
	*place = (struct hs_chunk){address, bytes};
	return true;
}

void hs_chunks_remove(struct hs_chunks *chunks, uintptr_t address)
{
	const size_t at = upper(chunks, address), n = count(chunks);
	struct hs_chunk *next = array(chunks) + at;

	if (!at || next[-1].address != address)
		return;
	memmove(next - 1, next, (n - at) * sizeof *next);
	chunks->sorted.used -= sizeof *next;
}

const struct hs_chunk *hs_chunks_find(const struct hs_chunks *chunks, uintptr_t address)
{
	const size_t at = upper(chunks, address);
	const struct hs_chunk *chunk = at ? array(chunks) + at - 1 : NULL;

	return chunk && address - chunk->address < chunk->bytes ? chunk : NULL;
}

void hs_chunks_free(struct hs_chunks *chunks)
{
	hs_area_free(&chunks->sorted);
}
