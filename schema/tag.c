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

/*
 * CRC-32, eight bytes a step.  A table's entry is the XOR of the entries of its
 * index's bits, so that eight numbers a table make all 256.
 */
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
#define TABLE(...)                                                                                \
	{                                                                                         \
		ENTRY64(0, __VA_ARGS__), ENTRY64(64, __VA_ARGS__), ENTRY64(128, __VA_ARGS__),     \
			ENTRY64(192, __VA_ARGS__)                                                 \
	}

static const uint32_t crc_tables[8][256] = {
	TABLE(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832,
	      0x1db71064, 0x3b6e20c8, 0x76dc4190, 0xedb88320),
	TABLE(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08,
	      0x4ac21251, 0x958424a2, 0xf0794f05, 0x3b83984b),
	TABLE(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8,
	      0x1c26a370, 0x384d46e0, 0x709a8dc0, 0xe1351b80),
	TABLE(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef,
	      0x5019579f, 0xa032af3e, 0x9b14583d, 0xed59b63b),
	TABLE(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1,
	      0x60e09782, 0xc1c12f04, 0x58f35849, 0xb1e6b092),
	TABLE(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d,
	      0x03d6029b, 0x07ac0536, 0x0f580a6c, 0x1eb014d8),
	TABLE(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67,
	      0x67de9cce, 0xcfbd399c, 0x440b7579, 0x8816eaf2),
	TABLE(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5,
	      0x7cbb312b, 0xf9766256, 0x299dc2ed, 0x533b85da),
};

uint32_t hs_crc32(const uint8_t *data, size_t size)
{
	uint32_t crc = 0xffffffffu;

	for (; size >= 8; size -= 8, data += 8) {
		uint32_t low = crc ^ get_u32(data);
		uint32_t high = get_u32(data + 4);

		crc = crc_tables[7][low & 0xff] ^ crc_tables[6][low >> 8 & 0xff] ^
		      crc_tables[5][low >> 16 & 0xff] ^ crc_tables[4][low >> 24] ^
		      crc_tables[3][high & 0xff] ^ crc_tables[2][high >> 8 & 0xff] ^
		      crc_tables[1][high >> 16 & 0xff] ^ crc_tables[0][high >> 24];
	}
	while (size--)
		crc = crc >> 8 ^ crc_tables[0][(crc ^ *data++) & 0xff];
	return ~crc;
}
