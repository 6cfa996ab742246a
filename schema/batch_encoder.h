/* SPDX-License-Identifier: MIT */
/*
 * The encoder of object batches from within, and the usual row inline: it is
 * added once an object while the world is stopped.  Such a row is shaped as the
 * one of its type before, which takes one comparison, and no loop but those over
 * its references.  Where the length of a number, or whether a column has an
 * entry, is anybody's guess, there is no branch on it: the processor's wrong
 * guesses were most of what a row took.
 *
 * Columns are written with bare pointers.  What makes that safe is the budget:
 * an upper bound of the bytes that a row may take is subtracted before the row
 * is written, and the exact count is taken only when the bound runs out.
 */
#ifndef HEAPSHOT_SCHEMA_BATCH_ENCODER_H
#define HEAPSHOT_SCHEMA_BATCH_ENCODER_H

#include "schema/batch.h"

/* Bytes of the fields around the columns, at most: their keys and lengths. */
#define HS_BATCH_FRAME_BYTES 128u
#define HS_BATCH_BODY_MAX    (HS_BATCH_BYTES_MAX - HS_BATCH_FRAME_BYTES)
/* Address, shape index, size, count and slack of one row, at most. */
#define HS_ROW_BYTES 40u
/* A slot and a reference, at most. */
#define HS_REF_BYTES (2u * HS_VARINT_MAX)
/* A new shape, at most: its scalars, and slots below 4 GB. */
#define HS_SHAPE_BYTES (48u + 5u * HS_SHAPE_SLOTS_MAX)

/* Size of shapes of strings and arrays; no object has it. */
#define HS_SIZE_VARIES UINT64_MAX
/* Number of slots of shapes with flag 2, and of shape 0: no row has it. */
#define HS_NO_SLOTS UINT16_MAX

struct hs_encoder_shape {
	uint64_t size;  /* exact bytes, or HS_SIZE_VARIES */
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

	struct hs_encoder_shape shapes[HS_BATCH_SHAPES_MAX + 1]; /* from 1; 0 matches nothing */
	/* Reference last seen, in words, and its offset, of each slot. */
	int64_t last[HS_BATCH_SLOTS_MAX];
	uint32_t offsets[HS_BATCH_SLOTS_MAX];

	/*
	 * A column holds what the whole body may take, or less where its rows
	 * cannot fill that.  Writing several bytes at once may touch 8 more.
	 */
	uint8_t shape_column[HS_BATCH_BODY_MAX + 8];
	uint8_t address_column[HS_BATCH_ROWS_MAX * HS_VARINT_MAX + 8];
	uint8_t index_column[HS_BATCH_ROWS_MAX * 2 + 8];
	uint8_t size_column[HS_BATCH_ROWS_MAX * HS_VARINT_MAX + 8];
	uint8_t count_column[HS_BATCH_ROWS_MAX * 2 + 8];
	uint8_t slot_column[HS_BATCH_BODY_MAX + 8];
	uint8_t reference_column[HS_BATCH_BODY_MAX + 8];
	uint8_t slack_column[HS_BATCH_ROWS_MAX * (2 + HS_VARINT_MAX) + 8];
};

static inline bool hs_encoder_has_slots(const struct hs_batch_encoder *encoder,
					const struct hs_encoder_shape *shape,
					const uintptr_t *offsets, size_t n)
{
	const uint32_t *slots = encoder->offsets + shape->slots;

	for (size_t i = 0; i < n; i++)
		if (slots[i] != offsets[i])
			return false;
	return true;
}

/*
 * Writes the references of a row.  Columns are bytes, which may be anything to
 * the compiler, so all that the loop needs is held in locals.  SHIFT and MASK
 * are constants where this is inlined.
 */
static inline __attribute__((always_inline)) uint8_t *
hs_encoder_put_references(uint8_t *out, int64_t *last, uint64_t address, void *const *refs,
			  size_t n, unsigned shift, size_t mask)
{
	for (size_t i = 0; i < n; i++) {
		int64_t delta = hs_word_delta((uintptr_t)refs[i], address, shift);
		int64_t before = last[i & mask];

		last[i & mask] = delta;
		out = hs_varint_put_wild(out, hs_zigzag(delta - before));
	}
	return out;
}

/* Count and slots of a row with flag 2. */
void hs_encoder_put_slots(struct hs_batch_encoder *encoder, const uintptr_t *offsets, size_t n,
			  unsigned flags);
