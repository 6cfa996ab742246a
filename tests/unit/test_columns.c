/* SPDX-License-Identifier: MIT */
/*
 * Object batches: random rows are encoded; the bytes are read by the generated
 * code and held against the encodings of FORMAT.md, worked out here in the
 * plainest way; then they are decoded and held against the rows.
 */
#include <criterion/criterion.h>

#include "schema/heapshot.pb-c.h"
#include "tests/unit/columns_case.h"
#include "tests/unit/leak_check.h"

TestSuite(columns, .fini = leak_check);

static struct case_row rows[HS_BATCH_ROWS_MAX + 1];
static struct hs_shape_hint hints[CASE_HINTS];
static uint8_t out[HS_RECORD_MAX];

/* ---- the encodings, worked out plainly ---- */

struct plain_shape {
	uint32_t type, domain, flags;
	uint64_t size;
	unsigned n_slots;
	uint64_t offsets[HS_SHAPE_SLOTS_MAX];
	int64_t last[HS_SHAPE_SLOTS_MAX];
};

struct plain_batch {
	unsigned n_rows, n_shapes, n_size, n_count, n_slot, n_reference, n_slack, slack_row;
	struct plain_shape shapes[HS_BATCH_SHAPES_MAX];
	int64_t address[HS_BATCH_ROWS_MAX];
	uint32_t shape_index[HS_BATCH_ROWS_MAX];
	uint64_t size[HS_BATCH_ROWS_MAX], count[HS_BATCH_ROWS_MAX], slack[2 * HS_BATCH_ROWS_MAX];
	uint64_t slot[HS_BATCH_ROWS_MAX * HS_ROW_REFS_MAX];
	int64_t reference[HS_BATCH_ROWS_MAX * HS_ROW_REFS_MAX];
	uint64_t last_address;
};

static struct plain_batch plain;

/* Index of the row's shape, from 0; made if it is new. */
static unsigned plain_shape(const struct hs_row *row)
{
	struct plain_shape want = {.type = row->type, .domain = row->domain};
	unsigned of_type = 0;

	if (row->is_continuation)
		want.flags = 2 | 4;
	else if (row->size_varies)
		want.flags = row->n_refs ? 1 | 2 : 1;
	else
		want.flags = row->n_refs > HS_SHAPE_SLOTS_MAX ? 2 : 0;
	for (;;) {
		bool varies = want.flags & 2;

		want.size = want.flags & (1 | 4) ? 0 : row->size;
		want.n_slots = varies ? 0 : row->n_refs;
		for (unsigned i = 0; i < want.n_slots; i++)
			want.offsets[i] = row->offsets[i];
		for (unsigned i = of_type = 0; i < plain.n_shapes; i++) {
			const struct plain_shape *shape = &plain.shapes[i];

			if (shape->type != want.type || shape->domain != want.domain)
				continue;
			of_type += !(shape->flags & 2);
			if (shape->flags == want.flags && shape->size == want.size &&
			    shape->n_slots == want.n_slots &&
			    !memcmp(shape->offsets, want.offsets, 8 * want.n_slots))
				return i;
		}
		if (varies || of_type < HS_TYPE_SHAPES_MAX)
			break;
		want.flags |= 2;
	}
	plain.shapes[plain.n_shapes] = want;
	return plain.n_shapes++;
}

static int64_t words(uint64_t to, uint64_t from, unsigned word)
{
	return (int64_t)(to - from) / (int64_t)word;
}

