/* SPDX-License-Identifier: MIT */
/*
 * Header and units of a ring file.
 */
#include "schema/ring.h"

#include <string.h>

/* Where the fields of the header stand, from the start of the file. */
enum {
	AT_NAME = 8,
	AT_VERSION = 16,
	AT_STREAM = 20,
	AT_FILE = 24,
	AT_LAP = 32,
	AT_RESERVED = 40,
	AT_CRC = 56,
	AT_UNKEPT = HS_RING_UNKEPT_AT,
};

/* Names need some hundred KB for thousands of types, and rarely some MB. */
#define NAMES_ENOUGH (UINT64_C(4) << 20)

static const char name[AT_VERSION - AT_NAME] = "HSRING";

static void put_u32(uint8_t *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> (8 * i));
}

static void put_u64(uint8_t *out, uint64_t value)
{
	put_u32(out, (uint32_t)value);
	put_u32(out + 4, (uint32_t)(value >> 32));
}

static uint32_t get_u32(const uint8_t *in)
{
	return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 |
	       (uint32_t)in[3] << 24;
}

static uint64_t get_u64(const uint8_t *in)
{
	return (uint64_t)get_u32(in + 4) << 32 | get_u32(in);
}

uint64_t hs_ring_lap_offset(uint64_t file_bytes)
{
	uint64_t names = file_bytes / 4;

	if (names < NAMES_ENOUGH)
		names = NAMES_ENOUGH;
	if (names > file_bytes / 2)
		names = file_bytes / 2;
	return names & ~(uint64_t)(HS_RING_HEADER_BYTES - 1);
}

void hs_ring_header_encode(const struct hs_ring_header *header, uint8_t *out)
{
	memset(out, 0, HS_RING_HEADER_BYTES);
	put_u32(out, HS_RING_HEADER_MAGIC);
	put_u32(out + 4, HS_RING_HEADER_BYTES - 8);
	memcpy(out + AT_NAME, name, sizeof(name));
	put_u32(out + AT_VERSION, header->version);
	put_u32(out + AT_STREAM, header->stream);
	put_u64(out + AT_FILE, header->file_bytes);
	put_u64(out + AT_LAP, header->lap_offset);
	put_u32(out + AT_CRC, hs_crc32(out, AT_CRC));
	put_u64(out + AT_UNKEPT, header->n_unkept);
}

bool hs_ring_header_decode(const uint8_t *in, struct hs_ring_header *header, bool *is_intact)
{
	*is_intact = false;
	if (get_u32(in) != HS_RING_HEADER_MAGIC || memcmp(in + AT_NAME, name, sizeof(name)) != 0)
		return false;
	*is_intact = get_u32(in + AT_CRC) == hs_crc32(in, AT_CRC);
	if (*is_intact)
		*header = (struct hs_ring_header){
			.version = get_u32(in + AT_VERSION),
			.stream = get_u32(in + AT_STREAM),
			.file_bytes = get_u64(in + AT_FILE),
			.lap_offset = get_u64(in + AT_LAP),
			.n_unkept = get_u64(in + AT_UNKEPT),
		};
	return true;
}

void hs_ring_pad_encode(uint64_t bytes, uint8_t out[8])
{
	put_u32(out, HS_RING_PAD_MAGIC);
	put_u32(out + 4, (uint32_t)(bytes - 8));
}

uint64_t hs_ring_unit(const uint8_t *in, uint64_t left, bool *is_frame, struct hs_tag *tag)
{
	const size_t size = left < HS_TAG_BYTES ? (size_t)left : HS_TAG_BYTES;
	uint64_t bytes;
	int length;

	*is_frame = false;
	if (size < 8)
		return 0;
	if (get_u32(in) == HS_RING_PAD_MAGIC) {
		bytes = 8 + (uint64_t)get_u32(in + 4);
		return bytes <= left && bytes % HS_RING_ALIGN == 0 ? bytes : 0;
	}
	length = hs_tag_decode(in, size, tag);
	if (length <= 0)
		return 0;
	*is_frame = true;
	bytes = (uint64_t)length + tag->compressed_bytes;
	bytes += hs_ring_tail_bytes((size_t)bytes);
	return bytes <= left ? bytes : 0;
}
