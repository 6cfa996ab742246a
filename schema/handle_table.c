/* SPDX-License-Identifier: MIT */
/*
 * Handle tables: names said once, and four packed columns.
 */
#include "schema/handle_table.h"

#include "schema/batch.h"

enum handle_field {
	HANDLE_SNAPSHOT = 1,
	HANDLE_NAME = 2,
	HANDLE_ESCAPED = 3,
	HANDLE_RELEASED = 4,
	HANDLE_COLLECTED = 5,
	HANDLE_NOTE = 6,
	HANDLE_TEXT = 7,
	HANDLE_HANDLE = 8, /* the columns from here on */
	HANDLE_JS_TYPE = 9,
	HANDLE_JS_NAME = 10,
	HANDLE_OBJECT = 11,
};

/* What the column of FIELD holds for a row; BEFORE is the row before, or one of zeros. */
static uint64_t value_of(enum handle_field field, const struct hs_handle_row *row,
			 const struct hs_handle_row *before, unsigned word_bytes)
{
	switch (field) {
	case HANDLE_HANDLE:
		return hs_zigzag((int64_t)((uint64_t)row->handle - (uint64_t)before->handle));
	case HANDLE_JS_TYPE:
		return row->js_type;
	case HANDLE_JS_NAME:
		return row->js_name;
	default:
		return hs_zigzag(
			hs_word_delta(row->object, before->object, hs_word_shift(word_bytes)));
	}
}

/* Bytes of the column's values; written at OUT, unless that is NULL. */
static size_t column(const struct hs_handle_part *part, enum handle_field field, uint8_t *out)
{
	static const struct hs_handle_row none;
	const struct hs_handle_row *before = &none;
	size_t bytes = 0;

	for (size_t i = 0; i < part->n_rows; before = &part->rows[i++]) {
		const uint64_t value = value_of(field, &part->rows[i], before, part->word_bytes);

		bytes += hs_varint_size(value);
		if (out)
			out = hs_varint_put(out, value);
	}
	return bytes;
}

static size_t chars_bytes(enum handle_field field, struct hs_chars chars)
{
	return hs_column_bytes(field, chars.bytes);
}

static uint8_t *put_chars(uint8_t *out, enum handle_field field, struct hs_chars chars)
{
	return hs_put_column(out, field, (const uint8_t *)chars.data, chars.bytes);
}

size_t hs_handle_part_bytes(const struct hs_handle_part *part)
{
	size_t bytes = hs_uint_bytes(HANDLE_SNAPSHOT, part->snapshot) +
		       chars_bytes(HANDLE_NAME, part->name) +
		       hs_uint_bytes(HANDLE_ESCAPED, part->escaped) +
		       hs_uint_bytes(HANDLE_RELEASED, part->released) +
		       hs_uint_bytes(HANDLE_COLLECTED, part->collected) +
		       chars_bytes(HANDLE_NOTE, part->note);

	/* An empty text, too, has its position. */
	for (size_t i = 0; i < part->n_texts; i++)
		bytes += 1 + hs_varint_size(part->texts[i].bytes) + part->texts[i].bytes;
	for (unsigned field = HANDLE_HANDLE; field <= HANDLE_OBJECT; field++)
		bytes += hs_column_bytes(field, column(part, field, NULL));
	return bytes;
}

uint8_t *hs_handle_part_encode(uint8_t *out, const void *message)
{
	const struct hs_handle_part *part = message;

	out = hs_put_uint(out, HANDLE_SNAPSHOT, part->snapshot);
	out = put_chars(out, HANDLE_NAME, part->name);
	out = hs_put_uint(out, HANDLE_ESCAPED, part->escaped);
	out = hs_put_uint(out, HANDLE_RELEASED, part->released);
	out = hs_put_uint(out, HANDLE_COLLECTED, part->collected);
	out = put_chars(out, HANDLE_NOTE, part->note);
	for (size_t i = 0; i < part->n_texts; i++) {
		const struct hs_chars *text = &part->texts[i];

		*out++ = HANDLE_TEXT << 3 | HS_WIRE_BYTES;
		out = hs_varint_put(out, text->bytes);
		if (text->bytes)
			memcpy(out, text->data, text->bytes);
		out += text->bytes;
	}
	for (unsigned field = HANDLE_HANDLE; part->n_rows && field <= HANDLE_OBJECT; field++) {
		*out++ = (uint8_t)(field << 3 | HS_WIRE_BYTES);
		out = hs_varint_put(out, column(part, field, NULL));
		out += column(part, field, out);
	}
	return out;
}

