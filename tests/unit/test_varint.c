/* SPDX-License-Identifier: MIT */
/*
 * Varints and zigzag: against a plain loop, at every length and every cut.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "schema/varint.h"
#include "tests/unit/leak_check.h"

TestSuite(varint, .fini = leak_check);

/* The encoding as the protobuf documentation tells it. */
static size_t plain_put(uint8_t *out, uint64_t value)
{
	size_t n = 0;

	do {
		out[n] = value & 0x7f;
		value >>= 7;
		if (value)
			out[n] |= 0x80;
		n++;
	} while (value);
	return n;
}

static void check_value(uint64_t value)
{
	uint8_t plain[HS_VARINT_MAX], out[HS_VARINT_MAX + 8], wild[HS_VARINT_MAX + 8],
		small[HS_VARINT_MAX + 8];
	size_t size = plain_put(plain, value);
	uint64_t got = ~value;

	cr_assert_eq((size_t)(hs_varint_put(out, value) - out), size);
	cr_assert_arr_eq(out, plain, size);
	cr_assert_eq((size_t)(hs_varint_put_wild(wild, value) - wild), size);
	cr_assert_arr_eq(wild, plain, size);
	cr_assert_eq((size_t)(hs_varint_put_short(small, value) - small), size);
	cr_assert_arr_eq(small, plain, size);
	cr_assert_eq(hs_varint_size(value), size);
	for (size_t cut = 0; cut < size; cut++) {
		/* A copy of that very size, so that a sanitizer sees what is read. */
		uint8_t *part = malloc(cut + !cut);

		memcpy(part, plain, cut);
		cr_assert_null(hs_varint_get(part, part + cut, &got));
		cr_assert_null(hs_varint_get_wild(part, part + cut, &got));
		free(part);
	}
	for (size_t more = 0; more < 9; more++) {
		uint8_t *whole = malloc(size + more);

		memcpy(whole, plain, size);
		memset(whole + size, 0xff, more);
		got = ~value;
		cr_assert_eq(hs_varint_get(whole, whole + size + more, &got), whole + size);
		cr_assert_eq(got, value);
		got = ~value;
		cr_assert_eq(hs_varint_get_wild(whole, whole + size + more, &got), whole + size);
		cr_assert_eq(got, value);
		free(whole);
	}
}

Test(varint, every_length)
{
	for (unsigned bit = 0; bit < 64; bit++)
		for (int around = -2; around <= 2; around++)
			check_value(((uint64_t)1 << bit) + (uint64_t)(int64_t)around);
	for (uint64_t value = 0; value < 70000; value += 37)
		check_value(value);
	check_value(UINT64_MAX);
}

Test(varint, too_long_or_too_large)
{
	static const uint8_t eleven[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					 0x80, 0x80, 0x80, 0x80, 0x00};
	static const uint8_t large[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	static const uint8_t padded[] = {0x85, 0x80, 0x80, 0x00};
	uint64_t value;

	cr_assert_null(hs_varint_get(eleven, eleven + sizeof(eleven), &value));
	cr_assert_null(hs_varint_get_wild(eleven, eleven + sizeof(eleven), &value));
	cr_assert_null(hs_varint_get(large, large + sizeof(large), &value));
	cr_assert_null(hs_varint_get_wild(large, large + sizeof(large), &value));
	/* Padding is legal in protobuf. */
	cr_assert_eq(hs_varint_get(padded, padded + 4, &value), padded + 4);
	cr_assert_eq(value, 5);
}

Test(varint, zigzag)
{
	static const int64_t values[] = {0,         -1,        1,         -2,       2,
					 INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
	static const uint64_t zigzags[] = {
		0, 1, 2, 3, 4, 4294967294u, 4294967295u, UINT64_MAX - 1, UINT64_MAX};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		cr_assert_eq(hs_zigzag(values[i]), zigzags[i]);
		cr_assert_eq(hs_unzigzag(zigzags[i]), values[i]);
	}
}
