/* SPDX-License-Identifier: MIT */
/*
 * The protobuf wire format, as far as hand-written code needs it: fields of a
 * message one after the other, and packed columns.
 */
#ifndef HEAPSHOT_SCHEMA_WIRE_H
#define HEAPSHOT_SCHEMA_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/varint.h"

enum hs_wire {
	HS_WIRE_VARINT = 0,
	HS_WIRE_FIXED64 = 1,
	HS_WIRE_BYTES = 2,
	HS_WIRE_FIXED32 = 5,
};

struct hs_field {
	uint32_t number;
	enum hs_wire wire;
	uint64_t value;        /* of a varint, else 0 */
	struct hs_slice bytes; /* of all others, else empty */
};

/*
 * Takes the next field off *in.  Returns 1, 0 at the end, -1 when what stands
 * there is no field (cut, a group, number 0).
 */
static inline int hs_field_next(struct hs_slice *in, struct hs_field *field)
{
	const uint8_t *at = in->data;
	uint64_t key, length;

	if (at == in->end)
		return 0;
	at = hs_varint_get(at, in->end, &key);
	if (!at || key >> 32 || key < 8)
		return -1;
	*field = (struct hs_field){.number = (uint32_t)(key >> 3), .wire = (enum hs_wire)(key & 7)};
	switch (field->wire) {
	case HS_WIRE_VARINT:
		at = hs_varint_get(at, in->end, &field->value);
		if (!at)
			return -1;
		in->data = at;
		return 1;
	case HS_WIRE_BYTES:
		at = hs_varint_get(at, in->end, &length);
		if (!at)
			return -1;
		break;
	case HS_WIRE_FIXED64:
		length = 8;
		break;
	case HS_WIRE_FIXED32:
		length = 4;
		break;
	default:
		return -1;
	}
	if (length > (uint64_t)(in->end - at))
		return -1;
	field->bytes = (struct hs_slice){at, at + length};
	in->data = at + length;
	return 1;
}

/*
 * Makes FIELD the column *column.  Returns NULL, or a text that says why not:
 * a column is packed, and stands in one piece.
 */
static inline const char *hs_column_take(struct hs_slice *column, const struct hs_field *field)
{
	if (field->wire != HS_WIRE_BYTES)
		return "a column is not packed";
	if (column->data)
		return "a column stands in several pieces";
	*column = field->bytes;
	return NULL;
}

/* Takes the next varint off *column; returns 0, or -1 when there is none. */
static inline int hs_column_next(struct hs_slice *column, uint64_t *value)
{
	const uint8_t *at = hs_varint_get(column->data, column->end, value);

	if (__builtin_expect(!at, 0))
		return -1;
	column->data = at;
	return 0;
}

/* The same where the lengths cannot be foreseen. */
static inline int hs_column_next_wild(struct hs_slice *column, uint64_t *value)
{
	const uint8_t *at = hs_varint_get_wild(column->data, column->end, value);

	if (__builtin_expect(!at, 0))
		return -1;
	column->data = at;
	return 0;
}

/* Varints in a column: bytes whose continuation bit is off. */
static inline size_t hs_column_count(struct hs_slice column)
{
	const uint8_t *at = column.data;
	size_t count = 0;

	while (column.end - at >= 8) {
		/* Eight counters of a byte each, added up before one overflows. */
		size_t words = (size_t)(column.end - at) / 8;
		uint64_t sums = 0;

		if (words > 255)
			words = 255;
		for (size_t i = 0; i < words; i++, at += 8) {
			uint64_t word;
			memcpy(&word, at, 8);
			sums += ~word >> 7 & 0x0101010101010101u;
		}
		sums = (sums & 0x00ff00ff00ff00ffu) + (sums >> 8 & 0x00ff00ff00ff00ffu);
		count += (size_t)(sums * 0x0001000100010001u >> 48);
	}
	for (; at < column.end; at++)
		count += *at < 0x80;
	return count;
}

/* Writes a varint field, nothing for 0 (the default of proto3). */
static inline uint8_t *hs_put_uint(uint8_t *out, uint32_t number, uint64_t value)
{
	if (!value)
		return out;
	out = hs_varint_put(out, (uint64_t)number << 3 | HS_WIRE_VARINT);
	return hs_varint_put(out, value);
}

static inline size_t hs_uint_bytes(uint32_t number, uint64_t value)
{
	return value ? hs_varint_size((uint64_t)number << 3) + hs_varint_size(value) : 0;
}

/* Writes a column of SIZE bytes, nothing when it is empty. */
static inline uint8_t *hs_put_column(uint8_t *out, uint32_t number, const uint8_t *data,
				     size_t size)
{
	if (!size)
		return out;
	out = hs_varint_put(out, (uint64_t)number << 3 | HS_WIRE_BYTES);
	out = hs_varint_put(out, size);
	memcpy(out, data, size);
	return out + size;
}

static inline size_t hs_column_bytes(uint32_t number, size_t size)
{
	return size ? hs_varint_size((uint64_t)number << 3) + hs_varint_size(size) + size : 0;
}

#endif