static const char *take_number(uint64_t *number, const struct hs_field *field)
{
	if (field->wire != HS_WIRE_VARINT)
		return "a number is out of its range";
	*number = field->value;
	return NULL;
}

static const char *take_text(struct hs_slice *text, const struct hs_field *field)
{
	if (field->wire != HS_WIRE_BYTES)
		return "a text of a handle table is malformed";
	*text = field->bytes;
	return NULL;
}

static const char *take_field(struct hs_handle_decoder *decoder, const struct hs_field *field)
{
	struct hs_slice text;

	switch (field->number) {
	case HANDLE_SNAPSHOT:
		return take_number(&decoder->snapshot, field);
	case HANDLE_NAME:
		return take_text(&decoder->name, field);
	case HANDLE_ESCAPED:
		return take_number(&decoder->escaped, field);
	case HANDLE_RELEASED:
		return take_number(&decoder->released, field);
	case HANDLE_COLLECTED:
		return take_number(&decoder->collected, field);
	case HANDLE_NOTE:
		return take_text(&decoder->note, field);
	case HANDLE_TEXT:
		decoder->n_texts++;
		return take_text(&text, field);
	case HANDLE_HANDLE:
		return hs_column_take(&decoder->handle, field);
	case HANDLE_JS_TYPE:
		return hs_column_take(&decoder->js_type, field);
	case HANDLE_JS_NAME:
		return hs_column_take(&decoder->js_name, field);
	case HANDLE_OBJECT:
		return hs_column_take(&decoder->object, field);
	default:
		decoder->n_unknown++;
		return NULL;
	}
}

int hs_handle_decode(struct hs_handle_decoder *decoder, const uint8_t *data, size_t size,
		     unsigned word_bytes, const char **error)
{
	struct hs_slice message = {data, data + size};
	struct hs_field field;
	int got;

	*decoder = (struct hs_handle_decoder){.message = message, .word_bytes = word_bytes};
	*error = NULL;
	while (!*error && (got = hs_field_next(&message, &field)) != 0)
		*error = got < 0 ? "the handle table is malformed" : take_field(decoder, &field);
	decoder->n_rows = hs_column_count(decoder->handle);
	if (!*error && (decoder->n_rows != hs_column_count(decoder->js_type) ||
			decoder->n_rows != hs_column_count(decoder->js_name) ||
			decoder->n_rows != hs_column_count(decoder->object)))
		*error = "the columns of a handle table differ in length";
	if (!*error)
		return 0;
	decoder->n_rows = 0;
	decoder->handle = decoder->js_type = decoder->js_name = decoder->object =
		(struct hs_slice){NULL, NULL};
	return -1;
}

int hs_handle_next_text(const struct hs_handle_decoder *decoder, struct hs_slice *cursor,
			struct hs_slice *text)
{
	struct hs_field field;

	if (!cursor->data)
		*cursor = decoder->message;
	while (hs_field_next(cursor, &field) > 0)
		if (field.number == HANDLE_TEXT && field.wire == HS_WIRE_BYTES) {
			*text = field.bytes;
			return 1;
		}
	return 0;
}

int hs_handle_next(struct hs_handle_decoder *decoder, struct hs_handle_row *row, const char **error)
{
	uint64_t handle, js_type, js_name, object;

	if (decoder->handle.data == decoder->handle.end) {
		if (decoder->js_type.data == decoder->js_type.end &&
		    decoder->js_name.data == decoder->js_name.end &&
		    decoder->object.data == decoder->object.end)
			return 0;
		*error = "the columns of a handle table differ in length";
		return -1;
	}
	if (hs_column_next(&decoder->handle, &handle) ||
	    hs_column_next(&decoder->js_type, &js_type) ||
	    hs_column_next(&decoder->js_name, &js_name) ||
	    hs_column_next(&decoder->object, &object)) {
		*error = "a column of a handle table is malformed";
		return -1;
	}
	if (js_type > decoder->n_texts || js_name > decoder->n_texts) {
		*error = "a handle has a text that does not exist";
		return -1;
	}
	decoder->last_handle += (uint64_t)hs_unzigzag(handle);
	decoder->last_object += (uint64_t)hs_unzigzag(object) << hs_word_shift(decoder->word_bytes);
	*row = (struct hs_handle_row){
		.handle = (int64_t)decoder->last_handle,
		.js_type = (uint32_t)js_type,
		.js_name = (uint32_t)js_name,
		.object = decoder->last_object,
	};
	return 1;
}
