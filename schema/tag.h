/* SPDX-License-Identifier: MIT */
/*
 * The tag before each frame: an LZ4 skippable frame that says what the frame
 * behind it holds, so that a reader lists snapshots without decompressing
 * bodies, finds gaps, and finds its place again after damage.
 * FORMAT.md, "Tags", is the specification.
 */
#ifndef HEAPSHOT_SCHEMA_TAG_H
#define HEAPSHOT_SCHEMA_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Skippable frame number of a tag. */
#define HS_TAG_SKIPPABLE_MAGIC 0x184D2A5Bu
#define HS_LZ4_FRAME_MAGIC     0x184D2204u
#define HS_TAG_MAGIC           0x47545348u /* "HSTG", little-endian */
#define HS_TAG_VERSION         1
#define HS_TAG_PAYLOAD_BYTES   48
/* Skippable header (magic, length) and payload. */
#define HS_TAG_BYTES (8 + HS_TAG_PAYLOAD_BYTES)
/* A later version's payload may be longer, up to here. */
#define HS_TAG_PAYLOAD_MAX 4096

/* Flag of a tag: numbers missing before it are of frames that a ring has dropped. */
#define HS_TAG_FLAG_RING 1u
/* The same where a copy of a part of a recording left them out. */
#define HS_TAG_FLAG_PART 2u

/* Most bytes of one frame before compression. */
#define HS_FRAME_RAW_MAX (1u << 20)
/* Most bytes of one encoded record. */
#define HS_RECORD_MAX (192u << 10)
/* Most bytes of one name; longer ones are cut in the middle. */
#define HS_NAME_MAX (64u << 10)

enum hs_frame_kind {
	HS_FRAME_METADATA = 1, /* header, types, images, domains, threads, counters' names */
	HS_FRAME_EVENTS = 2,
	HS_FRAME_SNAPSHOT_BEGIN = 3,
	HS_FRAME_SNAPSHOT_BODY = 4,
	HS_FRAME_SNAPSHOT_END = 5,
	HS_FRAME_END = 6, /* the recording ended in order */
};

struct hs_tag {
	uint8_t version;
	uint8_t kind;              /* enum hs_frame_kind; readers skip kinds they do not know */
	uint16_t flags;            /* HS_TAG_FLAG_ */
	uint32_t stream;           /* random id of the recording */
	uint32_t snapshot;         /* for the snapshot kinds, else 0 */
	uint64_t seq;              /* number of the frame, from 0, without gaps */
	uint64_t time_ns;          /* since the start of the recording */
	uint32_t compressed_bytes; /* of the LZ4 frame behind the tag */
	uint32_t raw_bytes;        /* of its content */
};

/* Writes HS_TAG_BYTES bytes at OUT. */
void hs_tag_encode(const struct hs_tag *tag, uint8_t out[HS_TAG_BYTES]);

/*
 * Reads a tag at IN.  Returns the number of bytes it takes (header included),
 * 0 when SIZE bytes are too few to tell, -1 when there is no valid tag here
 * (other magic, wrong CRC, impossible lengths).
 */
int hs_tag_decode(const uint8_t *in, size_t size, struct hs_tag *tag);

/* Changes flags and size of the frame in the valid tag at TAG, of whatever version and length. */
void hs_tag_change(uint8_t *tag, uint16_t flags, uint32_t compressed_bytes);

/* CRC-32 (IEEE 802.3, as in zlib) of SIZE bytes. */
uint32_t hs_crc32(const uint8_t *data, size_t size);
/* That of bytes whose beginning has CRC, and SIZE bytes more; CRC 0 for no beginning. */
uint32_t hs_crc32_more(uint32_t crc, const uint8_t *data, size_t size);

#endif
