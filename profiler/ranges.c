/* SPDX-License-Identifier: MIT */
/*
 * Address-ordered map of root ranges.
 */
#include "config.h"

#include <string.h>

#include "profiler/ranges.h"
#include "schema/heapshot.pb-c.h"

#define FREE_END UINT32_MAX
#define NO_NAME  UINT32_MAX

static struct hs_range *range_at(const struct hs_ranges *ranges, uint32_t index)
{
	return (struct hs_range *)(void *)ranges->ranges.data + index;
}

const char *hs_range_name(const struct hs_ranges *ranges, const struct hs_range *range)
{
	return (const char *)ranges->names.data + (size_t)range->name * HS_RANGE_NAME_MAX;
}

/* The runtime uses some thirty texts: each is kept once.  NO_NAME: not even one has room. */
static uint32_t intern_name(struct hs_ranges *ranges, const char *name)
{
	char text[HS_RANGE_NAME_MAX] = {0};
	uint32_t i;

	strncpy(text, name, sizeof text - 1);
	for (i = 0; i < ranges->n_names; i++)
		if (memcmp(ranges->names.data + (size_t)i * sizeof text, text, sizeof text) == 0)
			return i;
	/* Should a runtime make up names without end, they share the last one. */
	if (ranges->n_names >= 1024 || hs_area_add(&ranges->names, sizeof text) == SIZE_MAX)
		return ranges->n_names ? ranges->n_names - 1 : NO_NAME;
	memcpy(ranges->names.data + (size_t)ranges->n_names * sizeof text, text, sizeof text);
	return ranges->n_names++;
}

static uint32_t new_range(struct hs_ranges *ranges)
{
	uint32_t index;

	if (ranges->first_free) {
		index = ranges->first_free - 1;
		ranges->first_free = (uint32_t)range_at(ranges, index)->key;
		return index;
	}
	if (hs_area_add(&ranges->ranges, sizeof(struct hs_range)) == SIZE_MAX)
		return FREE_END;
	return ranges->n_ranges++;
}

static void free_range(struct hs_ranges *ranges, uint32_t index)
{
	struct hs_range *range = range_at(ranges, index);

	memset(range, 0, sizeof *range);
	range->key = ranges->first_free;
	ranges->first_free = index + 1;
}

bool hs_ranges_add(struct hs_ranges *ranges, uintptr_t start, uintptr_t size, uint32_t kind,
		   uintptr_t key, const char *name)
{
	struct hs_range *range;
	uint32_t index, text;

	/* The runtime announces the table of handles as (NULL, 0): nothing is there. */
	if (!start || !size)
		return true;
	text = intern_name(ranges, name);
	if (text == NO_NAME)
		return false;
	index = hs_ptr_map_get(&ranges->by_start, start);
	if (index) {
		index--;
	} else {
		index = new_range(ranges);
		if (index == FREE_END || !hs_ptr_map_set(&ranges->by_start, start, index + 1))
			return false;
	}
	range = range_at(ranges, index);
	range->start = start;
	range->size = size;
	range->kind = kind;
	range->key = key;
	range->ended_gc = 0;
	range->name = text;
	ranges->is_settled = false;
	return true;
}

void hs_ranges_remove(struct hs_ranges *ranges, uintptr_t start)
{
	uint32_t index = start ? hs_ptr_map_get(&ranges->by_start, start) : 0;

	if (!index)
		return;
	hs_ptr_map_remove(&ranges->by_start, start);
	range_at(ranges, index - 1)->ended_gc = ranges->gc + HS_RANGE_KEPT_GCS;
	ranges->is_settled = false;
}

void hs_ranges_gc_ended(struct hs_ranges *ranges)
{
	ranges->gc++;
}

/* Sift down of a heap sort: qsort may allocate, and the world is stopped. */
static void sift(struct hs_range_place *places, size_t root, size_t n)
{
	const struct hs_range_place moved = places[root];
	size_t child;

	for (; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && places[child + 1].start > places[child].start)
			child++;
		if (places[child].start <= moved.start)
			break;
		places[root] = places[child];
	}
	places[root] = moved;
}

static size_t n_places(const struct hs_area *area)
{
	return area->used / sizeof(struct hs_range_place);
}

