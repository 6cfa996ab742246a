/* SPDX-License-Identifier: MIT */
/*
 * Making the index of addresses, and the way back from number to address.
 */
#include "contrib/reader/graph_index.h"
#include "contrib/reader/sort.h"

void hs_index_init(struct hs_index *index, unsigned word_bytes)
{
	*index = (struct hs_index){.word_shift = word_bytes == 4 ? 2 : 3};
}

void hs_index_free(struct hs_memory *memory, struct hs_index *index)
{
	size_t i;

	for (i = 0; i < index->n; i++)
		hs_memory_release(memory, index->places[i].section, sizeof(struct hs_section));
	hs_memory_release(memory, index->places, index->room * sizeof(*index->places));
	hs_idmap_free(memory, &index->map);
	hs_memory_release(memory, index->direct, index->n_direct * sizeof(*index->direct));
	index->places = NULL;
	index->direct = NULL;
	index->n = index->room = index->n_direct = 0;
}

static struct hs_section *add_section(struct hs_memory *memory, struct hs_index *index,
				      uint64_t key)
{
	struct hs_section *section;

	if (index->n >= UINT32_MAX ||
	    !hs_memory_reserve(memory, &index->places, index->n, &index->room,
			       sizeof(*index->places)) ||
	    !hs_idmap_put(memory, &index->map, key, (uint32_t)index->n))
		return NULL;
	section = hs_memory_grow(memory, NULL, 0, sizeof(*section));
	if (section == NULL)
		return NULL;
	index->places[index->n++] = (struct hs_section_place){key, section};
	return section;
}

bool hs_index_enter(struct hs_memory *memory, struct hs_index *index, uint64_t key)
{
	const uint32_t *place = hs_idmap_find(&index->map, key);

	index->last =
		place != NULL ? index->places[*place].section : add_section(memory, index, key);
	index->last_key = key;
	return index->last != NULL;
}

static inline bool is_before(const struct hs_section_place *a, const struct hs_section_place *b)
{
	return a->key < b->key;
}

HS_DEFINE_SORT(sort_places, struct hs_section_place, is_before)

/* Most heaps lie together; where there is no room for the table, the map does. */
static void make_direct(struct hs_memory *memory, struct hs_index *index)
{
	uint64_t first, span;
	size_t i;

	if (index->n == 0)
		return;
	first = index->places[0].key;
	span = index->places[index->n - 1].key - first;
	if (span > index->n * (uint64_t)64 + 8192)
		return;
	index->direct = hs_memory_array(memory, span + 1, sizeof(*index->direct));
	if (index->direct == NULL)
		return;
	index->first_key = first;
	index->n_direct = span + 1;
	for (i = 0; i < index->n; i++)
		index->direct[index->places[i].key - first] = index->places[i].section;
}

bool hs_index_finish(struct hs_memory *memory, struct hs_index *index, uint64_t *n_objects)
{
	uint64_t n = 0;
	size_t i, k;

	index->last = NULL;
	sort_places(index->places, index->n);
	for (i = 0; i < index->n; i++) {
		struct hs_section *section = index->places[i].section;

		if (!hs_idmap_put(memory, &index->map, index->places[i].key, (uint32_t)i))
			return false;
		for (k = 0; k < HS_SECTION_WORDS; k++) {
			section->parts[k].rank = (uint32_t)n; /* the caller refuses more */
			n += hs_bits(hs_section_bits(&section->parts[k]));
		}
	}
	*n_objects = n;
	make_direct(memory, index);
	return true;
}

uint64_t hs_index_address(const struct hs_index *index, uint32_t number)
{
	const struct hs_section *section;
	size_t low = 0, high = index->n;
	uint32_t left;
	uint64_t word;

	/* The last section, then the last word, with fewer objects before than NUMBER + 1. */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (index->places[middle].section->parts[0].rank <= number)
			low = middle;
		else
			high = middle;
	}
	section = index->places[low].section;
	number -= section->parts[0].rank;
	{
		size_t first = 0, end = HS_SECTION_WORDS;

		while (end - first > 1) {
			size_t middle = first + (end - first) / 2;

			if (section->parts[middle].rank - section->parts[0].rank <= number)
				first = middle;
			else
				end = middle;
		}
		left = number - (section->parts[first].rank - section->parts[0].rank);
		word = hs_section_bits(&section->parts[first]);
		while (left-- > 0)
			word &= word - 1;
		return ((index->places[low].key << HS_SECTION_BITS_LOG) + first * 64 +
			(uint64_t)__builtin_ctzll(word))
		       << index->word_shift;
	}
}

uint32_t hs_index_before(const struct hs_index *index, uint64_t address)
{
	uint64_t key = address >> (index->word_shift + HS_SECTION_BITS_LOG), word;
	uint32_t bit = (uint32_t)(address >> index->word_shift) & ((1u << HS_SECTION_BITS_LOG) - 1);
	const struct hs_section *section;
	size_t low = 0, high = index->n;
	uint32_t before;

	/* The first section behind KEY's. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->places[middle].key <= key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return UINT32_MAX;
	section = index->places[low - 1].section;
	if (index->places[low - 1].key < key)
		bit = (1u << HS_SECTION_BITS_LOG) - 1;
	word = hs_section_bits(&section->parts[bit / 64]) & (~(uint64_t)0 >> (63 - bit % 64));
	before = section->parts[bit / 64].rank + hs_bits(word);
	return before == 0 ? UINT32_MAX : before - 1;
}
