/* SPDX-License-Identifier: MIT */
/*
 * pages.h for wasm: pages from memory that was asked of malloc beforehand.
 *
 * What linear memory has grown by it never gives back, and at its limit nothing
 * more is to be had.  So a reserve is kept, which is renewed while the world runs;
 * a snapshot lives on what is there, or is given up.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/pages.h"
#include "profiler/recorder.h"
#include "profiler/wasm.h"

#define PAGE ((size_t)4096)
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
		hs_pages_keep_free(2 * bytes);
	return memory;
}

void *hs_map_present(size_t bytes)
{
	return hs_map(bytes);
}

void *hs_map_larger(void *memory, size_t bytes, size_t larger_bytes)
{
	void *larger = hs_map(larger_bytes);

	if (larger && memory) {
		memcpy(larger, memory, bytes);
		hs_unmap(memory, bytes);
	}
	return larger;
}

void hs_unmap(void *memory, size_t bytes)
{
	if (memory)
		give(memory, in_pages(bytes ? bytes : 1));
}

void hs_pages_keep_free(size_t bytes)
{
	if (bytes > reserve_bytes)
		reserve_bytes = bytes;
}

bool hs_pages_renew(void)
{
	const struct free_block *block;

	for (block = first; block; block = block->next)
		if (block->bytes >= reserve_bytes)
			return true;
	return get_more(reserve_bytes);
}
