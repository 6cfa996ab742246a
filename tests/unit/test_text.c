/* SPDX-License-Identifier: MIT */
/*
 * Texts for the file: what is valid UTF-8, and the cut in the middle, against
 * FORMAT.md's rules W12 and W13 written down a second time.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/text.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/random.h"

TestSuite(text, .fini = leak_check);

#define BAD "\xef\xbf\xbd"

Test(text, validity)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{NULL, ""},
		{"", ""},
		{"a\x01\x7f", "a\x01\x7f"},
		{"\xc3\xa4\xdf\xbf\xc2\x80", "\xc3\xa4\xdf\xbf\xc2\x80"},
		{"\xe0\xa0\x80\xef\xbf\xbf", "\xe0\xa0\x80\xef\xbf\xbf"},
		{"\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"},
		{"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
		/* Continuations alone, and leads that are none. */
		{"\x80", BAD},
		{"a\xbf"
		 "b",
		 "a" BAD "b"},
		{"\xc0\x80", BAD BAD},
		{"\xc1\xbf", BAD BAD},
		{"\xf5\x80\x80\x80", BAD BAD BAD BAD},
		{"\xfe\xff", BAD BAD},
		/* Overlong. */
		{"\xe0\x80\x80", BAD BAD BAD},
		{"\xe0\x9f\xbf", BAD BAD BAD},
		{"\xf0\x80\x80\x80", BAD BAD BAD BAD},
		{"\xf0\x8f\xbf\xbf", BAD BAD BAD BAD},
		/* Surrogates, and above U+10FFFF. */
		{"\xed\xa0\x80", BAD BAD BAD},
		{"\xed\xbf\xbf", BAD BAD BAD},
		{"\xf4\x90\x80\x80", BAD BAD BAD BAD},
		/* Cut short: by the end, and by another character. */
		{"\xc3", BAD},
		{"\xe6\x97", BAD BAD},
		{"\xf0\x9f\x92", BAD BAD BAD},
		{"\xe6\x97"
		 "a",
		 BAD BAD "a"},
		{"\xe6\x97\xe6\x97\xa5", BAD BAD "\xe6\x97\xa5"},
		{"\xf0\x9f\x92\xc3\xa4", BAD BAD BAD "\xc3\xa4"},
		{"\xc3\xa4\xa4z", "\xc3\xa4" BAD "z"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hs_text text = hs_text_of(cases[i].text, 64);
		cr_assert_str_eq(text.text, cases[i].expected, "case %zu", i);
		cr_assert_eq(text.bytes, strlen(text.text));
		cr_assert(text.whole_bytes == 0 && text.whole_hash == 0);
		hs_text_free(&text);
	}
}

static uint64_t fnv1a(const char *text, size_t bytes)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < bytes; i++) {
		hash ^= (unsigned char)text[i];
		hash *= UINT64_C(1099511628211);
	}
	return hash;
}

/* Length of the character that begins at TEXT, which is valid. */
static size_t length_of(const char *text)
{
	const unsigned char lead = (unsigned char)*text;

	return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* W13, with the characters counted one by one. */
static size_t expected_cut(const char *whole, size_t bytes, size_t max, char *out)
{
	const size_t first_room = (max - 3) / 2, last_room = (max - 3) - first_room;
	size_t first = 0, last = 0;

	while (first + length_of(whole + first) <= first_room)
		first += length_of(whole + first);
	while (bytes - last > last_room)
		last += length_of(whole + last);
	memcpy(out, whole, first);
	memcpy(out + first, "\xe2\x80\xa6", 3);
	memcpy(out + first + 3, whole + last, bytes - last + 1);
	return first + 3 + bytes - last;
}

Test(text, hash_has_the_published_value)
{
	cr_assert_eq(fnv1a("", 0), UINT64_C(0xcbf29ce484222325));
	cr_assert_eq(fnv1a("foobar", 6), UINT64_C(0x85944171f73967e8));
}

Test(text, cut_in_the_middle)
{
	static const char *const characters[] = {
		"a", "Z", ".", "\xc3\xa4", "\xe6\x97\xa5", "\xf0\x9f\x92\xa9"};
	static char whole[4096], expected[4096];

	random_start("text");
	for (int round = 0; round < 20000; round++) {
		const size_t max = 3 + random_below(200), n = random_below(300);
		const size_t kinds = 1 + random_below(6);
		size_t bytes = 0, expected_bytes;
		struct hs_text text, again;
		for (size_t i = 0; i < n; i++) {
			const char *character = characters[random_below(kinds)];
			strcpy(whole + bytes, character);
			bytes += strlen(character);
		}
		whole[bytes] = 0;
		text = hs_text_of(whole, max);
		if (bytes <= max) {
			cr_assert_str_eq(text.text, whole);
			cr_assert(text.bytes == bytes && text.whole_bytes == 0);
			hs_text_free(&text);
			continue;
		}
		expected_bytes = expected_cut(whole, bytes, max, expected);
		cr_assert_str_eq(text.text, expected, "%zu bytes, at most %zu: %s", bytes, max,
				 text.text);
		cr_assert_eq(text.bytes, expected_bytes);
		cr_assert_leq(text.bytes, max);
		cr_assert_eq(text.whole_bytes, bytes);
		cr_assert_eq(text.whole_hash, fnv1a(whole, bytes));
		/* Still valid: another pass finds nothing to replace. */
		again = hs_text_of(text.text, max);
		cr_assert_str_eq(again.text, text.text);
		hs_text_free(&again);
		hs_text_free(&text);
	}
}

/* Length and hash are those of the whole valid text, after bad bytes were replaced. */
Test(text, bad_bytes_are_replaced_before_the_cut)
{
	static char whole[3 * 200 + 1], raw[201];
	struct hs_text text;

	memset(raw, '\xff', 200);
	for (size_t i = 0; i < 200; i++)
		memcpy(whole + 3 * i, BAD, 3);
	text = hs_text_of(raw, 100);
	cr_assert_eq(text.whole_bytes, 600);
	cr_assert_eq(text.whole_hash, fnv1a(whole, 600));
	cr_assert_leq(text.bytes, 100);
	cr_assert_eq(strncmp(text.text, BAD, 3), 0);
	cr_assert_str_eq(text.text + text.bytes - 3, BAD);
	hs_text_free(&text);
	text = hs_text_of(raw, 600);
	cr_assert_str_eq(text.text, whole);
	hs_text_free(&text);
}

Test(text, the_longest_of_the_format)
{
	static char whole[1 << 18];
	struct hs_text text;

	memset(whole, 'n', 65536);
	text = hs_text_of(whole, 65536);
	cr_assert(text.bytes == 65536 && text.whole_bytes == 0);
	hs_text_free(&text);
	memset(whole, 'n', sizeof whole - 1);
	text = hs_text_of(whole, 65536);
	cr_assert_eq(text.bytes, 65536);
	cr_assert_eq(text.whole_bytes, sizeof whole - 1);
	cr_assert_eq(memcmp(text.text + (65536 - 3) / 2, "\xe2\x80\xa6n", 4), 0);
	hs_text_free(&text);
}
