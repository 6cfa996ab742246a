/* SPDX-License-Identifier: MIT */
/*
 * Growing areas.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "profiler/area.h"

#define FIRST_BYTES ((size_t)64 << 10)

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
	data = hs_map_larger(area->data, area->capacity, capacity);
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
