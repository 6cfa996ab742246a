/* SPDX-License-Identifier: MIT */
/*
 * Tags and their CRC-32.  Fields are stored byte by byte in little-endian
 * order, so that the host's own order does not matter.
 */
#include "schema/tag.h"

/* Where the fields of the payload stand. */
enum {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_KIND = 5,
	AT_FLAGS = 6,
	AT_STREAM = 8,
	AT_SNAPSHOT = 12,
	AT_SEQ = 16,
	AT_TIME = 24,
	AT_COMPRESSED = 32,
	AT_RAW = 36,
	AT_RESERVED = 40,
	AT_CRC = 44,
};

/* A frame that does not shrink is stored, with its header and checksum around. */
#define COMPRESSED_MAX (HS_FRAME_RAW_MAX + 64u)

static void put_u16(uint8_t *out, uint16_t value)
{
	out[0] = (uint8_t)value;
	out[1] = (uint8_t)(value >> 8);
}

static void put_u32(uint8_t *out, uint32_t value)
{
	put_u16(out, (uint16_t)value);
	put_u16(out + 2, (uint16_t)(value >> 16));
}

static void put_u64(uint8_t *out, uint64_t value)
{
	put_u32(out, (uint32_t)value);
	put_u32(out + 4, (uint32_t)(value >> 32));
}

static uint16_t get_u16(const uint8_t *in)
{
	return (uint16_t)(in[0] | in[1] << 8);
}

static uint32_t get_u32(const uint8_t *in)
{
	return (uint32_t)get_u16(in + 2) << 16 | get_u16(in);
}

static uint64_t get_u64(const uint8_t *in)
{
	return (uint64_t)get_u32(in + 4) << 32 | get_u32(in);
}

void hs_tag_encode(const struct hs_tag *tag, uint8_t out[HS_TAG_BYTES])
{
	uint8_t *payload = out + 8;

	put_u32(out, HS_TAG_SKIPPABLE_MAGIC);
	put_u32(out + 4, HS_TAG_PAYLOAD_BYTES);
	put_u32(payload + AT_MAGIC, HS_TAG_MAGIC);
	payload[AT_VERSION] = tag->version;
	payload[AT_KIND] = tag->kind;
	put_u16(payload + AT_FLAGS, tag->flags);
	put_u32(payload + AT_STREAM, tag->stream);
	put_u32(payload + AT_SNAPSHOT, tag->snapshot);
	put_u64(payload + AT_SEQ, tag->seq);
	put_u64(payload + AT_TIME, tag->time_ns);
	put_u32(payload + AT_COMPRESSED, tag->compressed_bytes);
	put_u32(payload + AT_RAW, tag->raw_bytes);
	put_u32(payload + AT_RESERVED, 0);
	put_u32(payload + AT_CRC, hs_crc32(payload, AT_CRC));
}

int hs_tag_decode(const uint8_t *in, size_t size, struct hs_tag *tag)
{
	const uint8_t *payload = in + 8;
	uint32_t payload_bytes;

	if (size < 4)
		return 0;
	if (get_u32(in) != HS_TAG_SKIPPABLE_MAGIC)
		return -1;
	if (size < 8)
		return 0;
	payload_bytes = get_u32(in + 4);
	if (payload_bytes < HS_TAG_PAYLOAD_BYTES || payload_bytes > HS_TAG_PAYLOAD_MAX)
		return -1;
	if (size < HS_TAG_BYTES)
		return 0;
	if (get_u32(payload + AT_MAGIC) != HS_TAG_MAGIC || payload[AT_VERSION] == 0 ||
	    get_u32(payload + AT_CRC) != hs_crc32(payload, AT_CRC))
		return -1;
	/* Version 1 has no more than these bytes. */
	if (payload[AT_VERSION] == 1 && payload_bytes != HS_TAG_PAYLOAD_BYTES)
		return -1;
	*tag = (struct hs_tag){
		.version = payload[AT_VERSION],
		.kind = payload[AT_KIND],
		.flags = get_u16(payload + AT_FLAGS),
		.stream = get_u32(payload + AT_STREAM),
		.snapshot = get_u32(payload + AT_SNAPSHOT),
		.seq = get_u64(payload + AT_SEQ),
		.time_ns = get_u64(payload + AT_TIME),
		.compressed_bytes = get_u32(payload + AT_COMPRESSED),
		.raw_bytes = get_u32(payload + AT_RAW),
	};
	if (tag->raw_bytes > HS_FRAME_RAW_MAX || tag->compressed_bytes > COMPRESSED_MAX)
		return -1;
	if (size < 8 + (size_t)payload_bytes)
		return 0;
	return (int)(8 + payload_bytes);
}

void hs_tag_change(uint8_t *tag, uint16_t flags, uint32_t compressed_bytes)
{
	uint8_t *payload = tag + 8;

	put_u16(payload + AT_FLAGS, flags);
	put_u32(payload + AT_COMPRESSED, compressed_bytes);
	put_u32(payload + AT_CRC, hs_crc32(payload, AT_CRC));
}

/*
 * CRC-32, a byte a step: only what is small is checked by it.  An entry of the table is
 * the XOR of the entries of its index's bits, so that eight numbers make all.
 */
/* clang-format off */
#define ENTRY(i, a, b, c, d, e, f, g, h)                                                          \
	((((i) & 1) ? (a) : 0) ^ (((i) & 2) ? (b) : 0) ^ (((i) & 4) ? (c) : 0) ^                  \
	 (((i) & 8) ? (d) : 0) ^ (((i) & 16) ? (e) : 0) ^ (((i) & 32) ? (f) : 0) ^                \
	 (((i) & 64) ? (g) : 0) ^ (((i) & 128) ? (h) : 0))
#define ENTRY4(i, ...)                                                                            \
	ENTRY(i, __VA_ARGS__), ENTRY((i) + 1, __VA_ARGS__), ENTRY((i) + 2, __VA_ARGS__),          \
		ENTRY((i) + 3, __VA_ARGS__)
#define ENTRY16(i, ...)                                                                           \
	ENTRY4(i, __VA_ARGS__), ENTRY4((i) + 4, __VA_ARGS__), ENTRY4((i) + 8, __VA_ARGS__),       \
		ENTRY4((i) + 12, __VA_ARGS__)
#define ENTRY64(i, ...)                                                                           \
	ENTRY16(i, __VA_ARGS__), ENTRY16((i) + 16, __VA_ARGS__), ENTRY16((i) + 32, __VA_ARGS__),  \
		ENTRY16((i) + 48, __VA_ARGS__)

#define BITS                                                                                      \
	0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, 0x1db71064, 0x3b6e20c8, 0x76dc4190,       \
		0xedb88320
/* clang-format on */

static const uint32_t crc_table[256] = {
	ENTRY64(0, BITS),
	ENTRY64(64, BITS),
	ENTRY64(128, BITS),
	ENTRY64(192, BITS),
};

uint32_t hs_crc32_more(uint32_t crc, const uint8_t *data, size_t size)
{
	crc = ~crc;
	while (size--)
		crc = crc >> 8 ^ crc_table[(crc ^ *data++) & 0xff];
	return ~crc;
}

uint32_t hs_crc32(const uint8_t *data, size_t size)
{
	return hs_crc32_more(0, data, size);
}
