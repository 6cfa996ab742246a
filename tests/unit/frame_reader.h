/* SPDX-License-Identifier: MIT */
/*
 * For tests: reads tagged frames back from memory, and keeps what a sink was
 * given.
 */
#ifndef HEAPSHOT_TESTS_UNIT_FRAME_READER_H
#define HEAPSHOT_TESTS_UNIT_FRAME_READER_H

#include <stddef.h>
#include <stdint.h>

#include "schema/heapshot.pb-c.h"
#include "schema/tag.h"

struct read_frame {
	struct hs_tag tag;
	size_t end;               /* where the frame ends in the input */
	uint8_t *raw;             /* its content, tag.raw_bytes of it */
	Heapshot__Stream *stream; /* the same, unpacked */
};

struct read_frames {
	struct read_frame *frames;
	size_t n;
	size_t used; /* bytes of the input that were whole frames */
};

/* Reads frames until the input ends, is cut, or is no frame. */
struct read_frames read_frames(const uint8_t *data, size_t size);
void read_frames_free(struct read_frames *frames);

/* Bytes that grow; a callback sink writes there. */
struct bytes {
	uint8_t *data;
	size_t size, cap;
};

void bytes_add(struct bytes *bytes, const void *data, size_t size);
int bytes_callback(const void *data, size_t size, void *bytes);
/* Content of a file. */
struct bytes bytes_of_file(const char *path);
void bytes_free(struct bytes *bytes);

/* Fills with bytes that do not compress; the same for the same SEED. */
void fill_random(void *data, size_t size, uint64_t seed);

#endif
