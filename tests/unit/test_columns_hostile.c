/* SPDX-License-Identifier: MIT */
/*
 * Decoders against damaged batches: every cut, every value of every byte, and
 * rules broken on purpose.  Messages lie in memory of their very size, so that
 * a sanitizer sees each byte read behind them.
 */
#include <criterion/criterion.h>

#include "schema/heapshot.pb-c.h"
#include "schema/wire.h"
#include "tests/unit/columns_case.h"
#include "tests/unit/leak_check.h"

TestSuite(hostile, .fini = leak_check);

static struct hs_shape_hint hints[CASE_HINTS];
static struct case_row made;

/* A batch with a row of each sort, of some 400 bytes. */
static size_t make_batch(uint8_t *out, unsigned word)
{
	struct hs_batch_encoder *encoder = case_encoder(word);
	struct case_heap heap = {word, 20, 6, 10, 2, 0x7f1230000};
	size_t size;

	memset(hints, 0, sizeof(hints));
	case_seed(8);
	hs_batch_begin(encoder, 300, 1);
	while (hs_batch_bytes(encoder) < 300 || hs_batch_rows(encoder) < 30) {
		do
			case_make_row(&heap, &made);
		while (made.row.n_refs > 12);
		if (hs_batch_rows(encoder) % 8 == 5 && !made.row.is_continuation)
			made.row.slot_size += 4 * word;
		hs_batch_add(encoder, &made.row, case_hint(hints, &made.row));
	}
	size = hs_batch_finish(encoder, out);
	free(encoder);
	return size;
}

/* Where the slack column begins, the last field: without it a batch is sound, too. */
static size_t slack_at(const uint8_t *batch, size_t size)
{
	struct hs_slice in = {batch, batch + size};
	struct hs_field field;
	const uint8_t *at = batch;

	while (hs_field_next(&in, &field) > 0 && field.number != 11)
		at = in.data;
	cr_assert_eq(in.data, batch + size);
	cr_assert_eq(field.number, 11);
	return (size_t)(at - batch);
}

struct sum {
	uint64_t rows, refs, sizes, addresses;
};

/* Reads all rows; 0 when the batch is sound, with their sums. */
static int read_batch(struct hs_batch_decoder *decoder, const uint8_t *data, size_t size,
		      enum hs_batch_want want, struct sum *sum)
{
	struct hs_decoded_row row;
	const char *error = NULL;
	uint64_t touched = 0;
	int got;

	*sum = (struct sum){0};
	if (hs_batch_decode(decoder, data, size, want, &error)) {
		cr_assert_not_null(error);
		cr_assert_eq(hs_batch_next(decoder, &row, &error) > 0, false);
		return -1;
	}
	while ((got = hs_batch_next(decoder, &row, &error)) > 0) {
		cr_assert_leq(row.n_refs, HS_ROW_REFS_MAX);
		sum->rows++;
		sum->refs += row.n_refs;
		sum->sizes += row.size + row.slot_size;
		sum->addresses += row.address;
		for (uint64_t i = 0; row.refs && i < row.n_refs; i++)
			touched += row.refs[i] ^ row.offsets[i];
	}
	cr_assert_leq(sum->rows, HS_BATCH_ROWS_MAX);
	if (got < 0)
		cr_assert_not_null(error);
	return got < 0 ? -1 : 0 * (int)touched;
}

/* Both modes agree, and what we accept the generated code does too. */
static bool check_agreement(struct hs_batch_decoder *decoder, const uint8_t *data, size_t size)
{
	struct sum whole, rows;
	int is_whole = read_batch(decoder, data, size, HS_WANT_REFERENCES, &whole);
	int is_rows = read_batch(decoder, data, size, HS_WANT_ROWS, &rows);

	if (is_whole == 0) {
		Heapshot__ObjectBatch *batch = heapshot__object_batch__unpack(NULL, size, data);

		cr_assert_eq(is_rows, 0);
		cr_assert_eq(memcmp(&whole, &rows, sizeof(whole)), 0);
		cr_assert_not_null(batch);
		cr_assert_eq(batch->rows, whole.rows);
		cr_assert_eq(batch->n_reference, whole.refs);
		heapshot__object_batch__free_unpacked(batch, NULL);
	}
	return is_whole == 0;
}

