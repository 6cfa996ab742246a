/* SPDX-License-Identifier: MIT */
/*
 * Root batches: what a root belongs to is said once (RootSource), the roots
 * themselves are three packed columns.
 */
#include <string.h>

#include "schema/batch.h"

enum root_field {
	ROOT_SNAPSHOT = 1,
	ROOT_SOURCE = 2,
	ROOT_SOURCE_INDEX = 3,
	ROOT_ADDRESS = 4,
	ROOT_OBJECT = 5,
};

/* Snapshot, and keys and lengths of three columns, at most. */
#define FRAME_BYTES 64u

void hs_root_encoder_init(struct hs_root_encoder *encoder, void *memory, size_t bytes,
			  unsigned word_bytes)
{
	encoder->area = bytes / 4;
	encoder->sources = memory;
	encoder->index = encoder->sources + encoder->area;
	encoder->address = encoder->index + encoder->area;
	encoder->object = encoder->address + encoder->area;
	encoder->word_bytes = word_bytes;
	hs_root_begin(encoder, 0);
}

void hs_root_begin(struct hs_root_encoder *encoder, uint64_t snapshot)
{
	encoder->snapshot = snapshot;
	encoder->n_sources_bytes = encoder->n_index = 0;
	encoder->n_address = encoder->n_object = 0;
	encoder->last_address = encoder->last_object = 0;
	encoder->n_roots = encoder->n_sources = 0;
}

/* Whether the record has room for BYTES more. */
static bool has_room(const struct hs_root_encoder *encoder, size_t bytes)
{
	return bytes <= HS_BATCH_BYTES_MAX - FRAME_BYTES -
				(encoder->n_sources_bytes + encoder->n_index + encoder->n_address +
				 encoder->n_object);
}

uint32_t hs_root_add_source(struct hs_root_encoder *encoder, const uint8_t *message, size_t size)
{
	uint8_t *start = encoder->sources + encoder->n_sources_bytes, *out = start;
	size_t bytes;

	if (size > HS_BATCH_BYTES_MAX - FRAME_BYTES)
		return 0;
	bytes = 1 + hs_varint_size(size) + size;
	if (bytes > encoder->area - encoder->n_sources_bytes || !has_room(encoder, bytes))
		return 0;
	/* An empty message, too, is a source. */
	out = hs_varint_put(out, ROOT_SOURCE << 3 | HS_WIRE_BYTES);
	out = hs_varint_put(out, size);
	if (size)
		memcpy(out, message, size);
	encoder->n_sources_bytes += bytes;
	return ++encoder->n_sources;
}

bool hs_root_add(struct hs_root_encoder *encoder, uint32_t source, uint64_t address,
		 uint64_t object)
{
	unsigned shift = hs_word_shift(encoder->word_bytes);
	uint8_t *out;

	if (encoder->n_index + HS_VARINT_MAX > encoder->area ||
	    encoder->n_address + HS_VARINT_MAX > encoder->area ||
	    encoder->n_object + HS_VARINT_MAX > encoder->area ||
	    !has_room(encoder, 3 * HS_VARINT_MAX))
		return false;
	out = hs_varint_put(encoder->index + encoder->n_index, source);
	encoder->n_index = (size_t)(out - encoder->index);
	/* In bytes: a slot need not be aligned, and may be a pseudo address. */
	out = hs_varint_put(encoder->address + encoder->n_address,
			    hs_zigzag((int64_t)(address - encoder->last_address)));
	encoder->n_address = (size_t)(out - encoder->address);
	out = hs_varint_put(encoder->object + encoder->n_object,
			    hs_zigzag(hs_word_delta(object, encoder->last_object, shift)));
	encoder->n_object = (size_t)(out - encoder->object);
	encoder->last_address = address;
	encoder->last_object = object;
	encoder->n_roots++;
	return true;
}

