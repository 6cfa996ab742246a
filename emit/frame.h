/* SPDX-License-Identifier: MIT */
/*
 * One frame as it stands in the file: the tag, and behind it an LZ4 frame of
 * one independent block, with its content's size and checksum.  Needs no memory
 * but the caller's output buffer and some 16 KB of stack, and locks nothing.
 */
#ifndef HEAPSHOT_EMIT_FRAME_H
#define HEAPSHOT_EMIT_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "schema/tag.h"

/* Room that hs_frame_compress needs at OUT for RAW_BYTES, the tag included. */
size_t hs_frame_bound(size_t raw_bytes);

/*
 * Compresses RAW_BYTES (1 to HS_FRAME_RAW_MAX) bytes at RAW into OUT.  The
 * caller fills the tag's kind, flags, stream, snapshot, seq and time; the rest is
 * set here.  Returns the bytes written at OUT, or 0 when RAW_BYTES is out of range
 * or OUT_BYTES is below the bound.
 */
size_t hs_frame_compress(uint8_t *out, size_t out_bytes, const uint8_t *raw, size_t raw_bytes,
			 struct hs_tag *tag);

/*
 * The LZ4 frame alone, at one of LZ4's levels: from 3 on it takes time and memory
 * of the system, and is smaller.  OUT needs the bound above; returns as above.
 */
size_t hs_frame_compress_body(uint8_t *out, size_t out_bytes, const uint8_t *raw, size_t raw_bytes,
			      int level);

#endif