/* The slot is larger by SLACK bytes than the object. */
void hs_encoder_put_slack(struct hs_batch_encoder *encoder, uint64_t size, uint64_t slack);
/* Counts exactly what is left; false when BYTES are not. */
bool hs_encoder_renew_budget(struct hs_batch_encoder *encoder, int64_t bytes);

/*
 * Writes the row; number INDEX is its shape, and there is room.  REFS_VARY (flag
 * 2 of that shape) and SHIFT are constants where this is inlined.
 */
static inline __attribute__((always_inline)) void
hs_encoder_put_row(struct hs_batch_encoder *encoder, unsigned index, bool refs_vary,
		   uint64_t address, uint64_t size, uint64_t slack, size_t n_refs,
		   const uintptr_t *offsets, void *const *refs, unsigned shift)
{
	const struct hs_encoder_shape *shape = &encoder->shapes[index];
	const unsigned flags = shape->flags;
	int64_t *last = encoder->last + shape->slots;

	encoder->budget -= (int64_t)(HS_ROW_BYTES + HS_REF_BYTES * n_refs);
	encoder->address_end =
		hs_varint_put(encoder->address_end,
			      hs_zigzag(hs_word_delta(address, encoder->last_address, shift)));
	encoder->last_address = address;
	encoder->index_end = hs_varint_put(encoder->index_end, index);
	if (flags & HS_SHAPE_SIZE_VARIES)
		encoder->size_end = hs_varint_put_short(encoder->size_end, size);
	if (refs_vary) {
		hs_encoder_put_slots(encoder, offsets, n_refs, flags);
		encoder->reference_end =
			hs_encoder_put_references(encoder->reference_end, last, address, refs,
						  n_refs, shift, HS_VARYING_TURNS - 1);
	} else {
		encoder->reference_end = hs_encoder_put_references(
			encoder->reference_end, last, address, refs, n_refs, shift, SIZE_MAX);
	}
	if (slack >> shift)
		hs_encoder_put_slack(encoder, size, slack);
	encoder->rows++;
}

static inline bool hs_encoder_has_room(struct hs_batch_encoder *encoder, size_t n_refs)
{
	const int64_t bytes = (int64_t)(HS_ROW_BYTES + HS_REF_BYTES * n_refs + HS_SHAPE_BYTES);

	return (__builtin_expect(encoder->budget >= bytes, 1) ||
		hs_encoder_renew_budget(encoder, bytes)) &&
	       __builtin_expect(encoder->rows < HS_BATCH_ROWS_MAX, 1);
}

/*
 * Adds a row that is no continuation, if it is shaped as the one of its type
 * before and there is room.  False otherwise, with nothing added: hs_batch_add
 * does what there is to do then.  SHAPE_SIZE is the size, or HS_SIZE_VARIES; SLACK is
 * what the slot has beyond the size.
 */
static inline __attribute__((always_inline)) bool
hs_batch_add_usual(struct hs_batch_encoder *encoder, const struct hs_shape_hint *hint,
		   uint64_t address, uint64_t size, uint64_t shape_size, uint64_t slack,
		   size_t n_refs, const uintptr_t *offsets, void *const *refs, unsigned shift)
{
	const unsigned index = hint->last;
	const struct hs_encoder_shape *shape = &encoder->shapes[index];

	if (__builtin_expect(hint->batch != encoder->serial || shape->n_slots != n_refs ||
				     shape->size != shape_size ||
				     !hs_encoder_has_slots(encoder, shape, offsets, n_refs) ||
				     !hs_encoder_has_room(encoder, n_refs),
			     0))
		return false;
	hs_encoder_put_row(encoder, index, false, address, size, slack, n_refs, offsets, refs,
			   shift);
	return true;
}

/* The same for an array that has references. */
static inline __attribute__((always_inline)) bool
hs_batch_add_array(struct hs_batch_encoder *encoder, const struct hs_shape_hint *hint,
		   uint64_t address, uint64_t size, uint64_t slack, size_t n_refs,
		   const uintptr_t *offsets, void *const *refs, unsigned shift)
{
	const unsigned index = hint->varying;

	if (__builtin_expect(hint->batch != encoder->serial || !index ||
				     !hs_encoder_has_room(encoder, n_refs),
			     0))
		return false;
	hs_encoder_put_row(encoder, index, true, address, size, slack, n_refs, offsets, refs,
			   shift);
	return true;
}

#endif
