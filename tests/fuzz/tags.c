/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the decoder of tags: what it accepts it encodes to the same bytes, and
 * what fields it is given come back.
 */
#include "schema/tag.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/repair.h"

static bool is_same(const struct hs_tag *a, const struct hs_tag *b)
{
	return a->version == b->version && a->kind == b->kind && a->flags == b->flags &&
	       a->stream == b->stream && a->snapshot == b->snapshot && a->seq == b->seq &&
	       a->time_ns == b->time_ns && a->compressed_bytes == b->compressed_bytes &&
	       a->raw_bytes == b->raw_bytes;
}

static void decode(const uint8_t *data, size_t size)
{
	uint8_t *copy = fuzz_copy(data, size), again[HS_TAG_BYTES];
	struct hs_tag tag, other;
	const int length = hs_tag_decode(copy, size, &tag);

	FUZZ_CHECK(length >= -1 && length <= 8 + HS_TAG_PAYLOAD_MAX);
	if (length > 0) {
		FUZZ_CHECK((size_t)length >= HS_TAG_BYTES && (size_t)length <= size);
		FUZZ_CHECK(tag.version > 1 || length == HS_TAG_BYTES);
		hs_tag_encode(&tag, again);
		/* What version 1 reserves is not kept, and what a later one adds neither. */
		memset(copy + 8 + 40, 0, 4);
		if (tag.version == 1)
			FUZZ_CHECK(memcmp(copy, again, HS_TAG_BYTES - 4) == 0);
		else {
			tag.version = 1;
			hs_tag_encode(&tag, again);
		}
		FUZZ_CHECK(hs_tag_decode(again, sizeof again, &other) == HS_TAG_BYTES);
		FUZZ_CHECK(is_same(&tag, &other));
	}
	free(copy);
}

static void encode(struct fuzz_input input)
{
	uint8_t bytes[HS_TAG_BYTES];
	struct hs_tag tag = {.version = 1}, other;

	tag.kind = (uint8_t)fuzz_number(&input, 1);
	tag.flags = (uint16_t)fuzz_number(&input, 2);
	tag.stream = (uint32_t)fuzz_number(&input, 4);
	tag.snapshot = (uint32_t)fuzz_number(&input, 4);
	tag.seq = fuzz_number(&input, 8);
	tag.time_ns = fuzz_number(&input, 8);
	tag.compressed_bytes = (uint32_t)fuzz_number(&input, 4);
	tag.raw_bytes = (uint32_t)fuzz_number(&input, 4);
	hs_tag_encode(&tag, bytes);
	if (hs_tag_decode(bytes, sizeof bytes, &other) > 0)
		FUZZ_CHECK(is_same(&tag, &other));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	decode(data, size);
	encode((struct fuzz_input){data, size});
	return 0;
}
