/* SPDX-License-Identifier: MIT */
/*
 * The map's growing half; looking up stands in the header.
 */
#include "contrib/reader/idmap.h"

static void place(struct hs_idmap *map, uint64_t key, uint32_t value)
{
	size_t mask = map->n_entries - 1, i = (size_t)(key * 0x9E3779B97F4A7C15ull >> 20);

	while (map->entries[i & mask].is_used)
		i++;
	map->entries[i & mask] = (struct hs_idmap_entry){key, value, 1};
	map->n_used++;
}

static bool grow(struct hs_memory *memory, struct hs_idmap *map)
{
	struct hs_idmap old = *map;
	size_t i;

	map->n_entries = old.n_entries ? old.n_entries * 2 : 64;
	map->entries = hs_memory_array(memory, map->n_entries, sizeof(*map->entries));
	if (map->entries == NULL) {
		*map = old;
		return false;
	}
	map->n_used = 0;
	for (i = 0; i < old.n_entries; i++)
		if (old.entries[i].is_used)
			place(map, old.entries[i].key, old.entries[i].value);
	hs_memory_release(memory, old.entries, old.n_entries * sizeof(*old.entries));
	return true;
}

bool hs_idmap_put(struct hs_memory *memory, struct hs_idmap *map, uint64_t key, uint32_t value)
{
	uint32_t *found = hs_idmap_find(map, key);

	if (found != NULL) {
		*found = value;
		return true;
	}
	if ((map->n_used + 1) * 4 > map->n_entries * 3 && !grow(memory, map))
		return false;
	place(map, key, value);
	return true;
}

void hs_idmap_free(struct hs_memory *memory, struct hs_idmap *map)
{
	hs_memory_release(memory, map->entries, map->n_entries * sizeof(*map->entries));
	*map = (struct hs_idmap){0};
}
