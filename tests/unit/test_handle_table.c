/* SPDX-License-Identifier: MIT */
/*
 * Handle tables: held against the generated code, against what went in, and
 * against bytes that no writer writes.
 */
#include <criterion/criterion.h>

#include "schema/handle_table.h"
#include "schema/heapshot.pb-c.h"
#include "tests/unit/columns_case.h"
#include "tests/unit/leak_check.h"

TestSuite(handle_table, .fini = leak_check);

#define ROWS 600u

static const struct hs_chars texts[] = {{"object", 6}, {"", 0}, {"Customer", 8}};
static struct hs_handle_row rows[ROWS];
static uint8_t out[HS_RECORD_MAX], again[HS_RECORD_MAX];

static struct hs_handle_part make_part(unsigned n, unsigned word)
{
	for (unsigned i = 0; i < n; i++) {
		const uint64_t object = case_chance(20) ? 0 : case_random();

		rows[i] = (struct hs_handle_row){
			.handle = case_chance(50) ? (int64_t)case_random() : (int64_t)(2 * i),
			.js_type = (uint32_t)case_draw(4),
			.js_name = (uint32_t)case_draw(4),
			.object = (word == 4 ? object & 0xffffffffu : object) / word * word,
		};
	}
	return (struct hs_handle_part){
		.snapshot = 3,
		.escaped = n % 3,
		.released = n,
		.collected = UINT64_MAX,
		.name = {"js_proxy", 8},
		.note = {"note", n % 2 ? 4 : 0},
		.texts = texts,
		.n_texts = 3,
		.rows = rows,
		.n_rows = n,
		.word_bytes = word,
	};
}

static size_t encode(const struct hs_handle_part *part)
{
	const size_t size = hs_handle_part_bytes(part);

	cr_assert_leq(size, sizeof(out));
	cr_assert_eq(hs_handle_part_encode(out, part) - out, (ptrdiff_t)size);
	return size;
}

static void check_generated(const struct hs_handle_part *part, size_t size)
{
	Heapshot__HandleTable *table = heapshot__handle_table__unpack(NULL, size, out);

	cr_assert_not_null(table);
	cr_assert_str_eq(table->name, "js_proxy");
	cr_assert_eq(table->released, part->released);
	cr_assert_eq(table->n_text, 3);
	cr_assert_str_eq(table->text[2], "Customer");
	cr_assert_eq(table->n_handle, part->n_rows);
	cr_assert_eq(table->n_object, part->n_rows);
	cr_assert_eq(table->n_js_type, part->n_rows);
	cr_assert_eq(table->n_js_name, part->n_rows);
	cr_assert_eq(heapshot__handle_table__pack(table, again), size);
	cr_assert_eq(memcmp(again, out, size), 0);
	heapshot__handle_table__free_unpacked(table, NULL);
}

Test(handle_table, comes_back_as_it_went_in)
{
	struct hs_handle_decoder decoder;
	struct hs_handle_row row;
	const char *error = "";

	case_seed(11);
	for (unsigned round = 0; round < 60; round++) {
		const unsigned word = round % 2 ? 8 : 4,
			       n = round < 3 ? round : (unsigned)case_draw(ROWS);
		const struct hs_handle_part part = make_part(n, word);
		const size_t size = encode(&part);
		struct hs_slice cursor = {NULL, NULL}, text;
		unsigned n_texts = 0;

		check_generated(&part, size);
		cr_assert_eq(hs_handle_decode(&decoder, out, size, word, &error), 0, "%s", error);
		cr_assert_eq(decoder.snapshot, 3);
		cr_assert_eq(decoder.collected, UINT64_MAX);
		cr_assert_eq(decoder.escaped, part.escaped);
		cr_assert_eq(decoder.note.end - decoder.note.data, (ptrdiff_t)part.note.bytes);
		cr_assert_eq(decoder.n_rows, n);
		while (hs_handle_next_text(&decoder, &cursor, &text) > 0) {
			cr_assert_eq(text.end - text.data, (ptrdiff_t)texts[n_texts].bytes);
			n_texts++;
		}
		cr_assert_eq(n_texts, 3);
		for (unsigned i = 0; i < n; i++) {
			cr_assert_eq(hs_handle_next(&decoder, &row, &error), 1, "%s", error);
			cr_assert_eq(memcmp(&row, &rows[i], sizeof(row)), 0);
		}
		cr_assert_eq(hs_handle_next(&decoder, &row, &error), 0);
	}
}

/* 0: decoded to its end; -1: refused. */
static int read_all(const uint8_t *data, size_t size)
{
	struct hs_handle_decoder decoder;
	struct hs_handle_row row;
	const char *error = NULL;
	int n;

	if (hs_handle_decode(&decoder, data, size, 8, &error) != 0) {
		cr_assert_not_null(error);
		return -1;
	}
	while ((n = hs_handle_next(&decoder, &row, &error)) > 0)
		;
	cr_assert(n == 0 || error != NULL);
	return n;
}

#define REFUSED(...)                                                                               \
	do {                                                                                       \
		static const uint8_t bytes[] = {__VA_ARGS__};                                      \
		cr_assert_eq(read_all(bytes, sizeof(bytes)), -1, #__VA_ARGS__);                    \
	} while (0)

Test(handle_table, refuses_what_breaks_the_rules)
{
	/* One text, and a row that uses it. */
	static const uint8_t good[] = {0x3a, 1,    'a', 0x42, 1,    2, 0x4a, 1,
				       1,    0x52, 1,   0,    0x5a, 1, 0};

	cr_assert_eq(read_all(good, sizeof(good)), 0);
	REFUSED(0x3a, 1, 'a', 0x42, 1, 2, 0x4a, 1, 2, 0x52, 1, 0, 0x5a, 1,
		0); /* type beyond the texts */
	REFUSED(0x3a, 1, 'a', 0x42, 1, 2, 0x4a, 1, 1, 0x52, 1, 2, 0x5a, 1,
		0);                                                 /* name beyond them */
	REFUSED(0x42, 1, 2, 0x4a, 1, 0, 0x52, 1, 0);                /* a column is missing */
	REFUSED(0x42, 2, 2, 2, 0x4a, 1, 0, 0x52, 1, 0, 0x5a, 1, 0); /* one is longer */
	REFUSED(0x40, 2, 0x4a, 1, 0, 0x52, 1, 0, 0x5a, 1, 0);       /* not packed */
	REFUSED(0x42, 1, 2, 0x42, 1, 2, 0x4a, 1, 0, 0x52, 1, 0, 0x5a, 1, 0); /* in two pieces */
	REFUSED(0x12, 9, 'a');                                               /* cut */
	REFUSED(0x1a, 1, 'a');                                      /* a count that is a text */
	REFUSED(0x38, 1);                                           /* a text that is a number */
	REFUSED(0x42, 1, 0x80, 0x4a, 1, 0, 0x52, 1, 0, 0x5a, 1, 0); /* a number is cut */
}

/* Every change of a byte is refused or read, and never read beyond the end. */
Test(handle_table, bears_any_bytes)
{
	struct hs_handle_part part;
	uint8_t *exact;
	size_t size;

	case_seed(12);
	part = make_part(20, 8);
	size = encode(&part);
	exact = malloc(size);
	cr_assert_not_null(exact);
	for (size_t at = 0; at < size; at++) {
		memcpy(exact, out, size);
		exact[at] = (uint8_t)case_random();
		read_all(exact, size);
		memmove(exact + (size - at), out, at);
		read_all(exact + (size - at), at);
	}
	free(exact);
}