Test(hostile, every_cut_of_a_batch)
{
	static uint8_t batch[HS_RECORD_MAX];

	for (unsigned word = 4; word <= 8; word += 4) {
		struct hs_batch_decoder *decoder = case_decoder(word);
		size_t size = make_batch(batch, word);

		cr_assert(check_agreement(decoder, batch, size));
		for (size_t cut = 0; cut < size; cut++) {
			uint8_t *part = malloc(cut + !cut);

			memcpy(part, batch, cut);
			/* An empty message is an empty batch. */
			cr_assert_eq(check_agreement(decoder, part, cut),
				     cut == 0 || cut == slack_at(batch, size), "%zu", cut);
			free(part);
		}
		free(decoder);
	}
}

Test(hostile, every_byte_of_a_batch, .timeout = 60)
{
	static uint8_t batch[HS_RECORD_MAX];
	struct hs_batch_decoder *decoder = case_decoder(8);
	size_t size = make_batch(batch, 8), n_accepted = 0;
	uint8_t *copy = malloc(size);

	memcpy(copy, batch, size);
	for (size_t at = 0; at < size; at++) {
		for (unsigned change = 1; change < 256; change++) {
			copy[at] = (uint8_t)(batch[at] ^ change);
			n_accepted += check_agreement(decoder, copy, size);
		}
		copy[at] = batch[at];
	}
	/* Other numbers are not seen here, other structures are. */
	cr_assert_gt(n_accepted, 0);
	cr_assert_lt(n_accepted, size * 200);
	free(copy);
	free(decoder);
}

/* Random bytes changed in a large batch, and several at once. */
Test(hostile, random_damage, .timeout = 60)
{
	static uint8_t batch[HS_RECORD_MAX];
	struct hs_batch_encoder *encoder = case_encoder(8);
	struct hs_batch_decoder *decoder = case_decoder(8);
	struct case_heap heap = {8, 20, 20, 20, 2, 0x7f1230000};
	size_t size;
	uint8_t *copy;

	case_seed(9);
	hs_batch_begin(encoder, 1, 1);
	do
		case_make_row(&heap, &made);
	while (hs_batch_add(encoder, &made.row, case_hint(hints, &made.row)));
	size = hs_batch_finish(encoder, batch);
	copy = malloc(size);
	for (unsigned round = 0; round < 300; round++) {
		memcpy(copy, batch, size);
		for (unsigned n = 1 + case_draw(8); n; n--)
			copy[case_draw(round % 2 ? 2000 : (unsigned)size)] = (uint8_t)case_random();
		check_agreement(decoder, copy, size);
	}
	free(copy);
	free(decoder);
	free(encoder);
}

/* ---- rules broken on purpose ---- */

static const char *refusal(struct hs_batch_decoder *decoder, const uint8_t *data, size_t size,
			   enum hs_batch_want want)
{
	struct hs_decoded_row row;
	const char *error = NULL;
	int got;

	if (hs_batch_decode(decoder, data, size, want, &error))
		return error;
	while ((got = hs_batch_next(decoder, &row, &error)) > 0)
		;
	return got < 0 ? error : "";
}

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