static void plain_add(const struct hs_row *row, unsigned word)
{
	unsigned index = plain_shape(row);
	struct plain_shape *shape = &plain.shapes[index];
	uint64_t base = shape->flags & 4 ? 0 : row->is_array ? 4 * word : 2 * word;
	uint64_t rounded = (row->size + word - 1) / word * word;

	plain.address[plain.n_rows] = words(row->address, plain.last_address, word);
	plain.last_address = row->address;
	plain.shape_index[plain.n_rows] = index + 1;
	if (shape->flags & 1)
		plain.size[plain.n_size++] = row->size;
	if (shape->flags & 2)
		plain.count[plain.n_count++] = row->n_refs;
	for (unsigned j = 0; j < row->n_refs; j++) {
		int64_t d = words((uintptr_t)row->refs[j], row->address, word);
		int64_t *last = &shape->last[shape->flags & 2 ? j % 8 : j];

		if (shape->flags & 2) {
			plain.slot[plain.n_slot++] = (row->offsets[j] - base) / word;
			base = row->offsets[j] + word;
		}
		plain.reference[plain.n_reference++] = (int64_t)((uint64_t)d - (uint64_t)*last);
		*last = d;
	}
	if (row->slot_size > rounded) {
		plain.slack[plain.n_slack++] = plain.n_rows - plain.slack_row;
		plain.slack[plain.n_slack++] = (row->slot_size - rounded) / word;
		plain.slack_row = plain.n_rows;
	}
	plain.n_rows++;
}

