/* SPDX-License-Identifier: MIT */
/*
 * Protobuf varints and zigzag, as inline functions for the hand-written columns.
 */
#ifndef HEAPSHOT_SCHEMA_VARINT_H
#define HEAPSHOT_SCHEMA_VARINT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/*
 * The same for values of unforeseeable length: without a branch on it up to 28
 * bits.  Touches up to 3 bytes behind the end it returns.
 */
static inline uint8_t *hs_varint_put_wild(uint8_t *out, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (__builtin_expect(value < 1u << 28, 1)) {
		/* By the highest bit set: marks of the bytes that others follow, and the length. */
		static const struct {
			uint32_t marks, bytes;
		} forms[28] = {
			{0, 1},        {0, 1},        {0, 1},        {0, 1},        {0, 1},
			{0, 1},        {0, 1},        {0x80, 2},     {0x80, 2},     {0x80, 2},
			{0x80, 2},     {0x80, 2},     {0x80, 2},     {0x80, 2},     {0x8080, 3},
			{0x8080, 3},   {0x8080, 3},   {0x8080, 3},   {0x8080, 3},   {0x8080, 3},
			{0x8080, 3},   {0x808080, 4}, {0x808080, 4}, {0x808080, 4}, {0x808080, 4},
			{0x808080, 4}, {0x808080, 4}, {0x808080, 4},
		};
		const unsigned top = 31 - (unsigned)__builtin_clz((uint32_t)value | 1);
		uint32_t spread = (uint32_t)value;

		/* Adding what lies above bit 7 (then 15, 23) moves that up by one bit. */
		spread += spread & 0xffffff80;
		spread += spread & 0xffff8000;
		spread += spread & 0xff800000;
		spread |= forms[top].marks;
		memcpy(out, &spread, 4);
		return out + forms[top].bytes;
	}
#endif
	return hs_varint_put(out, value);
}

/*
 * The same for values that take two bytes now and then: without a branch on it
 * up to 14 bits.  Touches up to 1 byte behind the end it returns.
 */
static inline uint8_t *hs_varint_put_short(uint8_t *out, uint64_t value)
{
	if (__builtin_expect(value < 1u << 14, 1)) {
		const unsigned more = value >= 0x80;

		out[0] = (uint8_t)(value | more << 7);
		out[1] = (uint8_t)(value >> 7);
		return out + 1 + more;
	}
	return hs_varint_put(out, value);
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

/* The same for values of unforeseeable length: without a branch on it up to 8 bytes. */
static inline const uint8_t *hs_varint_get_wild(const uint8_t *in, const uint8_t *end,
						uint64_t *value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (__builtin_expect(end - in >= 8, 1)) {
		uint64_t word, ends;

		memcpy(&word, in, 8);
		ends = ~word & 0x8080808080808080u;
		if (__builtin_expect(ends != 0, 1)) {
			word &= (ends ^ (ends - 1)) & 0x7f7f7f7f7f7f7f7fu;
			word = (word & 0x7f007f007f007f00u) >> 1 | (word & 0x007f007f007f007fu);
			word = (word & 0x3fff00003fff0000u) >> 2 | (word & 0x00003fff00003fffu);
			*value = (word & 0x0fffffff00000000u) >> 4 | (word & 0x0fffffffu);
			return in + 1 + (__builtin_ctzll(ends) >> 3);
		}
	}
#endif
	return hs_varint_get(in, end, value);
}

#endif
