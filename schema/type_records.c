/* SPDX-License-Identifier: MIT */
/*
 * Type, TypeLayout and StaticStorage.
 */
#include "schema/type_records.h"

#include "schema/wire.h"

/* One copy of each of these: there are seventy fields, and most are small or zero. */
#define ONCE __attribute__((noinline))

ONCE static size_t uint_bytes(uint32_t number, uint64_t value)
{
	return hs_uint_bytes(number, value);
}

ONCE static uint8_t *put_uint(uint8_t *out, uint32_t number, uint64_t value)
{
	return hs_put_uint(out, number, value);
}

ONCE static size_t chars_bytes(uint32_t number, struct hs_chars chars)
{
	return hs_column_bytes(number, chars.bytes);
}

ONCE static uint8_t *put_chars(uint8_t *out, uint32_t number, struct hs_chars chars)
{
	return hs_put_column(out, number, (const uint8_t *)chars.data, chars.bytes);
}

size_t hs_type_bytes(const struct hs_type_record *record)
{
	return uint_bytes(1, record->id) + uint_bytes(2, record->class_address) +
	       chars_bytes(3, record->name) + chars_bytes(4, record->name_space) +
	       uint_bytes(5, record->image) + uint_bytes(6, record->kind) +
	       uint_bytes(7, record->element) + uint_bytes(8, record->rank) +
	       uint_bytes(9, record->parent) + uint_bytes(10, record->generic_definition) +
	       uint_bytes(11, record->instance_size_bytes) + uint_bytes(12, record->name_bytes) +
	       uint_bytes(13, record->name_hash) + uint_bytes(14, record->token);
}

uint8_t *hs_type_encode(uint8_t *out, const void *message)
{
	const struct hs_type_record *record = message;

	out = put_uint(out, 1, record->id);
	out = put_uint(out, 2, record->class_address);
	out = put_chars(out, 3, record->name);
	out = put_chars(out, 4, record->name_space);
	out = put_uint(out, 5, record->image);
	out = put_uint(out, 6, record->kind);
	out = put_uint(out, 7, record->element);
	out = put_uint(out, 8, record->rank);
	out = put_uint(out, 9, record->parent);
	out = put_uint(out, 10, record->generic_definition);
	out = put_uint(out, 11, record->instance_size_bytes);
	out = put_uint(out, 12, record->name_bytes);
	out = put_uint(out, 13, record->name_hash);
	return put_uint(out, 14, record->token);
}

static size_t field_bytes(const struct hs_field_record *field)
{
	return chars_bytes(1, field->name) + uint_bytes(2, field->offset) +
	       uint_bytes(3, field->is_static) + uint_bytes(4, field->is_thread_static) +
	       uint_bytes(5, field->type) + uint_bytes(6, field->is_inline);
}

size_t hs_layout_bytes(const struct hs_layout_record *record)
{
	size_t bytes = uint_bytes(1, record->type) + uint_bytes(3, record->instance_size_bytes),
	       one;

	for (size_t i = 0; i < record->n_fields; i++) {
		one = field_bytes(&record->fields[i]);
		bytes += 1 + hs_varint_size(one) + one;
	}
	return bytes;
}

uint8_t *hs_layout_encode(uint8_t *out, const void *message)
{
	const struct hs_layout_record *record = message;

	out = put_uint(out, 1, record->type);
	for (size_t i = 0; i < record->n_fields; i++) {
		const struct hs_field_record *field = &record->fields[i];
		*out++ = 2 << 3 | HS_WIRE_BYTES;
		out = hs_varint_put(out, field_bytes(field));
		out = put_chars(out, 1, field->name);
		out = put_uint(out, 2, field->offset);
		out = put_uint(out, 3, field->is_static);
		out = put_uint(out, 4, field->is_thread_static);
		out = put_uint(out, 5, field->type);
		out = put_uint(out, 6, field->is_inline);
	}
	return put_uint(out, 3, record->instance_size_bytes);
}

size_t hs_storage_bytes(const struct hs_storage_record *record)
{
	return uint_bytes(1, record->type) + uint_bytes(2, record->domain) +
	       uint_bytes(3, record->address);
}

uint8_t *hs_storage_encode(uint8_t *out, const void *message)
{
	const struct hs_storage_record *record = message;

	out = put_uint(out, 1, record->type);
	out = put_uint(out, 2, record->domain);
	return put_uint(out, 3, record->address);
}
