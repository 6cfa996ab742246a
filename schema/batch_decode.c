/* SPDX-License-Identifier: MIT */
/*
 * Decoder of object batches.  The message is taken apart into its columns once;
 * rows are then put together one by one, each column read by its own cursor.
 * Every count is bounded by a limit of the format before memory is touched.
 */
#include <string.h>

#include "schema/batch.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

struct shape {
	uint64_t size;
	uint32_t type;
	uint32_t domain;
	uint32_t slots;   /* first entry in offsets[] and last[] */
	uint16_t n_slots; /* without flag 2 */
	uint16_t flags;
};

struct hs_batch_decoder {
	struct hs_slice shape_index, address, size, count, slot, reference, slack;
	uint64_t last_address;
	uint64_t n_references; /* rows so far */
	uint64_t n_slots_read;
	uint64_t slack_words; /* of row slack_row */
	uint64_t snapshot;
	uint32_t slack_row; /* next row with slack, UINT32_MAX: none */
	uint32_t generation;
	uint32_t rows;
	uint32_t row; /* next to be read */
	uint32_t n_shapes;
	uint32_t n_slots;
	uint32_t n_unknown;
	unsigned shift;
	enum hs_batch_want want;

	struct shape shapes[HS_BATCH_SHAPES_MAX + 1]; /* from 1 */
	uint64_t last[HS_BATCH_SLOTS_MAX];
	uint64_t offsets[HS_BATCH_SLOTS_MAX];
	uint64_t row_offsets[HS_ROW_REFS_MAX];
	uint64_t row_refs[HS_ROW_REFS_MAX];
};

size_t hs_batch_decoder_bytes(void)
{
	return sizeof(struct hs_batch_decoder);
}

struct hs_batch_decoder *hs_batch_decoder_init(void *memory, unsigned word_bytes)
{
	struct hs_batch_decoder *decoder = memory;

	decoder->shift = hs_word_shift(word_bytes);
	decoder->rows = 0;
	decoder->row = 0;
	decoder->snapshot = 0;
	decoder->generation = 0;
	decoder->n_unknown = 0;
	return decoder;
}

/* Reads N slots from *column into OFFSETS; returns 0, or -1 when it is cut. */
static int get_offsets(struct hs_slice *column, uint64_t *offsets, size_t n, unsigned flags,
		       unsigned shift)
{
	uint64_t base = (uint64_t)hs_slot_base_words(flags) << shift, value;

	for (size_t i = 0; i < n; i++) {
		if (hs_column_next(column, &value))
			return -1;
		offsets[i] = base + (value << shift);
		base = offsets[i] + ((uint64_t)1 << shift);
	}
	return 0;
}

/* Takes a uint32 field; NULL, or what is wrong with it. */
static const char *take_u32(uint32_t *out, const struct hs_field *field)
{
	if (field->wire != HS_WIRE_VARINT || field->value > UINT32_MAX)
		return "a number is out of its range";
	*out = (uint32_t)field->value;
	return NULL;
}

static const char *take_u64(uint64_t *out, const struct hs_field *field)
{
	if (field->wire != HS_WIRE_VARINT)
		return "a number is out of its range";
	*out = field->value;
	return NULL;
}