size_t hs_root_bytes(const struct hs_root_encoder *encoder)
{
	return hs_uint_bytes(ROOT_SNAPSHOT, encoder->snapshot) + encoder->n_sources_bytes +
	       hs_column_bytes(ROOT_SOURCE_INDEX, encoder->n_index) +
	       hs_column_bytes(ROOT_ADDRESS, encoder->n_address) +
	       hs_column_bytes(ROOT_OBJECT, encoder->n_object);
}

size_t hs_root_finish(struct hs_root_encoder *encoder, uint8_t *out)
{
	uint8_t *start = out;

	out = hs_put_uint(out, ROOT_SNAPSHOT, encoder->snapshot);
	memcpy(out, encoder->sources, encoder->n_sources_bytes);
	out += encoder->n_sources_bytes;
	out = hs_put_column(out, ROOT_SOURCE_INDEX, encoder->index, encoder->n_index);
	out = hs_put_column(out, ROOT_ADDRESS, encoder->address, encoder->n_address);
	out = hs_put_column(out, ROOT_OBJECT, encoder->object, encoder->n_object);
	return (size_t)(out - start);
}

int hs_root_decode(struct hs_root_decoder *decoder, const uint8_t *data, size_t size,
		   unsigned word_bytes, const char **error)
{
	struct hs_slice message = {data, data + size};
	struct hs_field field;
	int got;

	*decoder = (struct hs_root_decoder){.message = message, .word_bytes = word_bytes};
	*error = NULL;
	while (!*error && (got = hs_field_next(&message, &field)) != 0) {
		if (got < 0) {
			*error = "the root batch is malformed";
			break;
		}
		switch (field.number) {
		case ROOT_SNAPSHOT:
			if (field.wire != HS_WIRE_VARINT)
				*error = "a number is out of its range";
			else
				decoder->snapshot = field.value;
			break;
		case ROOT_SOURCE:
			if (field.wire != HS_WIRE_BYTES)
				*error = "a source of roots is malformed";
			else
				decoder->n_sources++;
			break;
		case ROOT_SOURCE_INDEX:
			*error = hs_column_take(&decoder->index, &field);
			break;
		case ROOT_ADDRESS:
			*error = hs_column_take(&decoder->address, &field);
			break;
		case ROOT_OBJECT:
			*error = hs_column_take(&decoder->object, &field);
			break;
		default:
			decoder->n_unknown++;
		}
	}
	if (!*error && (hs_column_count(decoder->index) != hs_column_count(decoder->address) ||
			hs_column_count(decoder->index) != hs_column_count(decoder->object)))
		*error = "the columns of a root batch differ in length";
	if (!*error)
		return 0;
	decoder->index = decoder->address = decoder->object = (struct hs_slice){NULL, NULL};
	return -1;
}

int hs_root_next_source(const struct hs_root_decoder *decoder, struct hs_slice *cursor,
			struct hs_slice *source)
{
	struct hs_field field;

	if (!cursor->data)
		*cursor = decoder->message;
	while (hs_field_next(cursor, &field) > 0)
		if (field.number == ROOT_SOURCE && field.wire == HS_WIRE_BYTES) {
			*source = field.bytes;
			return 1;
		}
	return 0;
}

int hs_root_next(struct hs_root_decoder *decoder, struct hs_decoded_root *root, const char **error)
{
	uint64_t index, address, object;

	if (decoder->index.data == decoder->index.end) {
		if (decoder->address.data == decoder->address.end &&
		    decoder->object.data == decoder->object.end)
			return 0;
		*error = "the columns of a root batch differ in length";
		return -1;
	}
	if (hs_column_next(&decoder->index, &index) ||
	    hs_column_next(&decoder->address, &address) ||
	    hs_column_next(&decoder->object, &object)) {
		*error = "a column of a root batch is malformed";
		return -1;
	}
	if (index - 1 >= decoder->n_sources) {
		*error = "a root has a source that does not exist";
		return -1;
	}
	decoder->last_address += (uint64_t)hs_unzigzag(address);
	decoder->last_object += (uint64_t)hs_unzigzag(object) << hs_word_shift(decoder->word_bytes);
	root->source = (uint32_t)index;
	root->address = decoder->last_address;
	root->object = decoder->last_object;
	return 1;
}
