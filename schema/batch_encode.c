/* SPDX-License-Identifier: MIT */
/*
 * Encoder of object batches: what batch_encoder.h does not do inline.
 */
#include <string.h>

#include "schema/batch_encoder.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

_Static_assert(sizeof(struct hs_batch_encoder) <= 1u << 20, "an encoder stays below 1 MB");
_Static_assert(HS_BATCH_SHAPES_MAX < 1u << 14 && HS_ROW_REFS_MAX < 1u << 14,
	       "two bytes hold an index and a count");

size_t hs_batch_encoder_bytes(void)
{
	return sizeof(struct hs_batch_encoder);
}

struct hs_batch_encoder *hs_batch_encoder_init(void *memory, unsigned word_bytes)
{
	struct hs_batch_encoder *encoder = memory;

	encoder->shift = hs_word_shift(word_bytes);
	encoder->shapes[0].n_slots = HS_NO_SLOTS;
	hs_batch_begin(encoder, 0, 0);
	return encoder;
}

void hs_batch_begin(struct hs_batch_encoder *encoder, uint64_t snapshot, uint32_t generation)
{
	encoder->serial++;
	encoder->snapshot = snapshot;
	encoder->generation = generation;
	encoder->last_address = 0;
	encoder->budget = HS_BATCH_BODY_MAX;
	encoder->rows = 0;
	encoder->slack_row = 0;
	encoder->n_shapes = 0;
	encoder->n_slots = 0;
	encoder->shape_end = encoder->shape_column;
	encoder->address_end = encoder->address_column;
	encoder->index_end = encoder->index_column;
	encoder->size_end = encoder->size_column;
	encoder->count_end = encoder->count_column;
	encoder->slot_end = encoder->slot_column;
	encoder->reference_end = encoder->reference_column;
	encoder->slack_end = encoder->slack_column;
}

/* Bytes in the columns. */
static size_t body_bytes(const struct hs_batch_encoder *encoder)
{
	return (size_t)(encoder->shape_end - encoder->shape_column) +
	       (size_t)(encoder->address_end - encoder->address_column) +
	       (size_t)(encoder->index_end - encoder->index_column) +
	       (size_t)(encoder->size_end - encoder->size_column) +
	       (size_t)(encoder->count_end - encoder->count_column) +
	       (size_t)(encoder->slot_end - encoder->slot_column) +
	       (size_t)(encoder->reference_end - encoder->reference_column) +
	       (size_t)(encoder->slack_end - encoder->slack_column);
}

__attribute__((cold)) bool hs_encoder_renew_budget(struct hs_batch_encoder *encoder, int64_t bytes)
{
	encoder->budget = (int64_t)HS_BATCH_BODY_MAX - (int64_t)body_bytes(encoder);
	return encoder->budget >= bytes;
}

/* Writes the Shape message of SHAPE. */
static void put_shape(struct hs_batch_encoder *encoder, const struct hs_encoder_shape *shape,
		      const struct hs_row *row)
{
	unsigned n_slots = shape->flags & HS_SHAPE_REFS_VARY ? 0 : shape->n_slots;
	uint64_t size = row->size_varies || row->is_continuation ? 0 : row->size;
	uint64_t base = (uint64_t)hs_slot_base_words(shape->flags) << encoder->shift;
	uint8_t column[HS_SHAPE_SLOTS_MAX * HS_VARINT_MAX], *end = column, *out;
	size_t bytes;

	for (unsigned i = 0; i < n_slots; i++) {
		end = hs_varint_put(end, (row->offsets[i] - base) >> encoder->shift);
		base = row->offsets[i] + ((uint64_t)1 << encoder->shift);
	}
	bytes = hs_uint_bytes(HS_SHAPE_TYPE, row->type) +
		hs_uint_bytes(HS_SHAPE_FLAGS, shape->flags) + hs_uint_bytes(HS_SHAPE_SIZE, size) +
		hs_column_bytes(HS_SHAPE_SLOT, (size_t)(end - column)) +
		hs_uint_bytes(HS_SHAPE_DOMAIN, row->domain);
	out = hs_varint_put(encoder->shape_end, HS_BATCH_SHAPE << 3 | HS_WIRE_BYTES);
	out = hs_varint_put(out, bytes);
	out = hs_put_uint(out, HS_SHAPE_TYPE, row->type);
	out = hs_put_uint(out, HS_SHAPE_FLAGS, shape->flags);
	out = hs_put_uint(out, HS_SHAPE_SIZE, size);
	out = hs_put_column(out, HS_SHAPE_SLOT, column, (size_t)(end - column));
	out = hs_put_uint(out, HS_SHAPE_DOMAIN, row->domain);
	encoder->budget -= out - encoder->shape_end;
	encoder->shape_end = out;
}

