/* SPDX-License-Identifier: MIT */
/*
 * A map from 64-bit keys (ids, addresses) to 32-bit indexes: open addressing,
 * no deletion, memory counted.
 */
#ifndef HEAPSHOT_READER_IDMAP_H
#define HEAPSHOT_READER_IDMAP_H

#include "contrib/reader/memory.h"

struct hs_idmap_entry {
	uint64_t key;
	uint32_t value;
	uint32_t is_used;
};

struct hs_idmap {
	struct hs_idmap_entry *entries;
	size_t n_entries; /* a power of two, or 0 */
	size_t n_used;
};

/* The value of KEY, or NULL. */
static inline uint32_t *hs_idmap_find(const struct hs_idmap *map, uint64_t key)
{
	size_t mask = map->n_entries - 1, i;

	if (map->n_entries == 0)
		return NULL;
	for (i = (size_t)(key * 0x9E3779B97F4A7C15ull >> 20);; i++) {
		struct hs_idmap_entry *entry = &map->entries[i & mask];

		if (!entry->is_used)
			return NULL;
		if (entry->key == key)
			return &entry->value;
	}
}

/* Sets the value of KEY; false over the limit of memory. */
bool hs_idmap_put(struct hs_memory *memory, struct hs_idmap *map, uint64_t key, uint32_t value);
void hs_idmap_free(struct hs_memory *memory, struct hs_idmap *map);

#endif
