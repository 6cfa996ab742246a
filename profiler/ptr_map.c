/* SPDX-License-Identifier: MIT */
/*
 * Map from addresses to 32-bit values.
 */
#include "config.h"

#include <string.h>

#include "profiler/area.h"
#include "profiler/ptr_map.h"

#define FIRST_CAPACITY 256u

static size_t map_bytes(const struct hs_ptr_map *map)
{
	return map->slots ? (map->mask + 1) * sizeof *map->slots : 0;
}

static void insert(struct hs_ptr_map *map, uintptr_t key, uint32_t value)
{
	size_t at = hs_ptr_hash(key, map->shift);

	while (map->slots[at].key)
		at = (at + 1) & map->mask;
	map->slots[at].key = key;
	map->slots[at].value = value;
	map->used++;
}

bool hs_ptr_map_reserve(struct hs_ptr_map *map, size_t n)
{
	struct hs_ptr_map larger = {0};
	size_t capacity = map->slots ? map->mask + 1 : FIRST_CAPACITY;
	size_t at;

	/* At most half full, so that probes stay short. */
	while (capacity / 2 < n) {
		if (capacity > SIZE_MAX / 64)
			return false;
		capacity *= 2;
	}
	if (map->slots && capacity == map->mask + 1)
		return true;
	larger.slots = hs_map_present(capacity * sizeof *larger.slots);
	if (!larger.slots)
		return false;
	larger.mask = capacity - 1;
	larger.shift = 64u - (unsigned)__builtin_ctzll(capacity);
	for (at = 0; map->slots && at <= map->mask; at++)
		if (map->slots[at].key)
			insert(&larger, map->slots[at].key, map->slots[at].value);
	hs_unmap(map->slots, map_bytes(map));
	*map = larger;
	return true;
}

bool hs_ptr_map_set(struct hs_ptr_map *map, uintptr_t key, uint32_t value)
{
	struct hs_ptr_slot *slot = hs_ptr_map_find(map, key);

	if (slot) {
		slot->value = value;
		return true;
	}
	if (!hs_ptr_map_reserve(map, map->used + 1))
		return false;
	insert(map, key, value);
	return true;
}

void hs_ptr_map_remove(struct hs_ptr_map *map, uintptr_t key)
{
	struct hs_ptr_slot *slot = hs_ptr_map_find(map, key);
	size_t hole, at;

	if (!slot)
		return;
	/* Entries behind the hole move up unless they stand before their home. */
	hole = (size_t)(slot - map->slots);
	for (at = (hole + 1) & map->mask; map->slots[at].key; at = (at + 1) & map->mask) {
		size_t home = hs_ptr_hash(map->slots[at].key, map->shift);
		if (((at - home) & map->mask) >= ((at - hole) & map->mask)) {
			map->slots[hole] = map->slots[at];
			hole = at;
		}
	}
	map->slots[hole].key = 0;
	map->used--;
}

void hs_ptr_map_clear(struct hs_ptr_map *map)
{
	if (map->used)
		memset(map->slots, 0, map_bytes(map));
	map->used = 0;
}

void hs_ptr_map_free(struct hs_ptr_map *map)
{
	hs_unmap(map->slots, map_bytes(map));
	memset(map, 0, sizeof *map);
}
