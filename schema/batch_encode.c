/* SPDX-License-Identifier: MIT */
/*
 * Encoder of object batches.  It is called once an object while the world is
 * stopped, so the usual row takes one comparison with the shape that its type
 * had last, and no loop but the one over its references.
 *
 * Columns are written with bare pointers.  What makes that safe is the budget:
 * an upper bound of the bytes that a row may take is subtracted before the row
 * is written, and the exact count is taken only when the bound runs out.
 */
#include <string.h>

#include "schema/batch.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Bytes of the fields around the columns, at most: their keys and lengths. */
#define FRAME_BYTES 128u
#define BODY_MAX    (HS_BATCH_BYTES_MAX - FRAME_BYTES)
/* Address, shape index, size, count and slack of one row, at most. */
#define ROW_BYTES 40u
/* A slot and a reference, at most. */
#define REF_BYTES (2u * HS_VARINT_MAX)
/* A new shape, at most: its scalars, and slots below 4 GB. */
#define SHAPE_BYTES (48u + 5u * HS_SHAPE_SLOTS_MAX)

/* Size of shapes of strings and arrays; no object has it. */
#define SIZE_VARIES UINT64_MAX
/* Number of slots of shapes with flag 2, and of shape 0: no row has it. */
#define NO_SLOTS UINT16_MAX

struct shape {
	uint64_t size;  /* exact bytes, or SIZE_VARIES */
	uint32_t slots; /* its first entry in offsets[] and last[] */
	uint32_t print; /* fingerprint of its offsets */
	uint16_t n_slots;
	uint16_t next; /* next shape of the type, 0 behind the last */
	uint16_t flags;
};

struct hs_batch_encoder {
	uint64_t serial;
	uint64_t snapshot;
	uint64_t last_address;
	int64_t budget; /* lower bound of the bytes left */
	uint32_t generation;
	uint32_t rows;
	uint32_t slack_row; /* row of the last slack entry */
	uint32_t n_shapes;
	uint32_t n_slots;
	unsigned shift;

	/* Ends of what is written in the columns below. */
	uint8_t *shape_end, *address_end, *index_end, *size_end;
	uint8_t *count_end, *slot_end, *reference_end, *slack_end;

	struct shape shapes[HS_BATCH_SHAPES_MAX + 1]; /* from 1; 0 matches nothing */
	int64_t last[HS_BATCH_SLOTS_MAX];             /* reference last seen, in words */
	uint32_t offsets[HS_BATCH_SLOTS_MAX];

	/*
	 * A column holds what the whole body may take, or less where its rows
	 * cannot fill that.  Writing several bytes at once may touch 8 more.
	 */
	uint8_t shape_column[BODY_MAX + 8];
	uint8_t address_column[HS_BATCH_ROWS_MAX * HS_VARINT_MAX + 8];
	uint8_t index_column[HS_BATCH_ROWS_MAX * 2 + 8];
	uint8_t size_column[HS_BATCH_ROWS_MAX * HS_VARINT_MAX + 8];
	uint8_t count_column[HS_BATCH_ROWS_MAX * 2 + 8];
	uint8_t slot_column[BODY_MAX + 8];
	uint8_t reference_column[BODY_MAX + 8];
	uint8_t slack_column[HS_BATCH_ROWS_MAX * (2 + HS_VARINT_MAX) + 8];
};

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
	encoder->shapes[0].n_slots = NO_SLOTS;
	hs_batch_begin(encoder, 0, 0);
	return encoder;
}

