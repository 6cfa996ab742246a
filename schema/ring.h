/* SPDX-License-Identifier: MIT */
/*
 * Layout of a ring file: a chain of LZ4 frames that is whole at every instant,
 * in a file of fixed size.  FORMAT.md, "Ring files", is the specification.
 *
 *   header (a skippable frame) | names | lap
 *
 * Everything behind the header is data frames with their tags, and pads
 * (skippable frames that hold nothing); a data frame begins at a multiple of 8.
 */
#ifndef HEAPSHOT_SCHEMA_RING_H
#define HEAPSHOT_SCHEMA_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/tag.h"

#define HS_RING_HEADER_MAGIC 0x184D2A5Cu
#define HS_RING_PAD_MAGIC    0x184D2A5Du
#define HS_RING_VERSION      1

/* The header frame, and where the first thing behind it begins. */
#define HS_RING_HEADER_BYTES 4096
/* What of the header is written anew while recording: one aligned word. */
#define HS_RING_UNKEPT_AT 64

#define HS_RING_ALIGN 8
/* Sizes of a ring file; all are rounded up to HS_RING_HEADER_BYTES. */
#define HS_RING_BYTES_MIN (UINT64_C(1) << 20)
#define HS_RING_BYTES_MAX (UINT64_C(1) << 30)

struct hs_ring_header {
	uint32_t version;
	uint32_t stream; /* the recording's random id, as in the tags */
	uint64_t file_bytes;
	uint64_t lap_offset; /* the part for names ends here, the lap begins */
	uint64_t n_unkept;   /* metadata frames that the part for names had no room for */
};

/* How a file of FILE_BYTES is divided: where the lap begins. */
uint64_t hs_ring_lap_offset(uint64_t file_bytes);

/* Writes HS_RING_HEADER_BYTES bytes at OUT. */
void hs_ring_header_encode(const struct hs_ring_header *header, uint8_t *out);

/* Bytes that hs_ring_header_decode looks at. */
#define HS_RING_HEADER_USED 72

/*
 * Whether IN, the first HS_RING_HEADER_USED bytes of a file, begins a ring;
 * *is_intact tells whether the header's own checksum holds, and *header is set
 * only then.
 */
bool hs_ring_header_decode(const uint8_t *in, struct hs_ring_header *header, bool *is_intact);

/* Writes the first eight bytes of a pad that covers BYTES (8 or more) in all. */
void hs_ring_pad_encode(uint64_t bytes, uint8_t out[8]);

/* Bytes of the pad behind a frame of FRAME_BYTES (tag included): 0, or 9 to 15. */
static inline size_t hs_ring_tail_bytes(size_t frame_bytes)
{
	const size_t over = frame_bytes % HS_RING_ALIGN;

	return over == 0 ? 0 : 2 * HS_RING_ALIGN - over;
}

/*
 * What stands at the aligned place of which IN holds the first bytes, as many
 * as HS_TAG_BYTES and LEFT, the bytes to the end of the part, allow.  Returns
 * how many bytes it takes: a pad alone, or a data frame with the pad that
 * aligns its end; *is_frame tells which, and *tag is set for a frame.  0: the
 * chain is broken here.
 */
uint64_t hs_ring_unit(const uint8_t *in, uint64_t left, bool *is_frame, struct hs_tag *tag);

#endif
