/* SPDX-License-Identifier: MIT */
/*
 * Ephemeron batches: key -> value edges in three packed columns.
 */
#include <string.h>

#include "schema/batch.h"

enum ephemeron_field {
	EPHEMERON_SNAPSHOT = 1,
	EPHEMERON_TABLE = 2,
	EPHEMERON_KEY = 3,
	EPHEMERON_VALUE = 4,
};

/* Snapshot, and keys and lengths of three columns, at most. */
#define FRAME_BYTES 64u

void hs_ephemeron_encoder_init(struct hs_ephemeron_encoder *encoder, void *memory, size_t bytes,
			       unsigned word_bytes)
{
	encoder->area = bytes / 3;
	encoder->table = memory;
	encoder->key = encoder->table + encoder->area;
	encoder->value = encoder->key + encoder->area;
	encoder->word_bytes = word_bytes;
	hs_ephemeron_begin(encoder, 0);
}

void hs_ephemeron_begin(struct hs_ephemeron_encoder *encoder, uint64_t snapshot)
{
	encoder->snapshot = snapshot;
	encoder->n_table = encoder->n_key = encoder->n_value = 0;
	encoder->last_table = encoder->last_key = encoder->last_value = 0;
	encoder->n_edges = 0;
}

/* Appends VALUE, less *last, to the column that has *size bytes. */
static void put_address(uint8_t *column, size_t *size, uint64_t *last, uint64_t value,
			unsigned shift)
{
	uint8_t *out = column + *size;

	out = hs_varint_put(out, hs_zigzag(hs_word_delta(value, *last, shift)));
	*size = (size_t)(out - column);
	*last = value;
}

bool hs_ephemeron_add(struct hs_ephemeron_encoder *encoder, uint64_t table, uint64_t key,
		      uint64_t value)
{
	unsigned shift = hs_word_shift(encoder->word_bytes);

	if (encoder->n_table + HS_VARINT_MAX > encoder->area ||
	    encoder->n_key + HS_VARINT_MAX > encoder->area ||
	    encoder->n_value + HS_VARINT_MAX > encoder->area ||
	    encoder->n_table + encoder->n_key + encoder->n_value + 3 * HS_VARINT_MAX >
		    HS_BATCH_BYTES_MAX - FRAME_BYTES)
		return false;
	put_address(encoder->table, &encoder->n_table, &encoder->last_table, table, shift);
	put_address(encoder->key, &encoder->n_key, &encoder->last_key, key, shift);
	put_address(encoder->value, &encoder->n_value, &encoder->last_value, value, shift);
	encoder->n_edges++;
	return true;
}

size_t hs_ephemeron_bytes(const struct hs_ephemeron_encoder *encoder)
{
	return hs_uint_bytes(EPHEMERON_SNAPSHOT, encoder->snapshot) +
	       hs_column_bytes(EPHEMERON_TABLE, encoder->n_table) +
	       hs_column_bytes(EPHEMERON_KEY, encoder->n_key) +
	       hs_column_bytes(EPHEMERON_VALUE, encoder->n_value);
}

size_t hs_ephemeron_finish(struct hs_ephemeron_encoder *encoder, uint8_t *out)
{
	uint8_t *start = out;

	out = hs_put_uint(out, EPHEMERON_SNAPSHOT, encoder->snapshot);
	out = hs_put_column(out, EPHEMERON_TABLE, encoder->table, encoder->n_table);
	out = hs_put_column(out, EPHEMERON_KEY, encoder->key, encoder->n_key);
	out = hs_put_column(out, EPHEMERON_VALUE, encoder->value, encoder->n_value);
	return (size_t)(out - start);
}

int hs_ephemeron_decode(struct hs_ephemeron_decoder *decoder, const uint8_t *data, size_t size,
			unsigned word_bytes, const char **error)
{
	struct hs_slice message = {data, data + size};
	struct hs_field field;
	int got;

	*decoder = (struct hs_ephemeron_decoder){.word_bytes = word_bytes};
	*error = NULL;
	while (!*error && (got = hs_field_next(&message, &field)) != 0) {
		if (got < 0) {
			*error = "the ephemeron batch is malformed";
			break;
		}
		switch (field.number) {
		case EPHEMERON_SNAPSHOT:
			if (field.wire != HS_WIRE_VARINT)
				*error = "a number is out of its range";
			else
				decoder->snapshot = field.value;
			break;
		case EPHEMERON_TABLE:
			*error = hs_column_take(&decoder->table, &field);
			break;
		case EPHEMERON_KEY:
			*error = hs_column_take(&decoder->key, &field);
			break;
		case EPHEMERON_VALUE:
			*error = hs_column_take(&decoder->value, &field);
			break;
		default:
			decoder->n_unknown++;
		}
	}
	if (!*error && (hs_column_count(decoder->table) != hs_column_count(decoder->key) ||
			hs_column_count(decoder->table) != hs_column_count(decoder->value)))
		*error = "the columns of an ephemeron batch differ in length";
	if (!*error)
		return 0;
	decoder->table = decoder->key = decoder->value = (struct hs_slice){NULL, NULL};
	return -1;
}

int hs_ephemeron_next(struct hs_ephemeron_decoder *decoder, struct hs_decoded_ephemeron *edge,
		      const char **error)
{
	unsigned shift = hs_word_shift(decoder->word_bytes);
	uint64_t table, key, value;

	if (decoder->table.data == decoder->table.end) {
		if (decoder->key.data == decoder->key.end &&
		    decoder->value.data == decoder->value.end)
			return 0;
		*error = "the columns of an ephemeron batch differ in length";
		return -1;
	}
	if (hs_column_next(&decoder->table, &table) || hs_column_next(&decoder->key, &key) ||
	    hs_column_next(&decoder->value, &value)) {
		*error = "a column of an ephemeron batch is malformed";
		return -1;
	}
	edge->table = decoder->last_table += (uint64_t)hs_unzigzag(table) << shift;
	edge->key = decoder->last_key += (uint64_t)hs_unzigzag(key) << shift;
	edge->value = decoder->last_value += (uint64_t)hs_unzigzag(value) << shift;
	return 1;
}