/* Makes a shape for ROW; 0 when the batch has no room for one. */
static unsigned new_shape(struct hs_batch_encoder *encoder, const struct hs_row *row,
			  unsigned flags, uint64_t size, uint32_t print)
{
	unsigned n_last = flags & HS_SHAPE_REFS_VARY ? HS_VARYING_TURNS : row->n_refs;
	struct hs_encoder_shape *shape;

	if (encoder->n_shapes == HS_BATCH_SHAPES_MAX ||
	    n_last > HS_BATCH_SLOTS_MAX - encoder->n_slots)
		return 0;
	shape = &encoder->shapes[++encoder->n_shapes];
	shape->size = size;
	shape->slots = encoder->n_slots;
	shape->print = print;
	shape->n_slots = flags & HS_SHAPE_REFS_VARY ? HS_NO_SLOTS : (uint16_t)row->n_refs;
	shape->next = 0;
	shape->flags = (uint16_t)flags;
	encoder->n_slots += n_last;
	memset(encoder->last + shape->slots, 0, n_last * sizeof(encoder->last[0]));
	if (!(flags & HS_SHAPE_REFS_VARY))
		for (unsigned i = 0; i < n_last; i++)
			encoder->offsets[shape->slots + i] = (uint32_t)row->offsets[i];
	put_shape(encoder, shape, row);
	return encoder->n_shapes;
}

/* The type's shape with flag 2; 0 when the batch has no room for it. */
static unsigned varying_shape(struct hs_batch_encoder *encoder, const struct hs_row *row,
			      uint16_t *known, unsigned flags, uint64_t size)
{
	if (!*known || unlikely(encoder->shapes[*known].size != size))
		*known = (uint16_t)new_shape(encoder, row, flags | HS_SHAPE_REFS_VARY, size, 0);
	return *known;
}

/* The shape of a row that is not shaped as the row of its type before. */
static __attribute__((noinline)) unsigned
find_shape(struct hs_batch_encoder *encoder, const struct hs_row *row, struct hs_shape_hint *hint)
{
	unsigned flags = row->size_varies ? HS_SHAPE_SIZE_VARIES : 0;
	uint64_t size = row->size_varies ? HS_SIZE_VARIES : row->size;
	uint32_t print = 0;
	unsigned index;

	if (hint->batch != encoder->serial)
		*hint = (struct hs_shape_hint){.batch = encoder->serial};
	if (row->is_continuation)
		return varying_shape(encoder, row, &hint->continued, HS_SHAPE_CONTINUATION, 0);
	if (row->n_refs > HS_SHAPE_SLOTS_MAX || (row->size_varies && row->n_refs))
		return varying_shape(encoder, row, &hint->varying, flags, size);
	for (unsigned i = 0; i < row->n_refs; i++) {
		if (unlikely((uint64_t)row->offsets[i] > UINT32_MAX))
			return varying_shape(encoder, row, &hint->varying, flags, size);
		print = print * 31 + (uint32_t)row->offsets[i];
	}
	for (index = hint->first; index; index = encoder->shapes[index].next) {
		const struct hs_encoder_shape *shape = &encoder->shapes[index];

		if (shape->print == print && shape->n_slots == row->n_refs && shape->size == size &&
		    hs_encoder_has_slots(encoder, shape, row->offsets, row->n_refs)) {
			hint->last = (uint16_t)index;
			return index;
		}
	}
	if (hint->count == HS_TYPE_SHAPES_MAX)
		return varying_shape(encoder, row, &hint->varying, flags, size);
	index = new_shape(encoder, row, flags, size, print);
	if (!index)
		return 0;
	encoder->shapes[index].next = hint->first;
	hint->first = (uint16_t)index;
	hint->last = (uint16_t)index;
	hint->count++;
	return index;
}

void hs_encoder_put_slots(struct hs_batch_encoder *encoder, const uintptr_t *offsets, size_t n,
			  unsigned flags)
{
	const unsigned shift = encoder->shift;
	uint64_t base = (uint64_t)hs_slot_base_words(flags) << shift;
	uint8_t *out = encoder->slot_end;

	encoder->count_end = hs_varint_put(encoder->count_end, n);
	if (!n)
		return;
	out = hs_varint_put(out, (offsets[0] - base) >> shift);
	/* As a rule there are no nulls between. */
	if ((offsets[n - 1] - offsets[0]) >> shift == n - 1) {
		memset(out, 0, n - 1);
		encoder->slot_end = out + n - 1;
		return;
	}
	for (size_t i = 1; i < n; i++) {
		base = offsets[i - 1] + ((uint64_t)1 << shift);
		out = hs_varint_put(out, (offsets[i] - base) >> shift);
	}
	encoder->slot_end = out;
}

