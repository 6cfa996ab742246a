/* SPDX-License-Identifier: MIT */
/*
 * Growing memory from mmap.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "profiler/area.h"

#define FIRST_BYTES ((size_t)64 << 10)

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

void hs_unmap(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

/* The content of AREA in CAPACITY bytes of memory; NULL, and it stays where it is, when there is none. */
static unsigned char *larger(struct hs_area *area, size_t capacity)
{
	unsigned char *data;

#ifdef MREMAP_MAYMOVE
	/* Its pages move as they are: copied, each would be made anew. */
	if (area->data) {
		data = mremap(area->data, area->capacity, capacity, MREMAP_MAYMOVE);
		return data == MAP_FAILED ? NULL : data;
	}
#endif
	data = hs_map(capacity);
	if (data && area->used)
		memcpy(data, area->data, area->used);
	if (data)
		hs_unmap(area->data, area->capacity);
	return data;
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
	data = larger(area, capacity);
	if (!data)
		return false;
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
