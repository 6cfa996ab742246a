/* SPDX-License-Identifier: MIT */
/*
 * Numbers of addresses: a bit for each word of the heap in which an object
 * starts, and the number of objects before each 64 words.  The heap is cut into
 * sections of 2^15 words; only those in which an object starts take memory
 * (6 KB each), so that addresses may lie anywhere.
 */
#ifndef HEAPSHOT_READER_GRAPH_INDEX_H
#define HEAPSHOT_READER_GRAPH_INDEX_H

#include "contrib/reader/idmap.h"

#define HS_SECTION_BITS_LOG 15
#define HS_SECTION_WORDS    ((1u << HS_SECTION_BITS_LOG) / 64)

/* 64 words of the heap; what is wanted together stands together. */
struct hs_section_part {
	uint32_t low, high; /* bits */
	uint32_t rank;      /* objects before, in the whole heap */
};

struct hs_section {
	struct hs_section_part parts[HS_SECTION_WORDS];
};

static inline uint64_t hs_section_bits(const struct hs_section_part *part)
{
	return part->low | (uint64_t)part->high << 32;
}

struct hs_section_place {
	uint64_t key; /* address >> (word_shift + HS_SECTION_BITS_LOG) */
	struct hs_section *section;
};

struct hs_index {
	unsigned word_shift;
	struct hs_section_place *places; /* ascending once the index is finished */
	size_t n, room;
	struct hs_idmap map; /* key -> place */
	/* The same by key - first_key, where the sections lie close enough together. */
	struct hs_section **direct;
	uint64_t first_key, n_direct;
	uint64_t last_key; /* while objects are added */
	struct hs_section *last;
};

void hs_index_init(struct hs_index *index, unsigned word_bytes);
void hs_index_free(struct hs_memory *memory, struct hs_index *index);
/* Makes the section of KEY the last one.  False without memory. */
bool hs_index_enter(struct hs_memory *memory, struct hs_index *index, uint64_t key);
/* Counts; *n_objects are there.  False without memory. */
bool hs_index_finish(struct hs_memory *memory, struct hs_index *index, uint64_t *n_objects);

/* Address of object NUMBER, which must exist. */
uint64_t hs_index_address(const struct hs_index *index, uint32_t number);
/* Number of the last object that starts at ADDRESS or before, UINT32_MAX: none. */
uint32_t hs_index_before(const struct hs_index *index, uint64_t address);

/* Adds an object; *is_new says whether it was not there yet.  False without memory. */
static inline bool hs_index_add(struct hs_memory *memory, struct hs_index *index, uint64_t address,
				bool *is_new)
{
	uint64_t key = address >> (index->word_shift + HS_SECTION_BITS_LOG);
	uint32_t bit = (uint32_t)(address >> index->word_shift) & ((1u << HS_SECTION_BITS_LOG) - 1);
	uint32_t *half, mask;

	if ((key != index->last_key || index->last == NULL) && !hs_index_enter(memory, index, key))
		return false;
	half = bit & 32 ? &index->last->parts[bit / 64].high : &index->last->parts[bit / 64].low;
	mask = (uint32_t)1 << bit % 32;
	*is_new = (*half & mask) == 0;
	*half |= mask;
	return true;
}

/* Without popcnt in the instruction set this beats the compiler's own. */
static inline uint32_t hs_bits(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555u;
	word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
	word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
	return (uint32_t)(word * 0x0101010101010101u >> 56);
}

/* The section that was found last, for one that asks for many addresses. */
struct hs_section_hint {
	uint64_t key;
	const struct hs_section *section; /* NULL: none yet */
};

/* The section of ADDRESS; NULL where no object lies near, or ADDRESS cannot be one's. */
static inline const struct hs_section *
hs_index_section(const struct hs_index *index, uint64_t address, struct hs_section_hint *hint)
{
	uint64_t key = address >> (index->word_shift + HS_SECTION_BITS_LOG);

	if (address & ((1u << index->word_shift) - 1))
		return NULL;
	if (key - index->first_key < index->n_direct)
		return index->direct[key - index->first_key];
	if (index->n_direct != 0)
		return NULL;
	if (key != hint->key || hint->section == NULL) {
		const uint32_t *place = hs_idmap_find(&index->map, key);

		if (place == NULL)
			return NULL;
		hint->key = key;
		hint->section = index->places[*place].section;
	}
	return hint->section;
}

/* The place of ADDRESS in its section. */
static inline uint32_t hs_section_bit(const struct hs_index *index, uint64_t address)
{
	return (uint32_t)(address >> index->word_shift) & ((1u << HS_SECTION_BITS_LOG) - 1);
}

/* The number of the object that starts at a place; UINT32_MAX: none. */
static inline uint32_t hs_section_find(const struct hs_section *section, uint32_t bit)
{
	const struct hs_section_part *part = &section->parts[bit / 64];
	uint64_t word = hs_section_bits(part);

	if (!(word >> bit % 64 & 1))
		return UINT32_MAX;
	return part->rank + hs_bits(word & (((uint64_t)1 << bit % 64) - 1));
}

static inline uint32_t hs_index_find(const struct hs_index *index, uint64_t address,
				     struct hs_section_hint *hint)
{
	const struct hs_section *section = hs_index_section(index, address, hint);

	return section != NULL ? hs_section_find(section, hs_section_bit(index, address))
			       : UINT32_MAX;
}

#endif