static void sort(struct hs_area *area)
{
	struct hs_range_place *places = (struct hs_range_place *)(void *)area->data;
	size_t n = n_places(area), i;

	for (i = n / 2; i-- > 0;)
		sift(places, i, n);
	for (i = n; i-- > 1;) {
		const struct hs_range_place last = places[i];
		places[i] = places[0];
		places[0] = last;
		sift(places, 0, i);
	}
}

static bool add_place(struct hs_area *area, uintptr_t start, uintptr_t size, uint32_t range,
		      uint32_t first_slot)
{
	size_t offset = hs_area_add(area, sizeof(struct hs_range_place));
	struct hs_range_place *place;

	if (offset == SIZE_MAX)
		return false;
	place = (struct hs_range_place *)(void *)(area->data + offset);
	place->start = start;
	place->end = start + size < start ? UINTPTR_MAX : start + size;
	place->range = range;
	place->first_slot = first_slot;
	return true;
}

/*
 * Mono's threads.c, static_data_size: a thread's first block (1,024 bytes) is
 * registered; its words 1 to 7 point to the further ones.
 */
static bool add_thread_blocks(struct hs_ranges *ranges, uint32_t index, unsigned word_bytes)
{
	static const uintptr_t sizes[] = {4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
	const struct hs_range *range = range_at(ranges, index);
	const uintptr_t *block = (const uintptr_t *)range->start;
	uint32_t first_slot = (uint32_t)(range->size / word_bytes);
	size_t i;

	if (ranges->is_uncertain || range->size < 8 * word_bytes)
		return true;
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		if (block[i + 1] &&
		    !add_place(&ranges->live, block[i + 1], sizes[i], index, first_slot))
			return false;
		first_slot += (uint32_t)(sizes[i] / word_bytes);
	}
	return true;
}

bool hs_ranges_settle(struct hs_ranges *ranges, unsigned word_bytes)
{
	bool is_good = true;
	uint32_t i;

	/* Thread blocks come without an event: with such ranges nothing stays settled. */
	if (ranges->is_settled)
		return true;
	ranges->live.used = ranges->ended.used = 0;
	ranges->is_settled = true;
	for (i = 0; i < ranges->n_ranges && is_good; i++) {
		const struct hs_range *range = range_at(ranges, i);
		if (!range->start)
			continue;
		if (range->ended_gc && range->ended_gc <= ranges->gc) {
			free_range(ranges, i);
			continue;
		}
		is_good = add_place(range->ended_gc ? &ranges->ended : &ranges->live, range->start,
				    range->size, i, 0);
		if (range->ended_gc)
			ranges->is_settled = false;
		else if (range->kind == HEAPSHOT__ROOT_KIND__ROOT_KIND_THREAD_STATIC ||
			 range->kind == HEAPSHOT__ROOT_KIND__ROOT_KIND_CONTEXT_STATIC) {
			is_good = is_good && add_thread_blocks(ranges, i, word_bytes);
			ranges->is_settled = false;
		}
	}
	sort(&ranges->live);
	sort(&ranges->ended);
	return is_good;
}

static const struct hs_range_place *find(const struct hs_area *area, uintptr_t address)
{
	const struct hs_range_place *places =
		(const struct hs_range_place *)(const void *)area->data;
	size_t low = 0, high = n_places(area);
	unsigned back;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (places[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Ended ranges may overlap what came after them. */
	for (back = 0; low > 0 && back < 8; back++)
		if (address < places[--low].end)
			return &places[low];
	return NULL;
}

const struct hs_range *hs_ranges_find(const struct hs_ranges *ranges, uintptr_t address,
				      uintptr_t *slot)
{
	const struct hs_range_place *place = find(&ranges->live, address);

	if (!place)
		place = find(&ranges->ended, address);
	if (!place)
		return NULL;
	*slot = place->first_slot + (address - place->start) / sizeof(uintptr_t);
	return range_at(ranges, place->range);
}

void hs_ranges_free(struct hs_ranges *ranges)
{
	hs_area_free(&ranges->ranges);
	hs_area_free(&ranges->live);
	hs_area_free(&ranges->ended);
	hs_area_free(&ranges->names);
	hs_ptr_map_free(&ranges->by_start);
	memset(ranges, 0, sizeof *ranges);
}