#define check_column(got, n_got, want, n_want)                                                     \
	do {                                                                                       \
		cr_assert_eq((size_t)(n_got), (size_t)(n_want), #got);                             \
		for (size_t i_ = 0; i_ < (size_t)(n_want); i_++)                                   \
			cr_assert_eq((got)[i_], (want)[i_], #got " %zu", i_);                      \
	} while (0)

static void check_plain(const uint8_t *data, size_t size, unsigned word)
{
	Heapshot__ObjectBatch *batch = heapshot__object_batch__unpack(NULL, size, data);
	uint8_t *again = malloc(size + 64);

	cr_assert_not_null(batch);
	cr_assert_eq(batch->rows, plain.n_rows);
	cr_assert_eq(batch->base.n_unknown_fields, 0);
	cr_assert_eq(batch->n_shape, plain.n_shapes);
	for (unsigned i = 0; i < plain.n_shapes; i++) {
		const struct plain_shape *want = &plain.shapes[i];
		const Heapshot__Shape *got = batch->shape[i];
		uint64_t base = 2 * word;

		cr_assert_eq(got->type, want->type);
		cr_assert_eq(got->domain, want->domain);
		cr_assert_eq(got->flags, want->flags);
		cr_assert_eq(got->size, want->size);
		cr_assert_eq(got->n_slot, want->n_slots);
		for (unsigned j = 0; j < want->n_slots; j++) {
			cr_assert_eq(got->slot[j], (want->offsets[j] - base) / word);
			base = want->offsets[j] + word;
		}
	}
	check_column(batch->address, batch->n_address, plain.address, plain.n_rows);
	check_column(batch->shape_index, batch->n_shape_index, plain.shape_index, plain.n_rows);
	check_column(batch->size, batch->n_size, plain.size, plain.n_size);
	check_column(batch->reference_count, batch->n_reference_count, plain.count, plain.n_count);
	check_column(batch->slot, batch->n_slot, plain.slot, plain.n_slot);
	check_column(batch->reference, batch->n_reference, plain.reference, plain.n_reference);
	check_column(batch->slack, batch->n_slack, plain.slack, plain.n_slack);
	/* Byte for byte what the generated code writes. */
	cr_assert_eq(heapshot__object_batch__get_packed_size(batch), size);
	heapshot__object_batch__pack(batch, again);
	cr_assert_eq(memcmp(again, data, size), 0);
	free(again);
	heapshot__object_batch__free_unpacked(batch, NULL);
}

/* ---- and decoded ---- */

static void check_decoded(struct hs_batch_decoder *decoder, const uint8_t *data, size_t size,
			  unsigned n_rows, enum hs_batch_want want, unsigned word)
{
	struct hs_decoded_row got;
	const char *error = "";

	cr_assert_eq(hs_batch_decode(decoder, data, size, want, &error), 0, "%s", error);
	cr_assert_eq(hs_batch_decoder_rows(decoder), n_rows);
	cr_assert_eq(hs_batch_decoder_unknown(decoder), 0);
	for (unsigned i = 0; i < n_rows; i++) {
		const struct hs_row *row = &rows[i].row;
		uint64_t mask = word == 4 ? 0xffffffffu : UINT64_MAX;

		cr_assert_eq(hs_batch_next(decoder, &got, &error), 1, "row %u: %s", i, error);
		cr_assert_eq(got.address, row->address);
		cr_assert_eq(got.size, row->size);
		cr_assert_eq(got.slot_size, row->slot_size);
		cr_assert_eq(got.type, row->type);
		cr_assert_eq(got.domain, row->domain);
		cr_assert_eq(got.n_refs, row->n_refs);
		cr_assert_eq(got.is_continuation, row->is_continuation);
		cr_assert_eq(got.refs != NULL, want == HS_WANT_REFERENCES);
		cr_assert_eq(got.offsets != NULL, want == HS_WANT_REFERENCES);
		for (unsigned j = 0; got.refs && j < row->n_refs; j++) {
			cr_assert_eq(got.refs[j] & mask, (uintptr_t)row->refs[j]);
			cr_assert_eq(got.offsets[j], row->offsets[j]);
		}
	}
	cr_assert_eq(hs_batch_next(decoder, &got, &error), 0, "%s", error);
	cr_assert_eq(hs_batch_next(decoder, &got, &error), 0, "the end stays the end");
}

struct bench {
	struct hs_batch_encoder *encoder;
	struct hs_batch_decoder *decoder;
	unsigned word, n_rows;
};

static struct bench begin(unsigned word)
{
	struct bench bench = {case_encoder(word), case_decoder(word), word, 0};

	memset(hints, 0, sizeof(hints));
	memset(&plain, 0, sizeof(plain));
	hs_batch_begin(bench.encoder, 7, 1);
	return bench;
}

static bool add(struct bench *bench)
{
	struct hs_row *row = &rows[bench->n_rows].row;

	if (!hs_batch_add(bench->encoder, row, case_hint(hints, row)))
		return false;
	plain_add(row, bench->word);
	bench->n_rows++;
	return true;
}

/* Checks the batch in all ways, and begins the next. */
static size_t check(struct bench *bench)
{
	size_t size = hs_batch_bytes(bench->encoder);

	cr_assert_leq(size, HS_RECORD_MAX - 64);
	cr_assert_eq(hs_batch_rows(bench->encoder), bench->n_rows);
	cr_assert_eq(hs_batch_finish(bench->encoder, out), size);
	check_plain(out, size, bench->word);
	check_decoded(bench->decoder, out, size, bench->n_rows, HS_WANT_REFERENCES, bench->word);
	check_decoded(bench->decoder, out, size, bench->n_rows, HS_WANT_ROWS, bench->word);
	cr_assert_eq(hs_batch_decoder_snapshot(bench->decoder), 7);
	cr_assert_eq(hs_batch_decoder_generation(bench->decoder), 1);
	memset(&plain, 0, sizeof(plain));
	bench->n_rows = 0;
	hs_batch_begin(bench->encoder, 7, 1);
	return size;
}

static void end(struct bench *bench)
{
	free(bench->encoder);
	free(bench->decoder);
}

Test(columns, random_batches)
{
	static const struct case_heap heaps[] = {
		{8, 10, 8, 10, 1, 0x7f0012340000},  {8, 0, 4, 0, 0, 0x7f0012340000},
		{8, 50, 40, 5, 0, 0x10000},         {8, 30, 20, 50, 90, 0xfffffffffff00000},
		{4, 10, 8, 10, 1, 0x10000},         {4, 50, 40, 20, 50, 0x7fff0000},
		{8, 100, 8, 30, 0, 0x7f0012340000},
	};

	case_seed(3);
	for (unsigned i = 0; i < sizeof(heaps) / sizeof(heaps[0]); i++) {
		struct case_heap heap = heaps[i];
		struct bench bench = begin(heap.word_bytes);

		/* Batches after one another in one encoder, some of them cut early. */
		for (unsigned batch = 0; batch < 6; batch++) {
			unsigned most = batch % 2 ? case_draw(1000) : HS_BATCH_ROWS_MAX + 1;

			while (bench.n_rows < most) {
				case_make_row(&heap, &rows[bench.n_rows]);
				if (!add(&bench))
					break;
			}
			check(&bench);
		}
		end(&bench);
	}
}

/* A row of TYPE with N references from slot FIRST on, every STEP words. */
static struct hs_row *make(unsigned at, uint32_t type, unsigned word, unsigned n, unsigned first,
			   unsigned step)
{
	struct case_row *made = &rows[at];

	made->row = (struct hs_row){.address = 0x100000 + 64u * at,
				    .size = 64,
				    .slot_size = 64,
				    .type = type,
				    .domain = 1,
				    .n_refs = n,
				    .offsets = made->offsets,
				    .refs = made->refs};
	for (unsigned i = 0; i < n; i++) {
		made->offsets[i] = word * (first + i * step);
		made->refs[i] = (void *)(uintptr_t)(0x200000 + word * i);
	}
	return &made->row;
}

Test(columns, example_of_the_specification)
{
	/* FORMAT.md, "Object batches", walks through these bytes. */
	static const uint8_t expected[] = {
		0x08, 0x03, /* rows */
		0x10, 0x01, /* generation */
		0x1a, 0x0a, 0x08, 0x05, 0x18, 0x20, 0x22, 0x02, 0x00, 0x00, 0x28,
		0x01, 0x1a, 0x06, 0x08, 0x02, 0x10, 0x01, 0x28, 0x01, 0x20, 0x01, /* snapshot */
		0x2a, 0x05, 0x80, 0x80, 0x01, 0x08, 0x0c,                         /* address */
		0x32, 0x03, 0x01, 0x01, 0x02,                                     /* shape_index */
		0x3a, 0x01, 0x1e,                                                 /* size */
		0x52, 0x04, 0x08, 0x14, 0x00, 0x07,                               /* reference */
		0x5a, 0x02, 0x01, 0x02,                                           /* slack */
	};
	struct hs_batch_encoder *encoder = case_encoder(8);
	struct hs_shape_hint node = {0}, string = {0};
	struct hs_row *row;
	size_t size;

	hs_batch_begin(encoder, 1, 1);
	row = make(0, 5, 8, 2, 2, 1);
	row->address = 0x10000;
	row->size = row->slot_size = 32;
	rows[0].refs[0] = (void *)0x10020;
	rows[0].refs[1] = (void *)0x10050;
	cr_assert(hs_batch_add(encoder, row, &node));
	row = make(1, 5, 8, 2, 2, 1);
	row->address = 0x10020;
	row->size = 32;
	row->slot_size = 48;
	rows[1].refs[0] = (void *)0x10040;
	rows[1].refs[1] = (void *)0x10050;
	cr_assert(hs_batch_add(encoder, row, &node));
	row = make(2, 2, 8, 0, 0, 0);
	row->address = 0x10050;
	row->size = 30;
	row->slot_size = 32;
	row->size_varies = true;
	cr_assert(hs_batch_add(encoder, row, &string));
	size = hs_batch_finish(encoder, out);
	cr_assert_eq(size, sizeof(expected));
	cr_assert_arr_eq(out, expected, sizeof(expected));
	free(encoder);
}

Test(columns, edges)
{
	for (unsigned word = 4; word <= 8; word += 4) {
		struct bench bench = begin(word);

		/* No references; exactly 30, one more, 128; a gap in the slots. */
		make(bench.n_rows, 1, word, 0, 0, 0);
		cr_assert(add(&bench));
		make(bench.n_rows, 1, word, 30, 2, 1);
		cr_assert(add(&bench));
		make(bench.n_rows, 1, word, 31, 2, 1);
		cr_assert(add(&bench));
		make(bench.n_rows, 1, word, HS_ROW_REFS_MAX, 2, 100);
		cr_assert(add(&bench));
		make(bench.n_rows, 1, word, 2, 3, 5);
		cr_assert(add(&bench));
		cr_assert_eq(plain.n_shapes, 4);
		/* A long array: its row, and continuations. */
		make(bench.n_rows, 2, word, HS_ROW_REFS_MAX, 4, 1)->is_array = true;
		rows[bench.n_rows].row.size_varies = true;
		rows[bench.n_rows].row.size = ((uint64_t)1 << 35) + 3;
		rows[bench.n_rows].row.slot_size = ((uint64_t)1 << 36);
		cr_assert(add(&bench));
		for (unsigned i = 1; i < 4; i++) {
			make(bench.n_rows, 2, word, HS_ROW_REFS_MAX, 4 + i * HS_ROW_REFS_MAX, 1);
			rows[bench.n_rows].row.address = rows[bench.n_rows - i].row.address;
			rows[bench.n_rows].row.is_array = rows[bench.n_rows].row.size_varies = true;
			rows[bench.n_rows].row.is_continuation = true;
			rows[bench.n_rows].row.size = rows[bench.n_rows].row.slot_size = 0;
			cr_assert(add(&bench));
		}
		cr_assert_eq(plain.n_shapes, 6);
		/* An array of nulls; the same type in another domain. */
		make(bench.n_rows, 2, word, 0, 4, 1)->is_array = true;
		rows[bench.n_rows].row.size_varies = true;
		cr_assert(add(&bench));
		make(bench.n_rows, 1, word, 0, 0, 0)->domain = 2;
		cr_assert(add(&bench));
		make(bench.n_rows, 1, word, 0, 0, 0)->domain = 0;
		cr_assert(add(&bench));
		cr_assert_eq(plain.n_shapes, 9);
		check(&bench);
		/* An empty batch is one, too. */
		check(&bench);
		end(&bench);
	}
}

Test(columns, offsets_beyond_4_gb)
{
	struct bench bench = begin(8);

	make(0, 1, 8, 2, 2, 1);
	rows[0].offsets[1] = (uintptr_t)1 << 40;
	cr_assert(add(&bench));
	cr_assert_eq(hs_batch_finish(bench.encoder, out), hs_batch_bytes(bench.encoder));
	check_decoded(bench.decoder, out, hs_batch_bytes(bench.encoder), 1, HS_WANT_REFERENCES, 8);
	end(&bench);
}

Test(columns, shapes_of_a_type_are_limited)
{
	struct bench bench = begin(8);

	/* 40 patterns, each twice in turn, then the first again. */
	for (unsigned i = 0; i < 81; i++) {
		make(bench.n_rows, 1, 8, 1, 2 + i % 40, 1);
		cr_assert(add(&bench));
	}
	cr_assert_eq(plain.n_shapes, HS_TYPE_SHAPES_MAX + 1);
	cr_assert_eq(plain.n_count, 2 * 8);
	check(&bench);
	end(&bench);
}

Test(columns, a_batch_is_full)
{
	struct bench bench = begin(8);
	size_t size;

	/* Rows. */
	while (make(bench.n_rows, 1, 8, 1, 2, 1), add(&bench))
		;
	cr_assert_eq(bench.n_rows, HS_BATCH_ROWS_MAX);
	check(&bench);
	/* Shapes. */
	while (make(bench.n_rows, 1 + bench.n_rows % 100, 8, 1, 2 + bench.n_rows / 100, 1),
	       add(&bench))
		;
	cr_assert_eq(bench.n_rows, HS_BATCH_SHAPES_MAX);
	check(&bench);
	/* Slots: 546 shapes of 30. */
	while (make(bench.n_rows, 1 + bench.n_rows % 100, 8, 30, 2 + bench.n_rows / 100, 1),
	       add(&bench))
		;
	cr_assert_eq(bench.n_rows, HS_BATCH_SLOTS_MAX / 30);
	check(&bench);
	/* Bytes. */
	case_seed(4);
	while (make(bench.n_rows, 1, 8, HS_ROW_REFS_MAX, 4, 3), true) {
		rows[bench.n_rows].row.size_varies = rows[bench.n_rows].row.is_array = true;
		for (unsigned i = 0; i < HS_ROW_REFS_MAX; i++)
			rows[bench.n_rows].refs[i] = (void *)(uintptr_t)(case_random() & ~7ul);
		if (!add(&bench))
			break;
	}
	size = check(&bench);
	cr_assert_gt(size, HS_RECORD_MAX - 5000);
	/* In the next batch there is room. */
	cr_assert(add(&bench));
	check(&bench);
	end(&bench);
}
