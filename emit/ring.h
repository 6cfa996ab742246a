/* SPDX-License-Identifier: MIT */
/*
 * Putting frames into a ring file, so that whatever ends the process between
 * any two writes leaves an unbroken chain of frames behind.
 *
 * A frame of metadata goes to the part for names, where nothing is ever
 * overwritten, for as long as there is room; all others go round the lap:
 *
 *   1. the oldest frames that stand where it goes, up to the first one that
 *      may stay, become one pad, by a single write of eight bytes (retire);
 *   2. its bytes, all but the first eight, and the pads behind it are written
 *      into that pad, where no reader looks;
 *   3. its first eight bytes take the place of the pad's (commit).
 *
 * No memory but what is here, no lock; one thread at a time.
 */
#ifndef HEAPSHOT_EMIT_RING_H
#define HEAPSHOT_EMIT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/ring.h"

/* Where the bytes are.  Both move all SIZE bytes, and return 0 or a negative errno. */
struct hs_ring_storage {
	int (*write)(void *data, uint64_t at, const void *bytes, size_t size);
	int (*read)(void *data, uint64_t at, void *bytes, size_t size);
	void *data;
};

struct hs_ring {
	struct hs_ring_storage storage;
	uint64_t file_bytes, lap_offset;
	uint64_t names_at;  /* where the next frame of names goes */
	uint64_t lap_at;    /* where the next other frame goes: the oldest stands there */
	uint64_t n_frames;  /* put in so far */
	uint64_t n_dropped; /* of those, overwritten since */
	uint64_t n_unkept;  /* frames of names that went round with the others */
	int error;          /* first failure; sticky, and nothing is written after it */
};

/*
 * Writes the header and the pads of an empty ring of FILE_BYTES (a multiple of
 * HS_RING_HEADER_BYTES, within the bounds of schema/ring.h).
 */
int hs_ring_init(struct hs_ring *ring, const struct hs_ring_storage *storage, uint32_t stream,
		 uint64_t file_bytes);

/* Puts in one whole frame with its tag.  0, -EMSGSIZE when it is too large, or the sticky error. */
int hs_ring_put(struct hs_ring *ring, const uint8_t *frame, size_t size);

/* A way over the frames that are in the ring, in the order of their numbers. */
struct hs_ring_cursor {
	uint64_t names_at, lap_at;
	uint64_t lap_left; /* bytes of the lap not yet passed */
	bool has_names, has_lap;
	struct hs_ring_place {
		uint64_t at, bytes; /* tag and frame, without pads */
		struct hs_tag tag;
	} names, lap; /* the next frame of each part */
};

/* To the oldest frame.  0 or a negative errno. */
int hs_ring_rewind(const struct hs_ring *ring, struct hs_ring_cursor *cursor);

/*
 * The next frame: 1 with *place, 0 behind the last one, or a negative errno.
 * Frames must not be put in between; a cursor that was left lying is made anew.
 */
int hs_ring_next(const struct hs_ring *ring, struct hs_ring_cursor *cursor,
		 struct hs_ring_place *place);

#endif
