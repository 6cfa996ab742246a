/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the columns share: random rows from a printed seed
 * (HEAPSHOT_SEED overrides it), an encoder and a decoder in memory of their own.
 */
#ifndef HEAPSHOT_TESTS_COLUMNS_CASE_H
#define HEAPSHOT_TESTS_COLUMNS_CASE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/tag.h"

#define CASE_TYPES 40u
#define CASE_HINTS (3 * 3 * CASE_TYPES)

/* A row, and memory for what it points to. */
struct case_row {
	struct hs_row row;
	uintptr_t offsets[HS_ROW_REFS_MAX];
	void *refs[HS_ROW_REFS_MAX];
};

/* How rows are made. */
struct case_heap {
	unsigned word_bytes;
	unsigned null_percent;
	unsigned most_fields;   /* of an instance */
	unsigned array_percent; /* rows that are arrays */
	unsigned wild_percent;  /* references and addresses anywhere */
	uint64_t address;
};

static uint64_t case_state;

static inline void case_seed(uint64_t seed)
{
	const char *text = getenv("HEAPSHOT_SEED");

	case_state = text ? strtoull(text, NULL, 0) : seed;
	fprintf(stderr, "# HEAPSHOT_SEED=%llu\n", (unsigned long long)case_state);
}

/* splitmix64 */
static inline uint64_t case_random(void)
{
	uint64_t x = case_state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static inline unsigned case_draw(unsigned below)
{
	return (unsigned)(case_random() % below);
}

static inline bool case_chance(unsigned percent)
{
	return case_draw(100) < percent;
}

static inline uint64_t case_address(const struct case_heap *heap)
{
	uint64_t word = heap->word_bytes;

	if (case_chance(heap->wild_percent))
		return (word == 4 ? case_random() & 0xffffffffu : case_random()) / word * word;
	return heap->address + word * case_draw(1u << case_draw(16));
}

/* Makes a random row, the next in address order. */
static inline void case_make_row(struct case_heap *heap, struct case_row *made)
{
	unsigned word = heap->word_bytes, type = case_draw(CASE_TYPES), family, fields;
	struct hs_row *row = &made->row;

	/* Instances, arrays and strings never share a type. */
	family = case_chance(heap->array_percent) ? 1 : case_chance(10) ? 2 : 0;
	fields = family == 0   ? type % (heap->most_fields + 1)
		 : family == 1 ? case_draw(HS_ROW_REFS_MAX + 1)
			       : 0;
	*row = (struct hs_row){
		.type = 1 + 3 * type + family,
		.domain = 1 + case_draw(2),
		.size_varies = family != 0,
		.is_array = family == 1,
		.is_continuation = case_chance(4),
		.offsets = made->offsets,
		.refs = made->refs,
	};
	row->size = family ? 2 * word + case_draw(3000) : word * (2 + fields) + type % word;
	for (unsigned i = 0; i < fields; i++) {
		if (case_chance(heap->null_percent))
			continue;
		made->offsets[row->n_refs] = (family ? 4 : 2) * word + i * word;
		made->refs[row->n_refs++] = (void *)(uintptr_t)case_address(heap);
	}
	row->slot_size = (row->size + word - 1) / word * word;
	if (case_chance(10))
		row->slot_size += word * (1 + case_draw(500));
	row->address = case_address(heap);
	heap->address = row->address + row->slot_size;
	if (word == 4)
		heap->address &= 0x7fffffffu;
	if (row->is_continuation)
		row->size = row->slot_size = 0;
}

/* One hint a (type, domain): types are 1 to 3 CASE_TYPES, domains 0 to 2. */
static inline struct hs_shape_hint *case_hint(struct hs_shape_hint *hints, const struct hs_row *row)
{
	return &hints[(row->type - 1) * 3 + row->domain];
}

static inline struct hs_batch_encoder *case_encoder(unsigned word_bytes)
{
	size_t bytes = (hs_batch_encoder_bytes() + 63) / 64 * 64;
	void *memory = aligned_alloc(64, bytes);

	memset(memory, 0, bytes);
	return hs_batch_encoder_init(memory, word_bytes);
}

/* Memory of a decoder need not be zeroed: here it never is. */
static inline struct hs_batch_decoder *case_decoder(unsigned word_bytes)
{
	void *memory = malloc(hs_batch_decoder_bytes());

	memset(memory, 0xa5, hs_batch_decoder_bytes());
	return hs_batch_decoder_init(memory, word_bytes);
}

#endif
