/* SPDX-License-Identifier: MIT */
/*
 * What encoder and decoder of object batches share: field numbers, and the few
 * rules of the encoding that both sides must apply in the same way.
 */
#ifndef HEAPSHOT_SCHEMA_BATCH_H
#define HEAPSHOT_SCHEMA_BATCH_H

#include "schema/columns.h"
#include "schema/tag.h"
#include "schema/varint.h"
#include "schema/wire.h"

/* A batch leaves this to the record around it. */
#define HS_BATCH_BYTES_MAX (HS_RECORD_MAX - 64)

/* References of a shape with flag 2 are predicted in turns of so many. */
#define HS_VARYING_TURNS 8u

enum hs_batch_field {
	HS_BATCH_ROWS = 1,
	HS_BATCH_GENERATION = 2,
	HS_BATCH_SHAPE = 3,
	HS_BATCH_SNAPSHOT = 4,
	HS_BATCH_ADDRESS = 5,
	HS_BATCH_SHAPE_INDEX = 6,
	HS_BATCH_SIZE = 7,
	HS_BATCH_REFERENCE_COUNT = 8,
	HS_BATCH_SLOT = 9,
	HS_BATCH_REFERENCE = 10,
	HS_BATCH_SLACK = 11,
};

enum hs_shape_field {
	HS_SHAPE_TYPE = 1,
	HS_SHAPE_FLAGS = 2,
	HS_SHAPE_SIZE = 3,
	HS_SHAPE_SLOT = 4,
	HS_SHAPE_DOMAIN = 5,
};

/* Where the slots of a row with such a shape are counted from, in words. */
static inline unsigned hs_slot_base_words(unsigned flags)
{
	if (flags & HS_SHAPE_CONTINUATION)
		return 0;
	return flags & HS_SHAPE_SIZE_VARIES ? 4 : 2;
}

/* 2 for words of 4 bytes, 3 for words of 8. */
static inline unsigned hs_word_shift(unsigned word_bytes)
{
	return word_bytes == 4 ? 2 : 3;
}

/* (to - from) in words, both addresses modulo 2^64. */
static inline int64_t hs_word_delta(uint64_t to, uint64_t from, unsigned shift)
{
	return (int64_t)(to - from) >> shift;
}

#endif
