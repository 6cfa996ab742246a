/* SPDX-License-Identifier: MIT */
/*
 * area.h for wasm: pages from memory that was asked of malloc beforehand.
 *
 * What linear memory has grown by it never gives back, and at its limit nothing
 * more is to be had.  So a reserve is kept, which is renewed while the world runs;
 * a snapshot lives on what is there, or is given up.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/area.h"
#include "profiler/recorder.h"
#include "profiler/wasm.h"

#define PAGE        ((size_t)4096)
#define FIRST_BYTES (16 * PAGE)
/* Least that malloc is asked for. */
#define PIECE_BYTES (64 * PAGE)

/* Free pages, in the order of their addresses. */
struct free_block {
	struct free_block *next;
	size_t bytes;
};

static struct free_block *first;
static size_t reserve_bytes; /* that are to be free in one block */

static size_t in_pages(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

static void *take(size_t bytes)
{
	struct free_block **link, *block, *rest;

	for (link = &first; (block = *link) != NULL; link = &block->next) {
		if (block->bytes < bytes)
			continue;
		if (block->bytes == bytes) {
			*link = block->next;
			return block;
		}
		rest = (struct free_block *)(void *)((unsigned char *)block + bytes);
		rest->next = block->next;
		rest->bytes = block->bytes - bytes;
		*link = rest;
		return block;
	}
	return NULL;
}

static bool is_behind(const struct free_block *one, const void *other)
{
	return (const unsigned char *)one + one->bytes == (const unsigned char *)other;
}

static void give(void *memory, size_t bytes)
{
	struct free_block *block = memory, *before = NULL, *after = first;

	while (after && (uintptr_t)after < (uintptr_t)block) {
		before = after;
		after = after->next;
	}
	block->bytes = bytes;
	block->next = after;
	if (after && is_behind(block, after)) {
		block->bytes += after->bytes;
		block->next = after->next;
	}
	if (before && is_behind(before, block)) {
		before->bytes += block->bytes;
		before->next = block->next;
	} else if (before) {
		before->next = block;
	} else {
		first = block;
	}
}

/* False in the stopped world too: there malloc might have to grow the memory. */
static bool get_more(size_t bytes)
{
	void *memory;

	if (hs_is_stopped_by_us())
		return false;
	bytes = bytes < PIECE_BYTES ? PIECE_BYTES : in_pages(bytes);
	memory = aligned_alloc(PAGE, bytes);
	if (memory)
		give(memory, bytes);
	return memory != NULL;
}

void *hs_map(size_t bytes)
{
	void *memory;

	bytes = in_pages(bytes ? bytes : 1);
	memory = take(bytes);
	if (!memory && get_more(bytes))
		memory = take(bytes);
	if (memory)
		memset(memory, 0, bytes);
	else if (hs_is_stopped_by_us())
		hs_area_keep_free(2 * bytes);
	return memory;
}

void *hs_map_present(size_t bytes)
{
	return hs_map(bytes);
}

void hs_unmap(void *memory, size_t bytes)
{
	if (memory)
		give(memory, in_pages(bytes ? bytes : 1));
}

void hs_area_keep_free(size_t bytes)
{
	if (bytes > reserve_bytes)
		reserve_bytes = bytes;
}

bool hs_area_renew(void)
{
	const struct free_block *block;

	for (block = first; block; block = block->next)
		if (block->bytes >= reserve_bytes)
			return true;
	return get_more(reserve_bytes);
}

bool hs_area_reserve(struct hs_area *area, size_t bytes)
{
	size_t capacity = area->capacity ? area->capacity : FIRST_BYTES;
	unsigned char *data;

	if (bytes <= area->capacity - area->used)
		return true;
	while (capacity - area->used < bytes) {
		if (capacity > SIZE_MAX / 4)
			return false;
		capacity *= 2;
	}
	data = hs_map(capacity);
	if (!data)
		return false;
	if (area->used)
		memcpy(data, area->data, area->used);
	hs_unmap(area->data, area->capacity);
	area->data = data;
	area->capacity = capacity;
	return true;
}

size_t hs_area_add(struct hs_area *area, size_t bytes)
{
	size_t offset;

	bytes = (bytes + 7) & ~(size_t)7;
	if (!hs_area_reserve(area, bytes))
		return SIZE_MAX;
	offset = area->used;
	area->used += bytes;
	return offset;
}

void hs_area_free(struct hs_area *area)
{
	hs_unmap(area->data, area->capacity);
	memset(area, 0, sizeof *area);
}