/* Enters the shape that MESSAGE describes; NULL, or what is wrong with it. */
static const char *take_shape(struct hs_batch_decoder *decoder, struct hs_slice message)
{
	struct shape *shape = &decoder->shapes[decoder->n_shapes + 1];
	struct hs_slice slots = {NULL, NULL};
	struct hs_field field;
	uint32_t flags = 0;
	const char *error = NULL;
	size_t n_slots, n_last;
	int got;

	if (decoder->n_shapes == HS_BATCH_SHAPES_MAX)
		return "more shapes than a batch may have";
	*shape = (struct shape){.slots = decoder->n_slots};
	while (!error && (got = hs_field_next(&message, &field)) != 0) {
		if (got < 0)
			return "a shape is malformed";
		switch (field.number) {
		case HS_SHAPE_TYPE:
			error = take_u32(&shape->type, &field);
			break;
		case HS_SHAPE_FLAGS:
			error = take_u32(&flags, &field);
			break;
		case HS_SHAPE_SIZE:
			error = take_u64(&shape->size, &field);
			break;
		case HS_SHAPE_SLOT:
			error = hs_column_take(&slots, &field);
			break;
		case HS_SHAPE_DOMAIN:
			error = take_u32(&shape->domain, &field);
			break;
		default:
			decoder->n_unknown++;
		}
	}
	if (error)
		return error;
	if (flags & ~(uint32_t)HS_SHAPE_KNOWN_FLAGS)
		return "a shape has flags of a later version";
	if ((flags & HS_SHAPE_SIZE_VARIES) && (flags & HS_SHAPE_CONTINUATION))
		return "a continuation has a size";
	n_slots = hs_column_count(slots);
	if ((flags & HS_SHAPE_REFS_VARY) && n_slots)
		return "a shape has slots, and flag 2";
	if (n_slots > HS_ROW_REFS_MAX)
		return "a shape has more slots than a row may have references";
	n_last = flags & HS_SHAPE_REFS_VARY ? HS_VARYING_TURNS : n_slots;
	if (n_last > HS_BATCH_SLOTS_MAX - decoder->n_slots)
		return "more slots than a batch may have";
	shape->flags = (uint16_t)flags;
	shape->n_slots = (uint16_t)n_slots;
	if (get_offsets(&slots, decoder->offsets + shape->slots, n_slots, flags, decoder->shift) ||
	    slots.data != slots.end)
		return "a slot of a shape is malformed";
	memset(decoder->last + shape->slots, 0, n_last * sizeof(decoder->last[0]));
	decoder->n_slots += (uint32_t)n_last;
	decoder->n_shapes++;
	return NULL;
}

static const char *take_field(struct hs_batch_decoder *decoder, const struct hs_field *field)
{
	switch (field->number) {
	case HS_BATCH_ROWS:
		return take_u32(&decoder->rows, field);
	case HS_BATCH_GENERATION:
		return take_u32(&decoder->generation, field);
	case HS_BATCH_SHAPE:
		if (field->wire != HS_WIRE_BYTES)
			return "a shape is malformed";
		return take_shape(decoder, field->bytes);
	case HS_BATCH_SNAPSHOT:
		return take_u64(&decoder->snapshot, field);
	case HS_BATCH_ADDRESS:
		return hs_column_take(&decoder->address, field);
	case HS_BATCH_SHAPE_INDEX:
		return hs_column_take(&decoder->shape_index, field);
	case HS_BATCH_SIZE:
		return hs_column_take(&decoder->size, field);
	case HS_BATCH_REFERENCE_COUNT:
		return hs_column_take(&decoder->count, field);
	case HS_BATCH_SLOT:
		return hs_column_take(&decoder->slot, field);
	case HS_BATCH_REFERENCE:
		return hs_column_take(&decoder->reference, field);
	case HS_BATCH_SLACK:
		return hs_column_take(&decoder->slack, field);
	default:
		decoder->n_unknown++;
		return NULL;
	}
}

/* Moves on to the next entry of the slack column; -1 when it is malformed. */
static int next_slack(struct hs_batch_decoder *decoder, bool is_first)
{
	uint64_t gap, row = is_first ? 0 : decoder->slack_row;

	if (decoder->slack.data == decoder->slack.end) {
		decoder->slack_row = UINT32_MAX;
		return 0;
	}
	if (hs_column_next(&decoder->slack, &gap) ||
	    hs_column_next(&decoder->slack, &decoder->slack_words))
		return -1;
	if ((!gap && !is_first) || gap >= decoder->rows - row)
		return -1;
	decoder->slack_row = (uint32_t)(row + gap);
	return 0;
}

int hs_batch_decode(struct hs_batch_decoder *decoder, const uint8_t *data, size_t size,
		    enum hs_batch_want want, const char **error)
{
	struct hs_slice message = {data, data + size}, none = {NULL, NULL};
	struct hs_field field;
	int got;

	decoder->want = want;
	decoder->snapshot = 0;
	decoder->generation = 0;
	decoder->rows = 0;
	decoder->row = 0;
	decoder->n_shapes = 0;
	decoder->n_slots = 0;
	decoder->n_unknown = 0;
	decoder->n_references = 0;
	decoder->n_slots_read = 0;
	decoder->last_address = 0;
	decoder->shape_index = decoder->address = decoder->size = decoder->count = none;
	decoder->slot = decoder->reference = decoder->slack = none;

	*error = NULL;
	while (!*error && (got = hs_field_next(&message, &field)) != 0)
		*error = got < 0 ? "the batch is malformed" : take_field(decoder, &field);
	if (!*error && decoder->rows > HS_BATCH_ROWS_MAX)
		*error = "more rows than a batch may have";
	if (!*error && (hs_column_count(decoder->address) != decoder->rows ||
			hs_column_count(decoder->shape_index) != decoder->rows))
		*error = "the columns and the number of rows differ";
	if (!*error && next_slack(decoder, true))
		*error = "an entry of the slack column is malformed";
	if (*error) {
		decoder->rows = 0;
		return -1;
	}
	return 0;
}

