/* SPDX-License-Identifier: MIT */
/*
 * Tags: the byte table of FORMAT.md, every damaged bit, longer tags of a later
 * version; and CRC-32 against the bitwise definition.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "schema/tag.h"
#include "tests/unit/leak_check.h"

TestSuite(tag, .fini = leak_check);

static const struct hs_tag sample = {
	.version = 1,
	.kind = HS_FRAME_SNAPSHOT_BODY,
	.flags = 0x0201,
	.stream = 0x14131211,
	.snapshot = 0x24232221,
	.seq = 0x3837363534333231,
	.time_ns = 0x4847464544434241,
	.compressed_bytes = 0x00035251,
	.raw_bytes = 0x00036261,
};

static const uint8_t sample_bytes[52] = {
	0x5b, 0x2a, 0x4d, 0x18, 48,   0,    0,    0,    'H',  'S',  'T',  'G',  1,
	4,    0x01, 0x02, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32,
	0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47,
	0x48, 0x51, 0x52, 0x03, 0,    0x61, 0x62, 0x03, 0,    0,    0,    0,    0,
};

static uint32_t bitwise_crc(const uint8_t *data, size_t size)
{
	uint32_t crc = ~0u;

	while (size--) {
		crc ^= *data++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static void store_crc(uint8_t *tag)
{
	uint32_t crc = bitwise_crc(tag + 8, 44);

	for (int i = 0; i < 4; i++)
		tag[52 + i] = (uint8_t)(crc >> 8 * i);
}

Test(tag, crc)
{
	static uint8_t data[4096];

	cr_assert_eq(hs_crc32((const uint8_t *)"123456789", 9), 0xcbf43926u);
	cr_assert_eq(hs_crc32(data, 0), 0);
	cr_assert_eq(
		hs_crc32_more(hs_crc32((const uint8_t *)"1234", 4), (const uint8_t *)"56789", 5),
		0xcbf43926u);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 167 + i / 256 * 31);
	for (size_t size = 0; size < 100; size++)
		for (size_t from = 0; from < 9; from++)
			cr_assert_eq(hs_crc32(data + from, size), bitwise_crc(data + from, size));
	cr_assert_eq(hs_crc32(data, sizeof(data)), bitwise_crc(data, sizeof(data)));
}

Test(tag, bytes)
{
	uint8_t out[HS_TAG_BYTES], expected[HS_TAG_BYTES];
	struct hs_tag got;

	memcpy(expected, sample_bytes, sizeof(sample_bytes));
	store_crc(expected);
	hs_tag_encode(&sample, out);
	cr_assert_arr_eq(out, expected, sizeof(expected));
	cr_assert_eq(hs_tag_decode(out, sizeof(out), &got), HS_TAG_BYTES);
	cr_assert_eq(got.version, sample.version);
	cr_assert_eq(got.kind, sample.kind);
	cr_assert_eq(got.flags, sample.flags);
	cr_assert_eq(got.stream, sample.stream);
	cr_assert_eq(got.snapshot, sample.snapshot);
	cr_assert_eq(got.seq, sample.seq);
	cr_assert_eq(got.time_ns, sample.time_ns);
	cr_assert_eq(got.compressed_bytes, sample.compressed_bytes);
	cr_assert_eq(got.raw_bytes, sample.raw_bytes);
	/* Too few bytes to tell. */
	for (size_t size = 0; size < sizeof(out); size++)
		cr_assert_eq(hs_tag_decode(out, size, &got), 0, "%zu bytes", size);
}

Test(tag, each_flipped_bit_is_refused)
{
	uint8_t out[HS_TAG_BYTES];
	struct hs_tag got;

	hs_tag_encode(&sample, out);
	for (size_t bit = 0; bit < 8 * sizeof(out); bit++) {
		out[bit / 8] ^= (uint8_t)(1 << bit % 8);
		cr_assert_eq(hs_tag_decode(out, sizeof(out), &got), -1, "bit %zu", bit);
		out[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

Test(tag, later_versions_may_be_longer)
{
	static uint8_t out[8 + HS_TAG_PAYLOAD_MAX + 1];
	struct hs_tag later = sample, got;
	static const struct {
		uint8_t version;
		uint32_t payload;
		int result;
	} cases[] = {
		{2, 48, 56},   {2, 49, 57}, {2, 64, 72}, {9, 4096, 4104}, {1, 49, -1},
		{2, 4097, -1}, {2, 47, -1}, {2, 0, -1},  {0, 48, -1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		later.version = cases[i].version;
		hs_tag_encode(&later, out);
		out[4] = (uint8_t)cases[i].payload;
		out[5] = (uint8_t)(cases[i].payload >> 8);
		cr_assert_eq(hs_tag_decode(out, sizeof(out), &got), cases[i].result, "case %zu", i);
		if (cases[i].result > 0) {
			cr_assert_eq(got.version, cases[i].version);
			cr_assert_eq(got.seq, sample.seq);
			cr_assert_eq(hs_tag_decode(out, (size_t)cases[i].result - 1, &got), 0);
		}
	}
}

Test(tag, impossible_lengths_are_refused)
{
	uint8_t out[HS_TAG_BYTES];
	struct hs_tag tag = sample, got;

	tag.raw_bytes = HS_FRAME_RAW_MAX;
	hs_tag_encode(&tag, out);
	cr_assert_eq(hs_tag_decode(out, sizeof(out), &got), HS_TAG_BYTES);
	tag.raw_bytes++;
	hs_tag_encode(&tag, out);
	cr_assert_eq(hs_tag_decode(out, sizeof(out), &got), -1);
	tag = sample;
	tag.compressed_bytes = UINT32_MAX;
	hs_tag_encode(&tag, out);
	cr_assert_eq(hs_tag_decode(out, sizeof(out), &got), -1);
	/* The reserved word is the next version's: readers pass over it. */
	hs_tag_encode(&sample, out);
	out[8 + 40] = 7;
	store_crc(out);
	cr_assert_eq(hs_tag_decode(out, sizeof(out), &got), HS_TAG_BYTES);
}

/* Only flags, size and checksum differ, and what a later version has behind stays. */
Test(tag, change)
{
	uint8_t in[HS_TAG_BYTES + 4], changed[HS_TAG_BYTES + 4];
	struct hs_tag tag = sample, back;
	size_t i;

	memset(in, 0x5a, sizeof(in));
	tag.version = 2;
	hs_tag_encode(&tag, in);
	in[4] = HS_TAG_PAYLOAD_BYTES + 4;
	memcpy(changed, in, sizeof(in));
	hs_tag_change(changed, 0x0402, 0x00012345);
	cr_assert_eq(hs_tag_decode(changed, sizeof(changed), &back), (int)sizeof(changed));
	cr_assert_eq(back.flags, 0x0402);
	cr_assert_eq(back.compressed_bytes, 0x00012345);
	for (i = 0; i < sizeof(in); i++)
		if (!(i == 14 || i == 15 || (i >= 40 && i < 44) || (i >= 52 && i < 56)))
			cr_assert_eq(in[i], changed[i], "byte %zu", i);
}
