/* SPDX-License-Identifier: MIT */
/*
 * Protobuf varints and zigzag, as inline functions for the hand-written columns.
 */
#ifndef HEAPSHOT_SCHEMA_VARINT_H
#define HEAPSHOT_SCHEMA_VARINT_H

#include <stddef.h>
#include <stdint.h>

/* Longest encoding of a 64-bit varint. */
#define HS_VARINT_MAX 10

static inline uint64_t hs_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t hs_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Writes VALUE at OUT, which has room for HS_VARINT_MAX bytes; returns the end. */
static inline uint8_t *hs_varint_put(uint8_t *out, uint64_t value)
{
	while (value >= 0x80) {
		*out++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*out++ = (uint8_t)value;
	return out;
}

static inline size_t hs_varint_size(uint64_t value)
{
	return (size_t)(1 + (63 - __builtin_clzll(value | 1)) / 7);
}

/*
 * Reads a varint from [in, end).  Returns the position behind it, or NULL when
 * it is cut, longer than HS_VARINT_MAX bytes, or does not fit 64 bits.
 */
static inline const uint8_t *hs_varint_get(const uint8_t *in, const uint8_t *end, uint64_t *value)
{
	uint64_t result = 0;
	unsigned shift = 0;

	if (in < end && *in < 0x80) {
		*value = *in;
		return in + 1;
	}
	while (in < end && shift < 64) {
		uint8_t byte = *in++;
		if (shift == 63 && byte > 1)
			return NULL;
		result |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*value = result;
			return in;
		}
		shift += 7;
	}
	return NULL;
}

#endif