uint64_t hs_batch_decoder_snapshot(const struct hs_batch_decoder *decoder)
{
	return decoder->snapshot;
}

uint32_t hs_batch_decoder_generation(const struct hs_batch_decoder *decoder)
{
	return decoder->generation;
}

uint32_t hs_batch_decoder_rows(const struct hs_batch_decoder *decoder)
{
	return decoder->rows;
}

uint32_t hs_batch_decoder_unknown(const struct hs_batch_decoder *decoder)
{
	return decoder->n_unknown;
}

/* Behind the last row every column must be at its end. */
static int check_end(const struct hs_batch_decoder *decoder, const char **error)
{
	bool is_whole = decoder->address.data == decoder->address.end &&
			decoder->shape_index.data == decoder->shape_index.end &&
			decoder->size.data == decoder->size.end &&
			decoder->count.data == decoder->count.end &&
			decoder->slack_row == UINT32_MAX;

	if (decoder->want & HS_WANT_REFERENCES)
		is_whole = is_whole && decoder->slot.data == decoder->slot.end &&
			   decoder->reference.data == decoder->reference.end;
	else
		is_whole = is_whole && hs_column_count(decoder->slot) == decoder->n_slots_read &&
			   hs_column_count(decoder->reference) == decoder->n_references;
	if (is_whole)
		return 0;
	*error = "a column is longer or shorter than its rows";
	return -1;
}

/* Reads slots and references of a row; -1 when a column is at its end. */
static int get_references(struct hs_batch_decoder *decoder, const struct shape *shape,
			  struct hs_decoded_row *row)
{
	struct hs_slice column = decoder->reference;
	uint64_t *last = decoder->last + shape->slots;
	unsigned turn = shape->flags & HS_SHAPE_REFS_VARY ? HS_VARYING_TURNS - 1 : ~0u;
	unsigned shift = decoder->shift;
	uint64_t value;

	row->refs = decoder->row_refs;
	row->offsets = decoder->offsets + shape->slots;
	if (shape->flags & HS_SHAPE_REFS_VARY) {
		row->offsets = decoder->row_offsets;
		if (get_offsets(&decoder->slot, decoder->row_offsets, (size_t)row->n_refs,
				shape->flags, shift))
			return -1;
	}
	for (unsigned i = 0; i < row->n_refs; i++) {
		if (hs_column_next_wild(&column, &value))
			return -1;
		/* Unsigned, since sums and addresses are modulo 2^64. */
		value = last[i & turn] += (uint64_t)hs_unzigzag(value);
		decoder->row_refs[i] = row->address + (value << shift);
	}
	decoder->reference = column;
	return 0;
}

int hs_batch_next(struct hs_batch_decoder *decoder, struct hs_decoded_row *row, const char **error)
{
	uint64_t index, value, word_mask = ((uint64_t)1 << decoder->shift) - 1;
	const struct shape *shape;

	if (decoder->row == decoder->rows)
		return check_end(decoder, error);
	if (unlikely(hs_column_next(&decoder->address, &value) ||
		     hs_column_next(&decoder->shape_index, &index)))
		goto malformed;
	if (unlikely(index - 1 >= decoder->n_shapes)) {
		*error = "a row has a shape that does not exist";
		return -1;
	}
	shape = &decoder->shapes[index];
	decoder->last_address += (uint64_t)hs_unzigzag(value) << decoder->shift;
	row->address = decoder->last_address;
	row->type = shape->type;
	row->domain = shape->domain;
	row->is_continuation = shape->flags & HS_SHAPE_CONTINUATION;
	row->size = shape->size;
	row->n_refs = shape->n_slots;
	row->offsets = NULL;
	row->refs = NULL;
	if (shape->flags & HS_SHAPE_SIZE_VARIES)
		if (unlikely(hs_column_next(&decoder->size, &row->size)))
			goto malformed;
	if (shape->flags & HS_SHAPE_REFS_VARY) {
		if (unlikely(hs_column_next(&decoder->count, &row->n_refs)))
			goto malformed;
		if (unlikely(row->n_refs > HS_ROW_REFS_MAX)) {
			*error = "a row has more references than a row may have";
			return -1;
		}
		decoder->n_slots_read += row->n_refs;
	}
	row->slot_size = (row->size + word_mask) & ~word_mask;
	if (unlikely(decoder->row == decoder->slack_row)) {
		row->slot_size += decoder->slack_words << decoder->shift;
		if (next_slack(decoder, false))
			goto malformed;
	}
	decoder->n_references += row->n_refs;
	if (decoder->want & HS_WANT_REFERENCES)
		if (unlikely(get_references(decoder, shape, row)))
			goto malformed;
	decoder->row++;
	return 1;

malformed:
	*error = "a column is malformed, or shorter than its rows";
	return -1;
}

