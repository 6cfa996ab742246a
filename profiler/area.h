/* SPDX-License-Identifier: MIT */
/*
 * A growing area of pages (pages.h): it grows while the world is stopped, too.
 */
#ifndef HEAPSHOT_PROFILER_AREA_H
#define HEAPSHOT_PROFILER_AREA_H

#include <stdbool.h>
#include <stddef.h>

#include "profiler/pages.h"

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

/*
 * Appends BYTES bytes, rounded up to 8 and aligned so, zeroed but where USED was set back; returns
 * their offset, or SIZE_MAX.
 */
size_t hs_area_add(struct hs_area *area, size_t bytes);

void hs_area_free(struct hs_area *area);

#endif