void hs_batch_begin(struct hs_batch_encoder *encoder, uint64_t snapshot, uint32_t generation)
{
	encoder->serial++;
	encoder->snapshot = snapshot;
	encoder->generation = generation;
	encoder->last_address = 0;
	encoder->budget = BODY_MAX;
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

/* Counts exactly what is left; false when BYTES are not. */
static __attribute__((noinline)) bool renew_budget(struct hs_batch_encoder *encoder, int64_t bytes)
{
	encoder->budget = (int64_t)BODY_MAX - (int64_t)body_bytes(encoder);
	return encoder->budget >= bytes;
}

/* Writes the Shape message of SHAPE. */
static void put_shape(struct hs_batch_encoder *encoder, const struct shape *shape,
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
	struct shape *shape;

	if (encoder->n_shapes == HS_BATCH_SHAPES_MAX ||
	    n_last > HS_BATCH_SLOTS_MAX - encoder->n_slots)
		return 0;
	shape = &encoder->shapes[++encoder->n_shapes];
	shape->size = size;
	shape->slots = encoder->n_slots;
	shape->print = print;
	shape->n_slots = flags & HS_SHAPE_REFS_VARY ? NO_SLOTS : (uint16_t)row->n_refs;
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

static inline bool has_slots(const struct hs_batch_encoder *encoder, const struct shape *shape,
			     const uintptr_t *offsets, size_t n)
{
	const uint32_t *slots = encoder->offsets + shape->slots;

	for (size_t i = 0; i < n; i++)
		if (slots[i] != offsets[i])
			return false;
	return true;
}

/* The shape of a row that is not shaped as the row of its type before. */
static __attribute__((noinline)) unsigned
find_shape(struct hs_batch_encoder *encoder, const struct hs_row *row, struct hs_shape_hint *hint)
{
	unsigned flags = row->size_varies ? HS_SHAPE_SIZE_VARIES : 0;
	uint64_t size = row->size_varies ? SIZE_VARIES : row->size;
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
		const struct shape *shape = &encoder->shapes[index];

		if (shape->print == print && shape->n_slots == row->n_refs && shape->size == size &&
		    has_slots(encoder, shape, row->offsets, row->n_refs)) {
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

/* Count and slots of a row with flag 2. */
static void put_slots(struct hs_batch_encoder *encoder, const struct hs_row *row, unsigned flags)
{
	unsigned shift = encoder->shift;
	uint64_t base = (uint64_t)hs_slot_base_words(flags) << shift;
	uint8_t *out = encoder->slot_end;

	for (unsigned i = 0; i < row->n_refs; i++) {
		out = hs_varint_put(out, (row->offsets[i] - base) >> shift);
		base = row->offsets[i] + ((uint64_t)1 << shift);
	}
	encoder->slot_end = out;
	encoder->count_end = hs_varint_put(encoder->count_end, row->n_refs);
}

/* The slot is larger than the object. */
static __attribute__((noinline)) void put_slack(struct hs_batch_encoder *encoder,
						const struct hs_row *row)
{
	uint64_t mask = ((uint64_t)1 << encoder->shift) - 1;
	uint64_t rounded = (row->size + mask) & ~mask;
	uint64_t words = (row->slot_size - rounded) >> encoder->shift;
	uint8_t *out;

	if (row->slot_size < rounded || !words)
		return;
	out = hs_varint_put(encoder->slack_end, encoder->rows - encoder->slack_row);
	encoder->slack_end = hs_varint_put(out, words);
	encoder->slack_row = encoder->rows;
}

/*
 * Writes the references of a row.  Columns are bytes, which may be anything to
 * the compiler, so all that the loop needs is held in locals.  SHIFT and MASK
 * are constants where this is inlined.
 */
static inline __attribute__((always_inline)) uint8_t *
put_references(uint8_t *out, int64_t *last, const struct hs_row *row, unsigned shift, size_t mask)
{
	void *const *refs = row->refs;
	uint64_t address = row->address;
	size_t n = row->n_refs;

	for (size_t i = 0; i < n; i++) {
		int64_t delta = hs_word_delta((uintptr_t)refs[i], address, shift);
		int64_t before = last[i & mask];

		last[i & mask] = delta;
		out = hs_varint_put_wild(out, hs_zigzag(delta - before));
	}
	return out;
}

static inline __attribute__((always_inline)) bool add_row(struct hs_batch_encoder *encoder,
							  const struct hs_row *row,
							  struct hs_shape_hint *hint,
							  unsigned shift)
{
	size_t n_refs = row->n_refs;
	int64_t bytes = (int64_t)(ROW_BYTES + REF_BYTES * n_refs), *last;
	uint64_t address = row->address;
	const struct shape *shape;
	unsigned index, flags;

	if (unlikely(encoder->budget < bytes + (int64_t)SHAPE_BYTES) &&
	    !renew_budget(encoder, bytes + (int64_t)SHAPE_BYTES))
		return false;
	if (unlikely(encoder->rows == HS_BATCH_ROWS_MAX))
		return false;

	index = likely(hint->batch == encoder->serial && !row->is_continuation) ? hint->last : 0;
	shape = &encoder->shapes[index];
	if (unlikely(shape->n_slots != n_refs ||
		     shape->size != (row->size_varies ? SIZE_VARIES : row->size) ||
		     !has_slots(encoder, shape, row->offsets, n_refs))) {
		index = find_shape(encoder, row, hint);
		if (!index)
			return false;
		shape = &encoder->shapes[index];
	}
	flags = shape->flags;
	last = encoder->last + shape->slots;
	encoder->budget -= bytes;

	encoder->address_end =
		hs_varint_put(encoder->address_end,
			      hs_zigzag(hs_word_delta(address, encoder->last_address, shift)));
	encoder->last_address = address;
	encoder->index_end = hs_varint_put(encoder->index_end, index);
	if (flags & HS_SHAPE_SIZE_VARIES)
		encoder->size_end = hs_varint_put(encoder->size_end, row->size);
	if (flags & HS_SHAPE_REFS_VARY) {
		put_slots(encoder, row, flags);
		encoder->reference_end = put_references(encoder->reference_end, last, row, shift,
							HS_VARYING_TURNS - 1);
	} else {
		encoder->reference_end =
			put_references(encoder->reference_end, last, row, shift, SIZE_MAX);
	}
	if ((row->slot_size - row->size) >> shift)
		put_slack(encoder, row);
	encoder->rows++;
	return true;
}

bool hs_batch_add(struct hs_batch_encoder *encoder, const struct hs_row *row,
		  struct hs_shape_hint *hint)
{
	return likely(encoder->shift == 3) ? add_row(encoder, row, hint, 3)
					   : add_row(encoder, row, hint, 2);
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
