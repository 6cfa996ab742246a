/* SPDX-License-Identifier: MIT */
/*
 * pages.h by mmap.
 */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "profiler/pages.h"

#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

static void *map(size_t bytes, int flags)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void *hs_map(size_t bytes)
{
	return map(bytes, 0);
}

void *hs_map_present(size_t bytes)
{
	return map(bytes, MAP_POPULATE);
}

void *hs_map_larger(void *memory, size_t bytes, size_t larger_bytes)
{
	void *larger;

#ifdef MREMAP_MAYMOVE
	/* Its pages move as they are: copied, each would be made anew. */
	if (memory) {
		larger = mremap(memory, bytes, larger_bytes, MREMAP_MAYMOVE);
		return larger == MAP_FAILED ? NULL : larger;
	}
#endif
	larger = hs_map(larger_bytes);
	if (larger && memory) {
		memcpy(larger, memory, bytes);
		hs_unmap(memory, bytes);
	}
	return larger;
}

void hs_unmap(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}
