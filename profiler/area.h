/* SPDX-License-Identifier: MIT */
/*
 * Memory straight from mmap, for what must work while the world is stopped,
 * where malloc may be locked by a thread that does not run.
 */
#ifndef HEAPSHOT_PROFILER_AREA_H
#define HEAPSHOT_PROFILER_AREA_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, page-aligned memory; NULL when there is none. */
void *hs_map(size_t bytes);
/* The same for memory that will all be used soon: one call makes its pages present. */
void *hs_map_present(size_t bytes);
void hs_unmap(void *memory, size_t bytes);

/*
 * A growing area; zero-initialised it is empty.  Its content moves when it
 * grows, so keep offsets, not pointers.
 */
struct hs_area {
	unsigned char *data;
	size_t used;
	size_t capacity;
};

/* Makes room for BYTES more (at least doubling); false, and unchanged, when there is no memory. */
bool hs_area_reserve(struct hs_area *area, size_t bytes);

/* Appends BYTES zeroed bytes, rounded up to 8 and aligned so; returns their offset, or SIZE_MAX. */
size_t hs_area_add(struct hs_area *area, size_t bytes);

void hs_area_free(struct hs_area *area);

#endif