Test(hostile, broken_rules)
{
	const struct {
		const char *what, *text;
		const uint8_t *data;
		size_t size;
	} cases[] = {
		{"sound", "", BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1)},
		{"unknown field", "", BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1, 0x60, 5)},
		{"flag 8", "later version",
		 BYTES(8, 1, 0x1a, 4, 8, 1, 16, 8, 0x2a, 1, 2, 0x32, 1, 1)},
		{"flags 1 and 4", "continuation",
		 BYTES(8, 1, 0x1a, 4, 8, 1, 16, 5, 0x2a, 1, 2, 0x32, 1, 1)},
		{"flag 2 and slots", "flag 2",
		 BYTES(8, 1, 0x1a, 5, 16, 2, 0x22, 1, 0, 0x2a, 1, 2, 0x32, 1, 1)},
		{"shape 0", "does not exist", BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 0)},
		{"shape 2", "does not exist", BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 2)},
		{"no address", "rows differ", BYTES(8, 1, 0x1a, 2, 8, 1, 0x32, 1, 1)},
		{"no shape index", "rows differ", BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2)},
		{"two rows said", "rows differ",
		 BYTES(8, 2, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1)},
		{"rows not said", "rows differ", BYTES(0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1)},
		{"not packed", "not packed", BYTES(8, 1, 0x1a, 2, 8, 1, 0x28, 2, 0x32, 1, 1)},
		{"two pieces", "several pieces",
		 BYTES(8, 2, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x2a, 1, 2, 0x32, 2, 1, 1)},
		{"size missing", "shorter", BYTES(8, 1, 0x1a, 2, 16, 1, 0x2a, 1, 2, 0x32, 1, 1)},
		{"size too much", "longer or shorter",
		 BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1, 0x3a, 1, 9)},
		{"count missing", "shorter", BYTES(8, 1, 0x1a, 2, 16, 2, 0x2a, 1, 2, 0x32, 1, 1)},
		{"count 129", "more references",
		 BYTES(8, 1, 0x1a, 2, 16, 2, 0x2a, 1, 2, 0x32, 1, 1, 0x42, 2, 0x81, 1)},
		{"count too much", "longer or shorter",
		 BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1, 0x42, 1, 0)},
		{"slot missing", "shorter",
		 BYTES(8, 1, 0x1a, 2, 16, 2, 0x2a, 1, 2, 0x32, 1, 1, 0x42, 1, 1, 0x52, 1, 0)},
		{"reference missing", "shorter",
		 BYTES(8, 1, 0x1a, 3, 0x22, 1, 0, 0x2a, 1, 2, 0x32, 1, 1)},
		{"reference too much", "longer or shorter",
		 BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1, 0x52, 1, 0)},
		{"slack behind", "slack",
		 BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1, 0x5a, 2, 1, 1)},
		{"half of a slack", "slack",
		 BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1, 0x5a, 1, 0)},
		{"slack twice", "malformed",
		 BYTES(8, 1, 0x1a, 2, 8, 1, 0x2a, 1, 2, 0x32, 1, 1, 0x5a, 4, 0, 1, 0, 1)},
		{"4,097 rows", "more rows", BYTES(8, 0x81, 0x20)},
		{"rows as bytes", "range", BYTES(10, 1, 1)},
		{"a group", "malformed", BYTES(8, 0, 0x63)},
		{"field 0", "malformed", BYTES(0, 0)},
	};
	struct hs_batch_decoder *decoder = case_decoder(8);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int want = HS_WANT_ROWS; want <= HS_WANT_REFERENCES; want++) {
			const char *text = refusal(decoder, cases[i].data, cases[i].size,
						   (enum hs_batch_want)want);
			bool is_right =
				cases[i].text[0] ? strstr(text, cases[i].text) != NULL : !text[0];
			/* Without references a missing one shows at the end. */
			if (want == HS_WANT_ROWS && strstr(text, "longer or shorter"))
				is_right = cases[i].text[0];
			cr_assert(is_right, "%s, mode %d: \"%s\"", cases[i].what, want, text);
		}
	}
	cr_assert_eq(hs_batch_decode(decoder, cases[1].data, cases[1].size, HS_WANT_ROWS,
				     &(const char *){NULL}),
		     0);
	cr_assert_eq(hs_batch_decoder_unknown(decoder), 1);
	free(decoder);
}