/* Adds a row whose size or number of references stands in columns; -1 when they end. */
static int add_varying(struct hs_batch_decoder *decoder, const struct shape *shape,
		       struct hs_shape_total *total)
{
	uint64_t word_mask = ((uint64_t)1 << decoder->shift) - 1, value;
	bool wraps = false;

	if (shape->flags & HS_SHAPE_SIZE_VARIES) {
		if (hs_column_next(&decoder->size, &value))
			return -1;
		wraps |= __builtin_add_overflow(total->bytes, value, &total->bytes);
		value = (value + word_mask) & ~word_mask;
		wraps |= __builtin_add_overflow(total->slot_bytes, value, &total->slot_bytes);
	}
	if (shape->flags & HS_SHAPE_REFS_VARY) {
		if (hs_column_next(&decoder->count, &value) || value > HS_ROW_REFS_MAX)
			return -1;
		total->references += value;
		decoder->n_slots_read += value;
	}
	total->has_wrapped |= wraps;
	return 0;
}

/* Adds what all rows of a shape have in common. */
static void add_common(struct hs_batch_decoder *decoder, const struct shape *shape, uint64_t rows,
		       struct hs_shape_total *total)
{
	uint64_t word_mask = ((uint64_t)1 << decoder->shift) - 1, value;
	bool wraps = false;

	if (!(shape->flags & HS_SHAPE_SIZE_VARIES)) {
		wraps |= __builtin_mul_overflow(rows, shape->size, &total->bytes);
		wraps |= __builtin_mul_overflow(rows, (shape->size + word_mask) & ~word_mask,
						&value);
		wraps |= __builtin_add_overflow(total->slot_bytes, value, &total->slot_bytes);
	}
	if (!(shape->flags & HS_SHAPE_REFS_VARY))
		total->references = rows * shape->n_slots;
	total->objects = shape->flags & HS_SHAPE_CONTINUATION ? 0 : rows;
	total->has_wrapped |= wraps;
	decoder->n_references += total->references;
}

int hs_batch_totals(struct hs_batch_decoder *decoder, struct hs_shape_total *totals,
		    const char **error)
{
	struct hs_slice column = decoder->shape_index;
	uint32_t n_shapes = decoder->n_shapes;
	uint64_t index;

	for (uint32_t i = 0; i < n_shapes; i++)
		totals[i] = (struct hs_shape_total){.type = decoder->shapes[i + 1].type,
						    .domain = decoder->shapes[i + 1].domain};
	for (uint32_t row = 0; row < decoder->rows; row++) {
		const struct shape *shape;
		struct hs_shape_total *total;

		if (unlikely(hs_column_next(&column, &index)))
			goto malformed;
		if (unlikely(index - 1 >= n_shapes)) {
			*error = "a row has a shape that does not exist";
			return -1;
		}
		shape = &decoder->shapes[index];
		total = &totals[index - 1];
		total->objects++;
		if (shape->flags & (HS_SHAPE_SIZE_VARIES | HS_SHAPE_REFS_VARY))
			if (unlikely(add_varying(decoder, shape, total)))
				goto malformed;
		if (unlikely(row == decoder->slack_row)) {
			total->has_wrapped |= __builtin_add_overflow(
				total->slot_bytes, decoder->slack_words << decoder->shift,
				&total->slot_bytes);
			if (next_slack(decoder, false))
				goto malformed;
		}
	}
	for (uint32_t i = 0; i < n_shapes; i++)
		add_common(decoder, &decoder->shapes[i + 1], totals[i].objects, &totals[i]);
	decoder->row = decoder->rows;
	decoder->shape_index = column;
	decoder->address.data = decoder->address.end;
	decoder->want = HS_WANT_ROWS;
	return check_end(decoder, error) ? -1 : (int)n_shapes;

malformed:
	*error = "a column is malformed, or shorter than its rows";
	return -1;
}