void hs_encoder_put_slack(struct hs_batch_encoder *encoder, uint64_t size, uint64_t slack)
{
	uint64_t mask = ((uint64_t)1 << encoder->shift) - 1;
	/* Behind the words that the object itself takes. */
	uint64_t words = (slack - (-size & mask)) >> encoder->shift;
	uint8_t *out;

	if (!words)
		return;
	out = hs_varint_put(encoder->slack_end, encoder->rows - encoder->slack_row);
	encoder->slack_end = hs_varint_put(out, words);
	encoder->slack_row = encoder->rows;
}

/* One copy for words of either size: the walk has the usual row inline. */
bool hs_batch_add(struct hs_batch_encoder *encoder, const struct hs_row *row,
		  struct hs_shape_hint *hint)
{
	const unsigned shift = encoder->shift;
	const uint64_t slack = row->slot_size > row->size ? row->slot_size - row->size : 0;
	unsigned index;

	if (!hs_encoder_has_room(encoder, row->n_refs))
		return false;
	index = find_shape(encoder, row, hint);
	if (!index)
		return false;
	hs_encoder_put_row(encoder, index, encoder->shapes[index].flags & HS_SHAPE_REFS_VARY,
			   row->address, row->size, slack, row->n_refs, row->offsets, row->refs,
			   shift);
	return true;
}

uint32_t hs_batch_rows(const struct hs_batch_encoder *encoder)
{
	return encoder->rows;
}

size_t hs_batch_bytes(const struct hs_batch_encoder *encoder)
{
	const struct hs_batch_encoder *e = encoder;

	return hs_uint_bytes(HS_BATCH_ROWS, e->rows) +
	       hs_uint_bytes(HS_BATCH_GENERATION, e->generation) +
	       (size_t)(e->shape_end - e->shape_column) +
	       hs_uint_bytes(HS_BATCH_SNAPSHOT, e->snapshot) +
	       hs_column_bytes(HS_BATCH_ADDRESS, (size_t)(e->address_end - e->address_column)) +
	       hs_column_bytes(HS_BATCH_SHAPE_INDEX, (size_t)(e->index_end - e->index_column)) +
	       hs_column_bytes(HS_BATCH_SIZE, (size_t)(e->size_end - e->size_column)) +
	       hs_column_bytes(HS_BATCH_REFERENCE_COUNT, (size_t)(e->count_end - e->count_column)) +
	       hs_column_bytes(HS_BATCH_SLOT, (size_t)(e->slot_end - e->slot_column)) +
	       hs_column_bytes(HS_BATCH_REFERENCE,
			       (size_t)(e->reference_end - e->reference_column)) +
	       hs_column_bytes(HS_BATCH_SLACK, (size_t)(e->slack_end - e->slack_column));
}

size_t hs_batch_finish(struct hs_batch_encoder *encoder, uint8_t *out)
{
	const struct hs_batch_encoder *e = encoder;
	size_t shapes = (size_t)(e->shape_end - e->shape_column);
	uint8_t *start = out;

	out = hs_put_uint(out, HS_BATCH_ROWS, e->rows);
	out = hs_put_uint(out, HS_BATCH_GENERATION, e->generation);
	memcpy(out, e->shape_column, shapes);
	out += shapes;
	out = hs_put_uint(out, HS_BATCH_SNAPSHOT, e->snapshot);
	out = hs_put_column(out, HS_BATCH_ADDRESS, e->address_column,
			    (size_t)(e->address_end - e->address_column));
	out = hs_put_column(out, HS_BATCH_SHAPE_INDEX, e->index_column,
			    (size_t)(e->index_end - e->index_column));
	out = hs_put_column(out, HS_BATCH_SIZE, e->size_column,
			    (size_t)(e->size_end - e->size_column));
	out = hs_put_column(out, HS_BATCH_REFERENCE_COUNT, e->count_column,
			    (size_t)(e->count_end - e->count_column));
	out = hs_put_column(out, HS_BATCH_SLOT, e->slot_column,
			    (size_t)(e->slot_end - e->slot_column));
	out = hs_put_column(out, HS_BATCH_REFERENCE, e->reference_column,
			    (size_t)(e->reference_end - e->reference_column));
	out = hs_put_column(out, HS_BATCH_SLACK, e->slack_column,
			    (size_t)(e->slack_end - e->slack_column));
	return (size_t)(out - start);
}