/* More shapes and slots than a batch may have. */
Test(hostile, limits)
{
	struct hs_batch_decoder *decoder = case_decoder(8);
	static uint8_t data[1u << 20];

	for (unsigned n = HS_BATCH_SHAPES_MAX; n <= HS_BATCH_SHAPES_MAX + 1; n++) {
		for (unsigned i = 0; i < n; i++)
			memcpy(data + 4 * i, "\x1a\x02\x08\x01", 4);
		cr_assert_str_eq(refusal(decoder, data, 4 * n, HS_WANT_ROWS),
				 n <= HS_BATCH_SHAPES_MAX ? ""
							  : "more shapes than a batch may have");
	}
	for (unsigned n = HS_BATCH_SLOTS_MAX / 128; n <= HS_BATCH_SLOTS_MAX / 128 + 1; n++) {
		memset(data, 0, sizeof(data));
		for (unsigned i = 0; i < n; i++)
			memcpy(data + 134 * i, "\x1a\x83\x01\x22\x80\x01", 6);
		cr_assert_str_eq(
			refusal(decoder, data, 134 * n, HS_WANT_REFERENCES),
			n <= HS_BATCH_SLOTS_MAX / 128 ? "" : "more slots than a batch may have");
	}
	memcpy(data, "\x1a\x84\x01\x22\x81\x01", 6);
	cr_assert_str_eq(refusal(decoder, data, 135, HS_WANT_ROWS),
			 "a shape has more slots than a row may have references");
	free(decoder);
}

/* ---- roots and ephemerons ---- */

static void read_roots(const uint8_t *data, size_t size)
{
	struct hs_root_decoder decoder;
	struct hs_slice cursor = {NULL, NULL}, source;
	struct hs_decoded_root root;
	const char *error;
	uint32_t n_sources = 0;

	if (hs_root_decode(&decoder, data, size, 8, &error))
		return;
	while (hs_root_next_source(&decoder, &cursor, &source) > 0) {
		cr_assert(source.data >= data && source.end <= data + size);
		n_sources++;
	}
	cr_assert_eq(n_sources, decoder.n_sources);
	while (hs_root_next(&decoder, &root, &error) > 0)
		cr_assert(root.source >= 1 && root.source <= n_sources);
}

static void read_ephemerons(const uint8_t *data, size_t size)
{
	struct hs_ephemeron_decoder decoder;
	struct hs_decoded_ephemeron edge;
	const char *error;
	size_t n = 0;

	if (hs_ephemeron_decode(&decoder, data, size, 8, &error))
		return;
	while (hs_ephemeron_next(&decoder, &edge, &error) > 0)
		n++;
	cr_assert_leq(n, size);
}

static void damage(const uint8_t *message, size_t size, void (*read)(const uint8_t *, size_t))
{
	uint8_t *copy = malloc(size);

	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *part = malloc(cut + !cut);

		memcpy(part, message, cut);
		read(part, cut);
		free(part);
	}
	memcpy(copy, message, size);
	for (size_t at = 0; at < size; at++) {
		for (unsigned change = 0; change < 256; change++) {
			copy[at] = (uint8_t)(message[at] ^ change);
			read(copy, size);
		}
		copy[at] = message[at];
	}
	free(copy);
}

Test(hostile, roots_and_ephemerons, .timeout = 60)
{
	static uint8_t memory[4000], out[4000];
	struct hs_root_encoder roots;
	struct hs_ephemeron_encoder ephemerons;

	hs_root_encoder_init(&roots, memory, sizeof(memory), 8);
	hs_root_begin(&roots, 1);
	for (uint32_t i = 0; i < 20; i++) {
		if (i % 5 == 0)
			hs_root_add_source(&roots, (const uint8_t *)"\x08\x04\x1a\x04T.Pu", 8);
		hs_root_add(&roots, 1 + i / 5, 0x7f0000000000u + 8 * i, 0x7f0000100000u - 800 * i);
	}
	damage(out, hs_root_finish(&roots, out), read_roots);

	hs_ephemeron_encoder_init(&ephemerons, memory, sizeof(memory), 8);
	hs_ephemeron_begin(&ephemerons, 1);
	for (uint32_t i = 0; i < 20; i++)
		hs_ephemeron_add(&ephemerons, 0x7f0000000000u, 0x7f0000000000u + 8 * i, 16 * i);
	damage(out, hs_ephemeron_finish(&ephemerons, out), read_ephemerons);
}
