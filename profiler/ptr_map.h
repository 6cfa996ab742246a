/* SPDX-License-Identifier: MIT */
/*
 * Map from addresses to 32-bit values: open addressing in mmap memory, so that
 * it can grow while the world is stopped.  One owner at a time.
 */
#ifndef HEAPSHOT_PROFILER_PTR_MAP_H
#define HEAPSHOT_PROFILER_PTR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_ptr_slot {
	uintptr_t key; /* 0: free */
	uint32_t value;
};

/* Zero-initialised it is empty. */
struct hs_ptr_map {
	struct hs_ptr_slot *slots;
	size_t mask; /* capacity - 1, or 0 before the first entry */
	size_t used;
	unsigned shift;
};

static inline size_t hs_ptr_hash(uintptr_t key, unsigned shift)
{
	return (size_t)(((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> shift);
}

/* The entry of KEY (not 0), or NULL. */
static inline struct hs_ptr_slot *hs_ptr_map_find(const struct hs_ptr_map *map, uintptr_t key)
{
	size_t at;

	if (!map->slots)
		return NULL;
	for (at = hs_ptr_hash(key, map->shift);; at = (at + 1) & map->mask) {
		if (map->slots[at].key == key)
			return &map->slots[at];
		if (!map->slots[at].key)
			return NULL;
	}
}

/* The value of KEY, or 0; also for the key 0. */
static inline uint32_t hs_ptr_map_get(const struct hs_ptr_map *map, uintptr_t key)
{
	const struct hs_ptr_slot *slot = key ? hs_ptr_map_find(map, key) : NULL;

	return slot ? slot->value : 0;
}

/* Sets KEY to VALUE; false when there is no memory. */
bool hs_ptr_map_set(struct hs_ptr_map *map, uintptr_t key, uint32_t value);

/* Removes KEY if it is there. */
void hs_ptr_map_remove(struct hs_ptr_map *map, uintptr_t key);

/* Makes room for N entries in all. */
bool hs_ptr_map_reserve(struct hs_ptr_map *map, size_t n);

/* Empties the map and keeps its memory. */
void hs_ptr_map_clear(struct hs_ptr_map *map);
void hs_ptr_map_free(struct hs_ptr_map *map);

#endif
