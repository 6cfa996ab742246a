/* SPDX-License-Identifier: MIT */
/*
 * The ring: put, and the way over what is in it.
 */
#include "emit/ring.h"

#include <errno.h>
#include <string.h>

/* Payload of a tag: where its kind stands. */
#define AT_KIND (8 + 5)

static int write_at(struct hs_ring *ring, uint64_t at, const void *bytes, size_t size)
{
	int error = ring->storage.write(ring->storage.data, at, bytes, size);

	if (error != 0 && ring->error == 0)
		ring->error = error;
	return error;
}

/* One write of eight aligned bytes: a reader sees the pad, or what stood there before. */
static int put_pad(struct hs_ring *ring, uint64_t at, uint64_t end)
{
	uint8_t pad[8];

	hs_ring_pad_encode(end - at, pad);
	return write_at(ring, at, pad, sizeof(pad));
}

int hs_ring_init(struct hs_ring *ring, const struct hs_ring_storage *storage, uint32_t stream,
		 uint64_t file_bytes)
{
	const struct hs_ring_header header = {
		.version = HS_RING_VERSION,
		.stream = stream,
		.file_bytes = file_bytes,
		.lap_offset = hs_ring_lap_offset(file_bytes),
	};
	uint8_t bytes[HS_RING_HEADER_BYTES];

	*ring = (struct hs_ring){
		.storage = *storage,
		.file_bytes = file_bytes,
		.lap_offset = header.lap_offset,
		.names_at = HS_RING_HEADER_BYTES,
		.lap_at = header.lap_offset,
	};
	hs_ring_header_encode(&header, bytes);
	put_pad(ring, ring->lap_offset, file_bytes);
	put_pad(ring, HS_RING_HEADER_BYTES, ring->lap_offset);
	write_at(ring, 0, bytes, sizeof(bytes));
	return ring->error;
}

static uint64_t unit_at(const struct hs_ring *ring, uint64_t at, uint64_t end, bool *is_frame,
			struct hs_tag *tag)
{
	uint8_t head[HS_TAG_BYTES];
	const uint64_t left = end - at;

	if (left < 8 || ring->storage.read(ring->storage.data, at, head,
					   left < sizeof(head) ? (size_t)left : sizeof(head)) != 0)
		return 0;
	return hs_ring_unit(head, left, is_frame, tag);
}

/*
 * The first start of a frame or pad at or behind LEAST, hopping from AT.  Where
 * somebody else has written to the file the chain may be broken: then all up to
 * the end of the lap is given up, which mends it.
 */
static uint64_t find_end(struct hs_ring *ring, uint64_t at, uint64_t least)
{
	while (at < least) {
		struct hs_tag tag;
		bool is_frame;
		uint64_t bytes = unit_at(ring, at, ring->file_bytes, &is_frame, &tag);

		if (bytes == 0)
			return ring->file_bytes;
		ring->n_dropped += is_frame;
		at += bytes;
	}
	return at;
}

/* Writes FRAME into the pad at AT that reaches to END, which is inert until the last write. */
static int put_into(struct hs_ring *ring, uint64_t at, uint64_t end, const uint8_t *frame,
		    size_t size)
{
	const size_t inner = hs_ring_tail_bytes(size);
	uint8_t tail[2 * HS_RING_ALIGN + 8] = {0};
	size_t n = inner;
	int error;

	if (inner > 0)
		hs_ring_pad_encode(inner, tail);
	if (at + size + inner < end) {
		hs_ring_pad_encode(end - at - size - inner, tail + inner);
		n += 8;
	}
	error = write_at(ring, at + 8, frame + 8, size - 8);
	if (error == 0 && n > 0)
		error = write_at(ring, at + size, tail, n);
	return error != 0 ? error : write_at(ring, at, frame, 8);
}

static int put_name(struct hs_ring *ring, const uint8_t *frame, size_t size)
{
	int error = put_into(ring, ring->names_at, ring->lap_offset, frame, size);

	if (error == 0)
		ring->names_at += size + hs_ring_tail_bytes(size);
	return error;
}

static int put_lap(struct hs_ring *ring, const uint8_t *frame, size_t size)
{
	const uint64_t bytes = size + hs_ring_tail_bytes(size);
	uint64_t end;
	int error = 0;

	if (bytes > ring->file_bytes - ring->lap_offset)
		return -EMSGSIZE;
	if (bytes > ring->file_bytes - ring->lap_at) {
		/* The rest of the lap holds the oldest frames. */
		find_end(ring, ring->lap_at, ring->file_bytes);
		if (ring->lap_at < ring->file_bytes)
			error = put_pad(ring, ring->lap_at, ring->file_bytes);
		ring->lap_at = ring->lap_offset;
	}
	if (error != 0)
		return error;
	end = find_end(ring, ring->lap_at, ring->lap_at + bytes);
	error = put_pad(ring, ring->lap_at, end);
	if (error == 0)
		error = put_into(ring, ring->lap_at, end, frame, size);
	if (error == 0)
		ring->lap_at += bytes;
	return error;
}

static int count_unkept(struct hs_ring *ring)
{
	uint8_t bytes[8];

	ring->n_unkept++;
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(ring->n_unkept >> (8 * i));
	return write_at(ring, HS_RING_UNKEPT_AT, bytes, sizeof(bytes));
}

int hs_ring_put(struct hs_ring *ring, const uint8_t *frame, size_t size)
{
	int error = ring->error;

	if (error != 0)
		return error;
	if (size <= HS_TAG_BYTES)
		return -EINVAL;
	if (frame[AT_KIND] != HS_FRAME_METADATA)
		error = put_lap(ring, frame, size);
	else if (size + hs_ring_tail_bytes(size) <= ring->lap_offset - ring->names_at)
		error = put_name(ring, frame, size);
	else if ((error = count_unkept(ring)) == 0)
		error = put_lap(ring, frame, size);
	if (error == 0)
		ring->n_frames++;
	return error;
}

/* The next frame from *AT on, within *LEFT bytes; behind the end of the lap comes its beginning. */
static int step(const struct hs_ring *ring, uint64_t *at, uint64_t *left,
		struct hs_ring_place *place)
{
	while (*left > 0) {
		const uint64_t here = *at;
		const uint64_t end = here < ring->lap_offset ? ring->lap_offset : ring->file_bytes;
		bool is_frame;
		uint64_t bytes = unit_at(ring, here, end, &is_frame, &place->tag);

		if (bytes == 0 || bytes > *left)
			return -EIO;
		*left -= bytes;
		*at = here + bytes == ring->file_bytes ? ring->lap_offset : here + bytes;
		if (is_frame) {
			place->at = here;
			place->bytes = HS_TAG_BYTES + (uint64_t)place->tag.compressed_bytes;
			return 1;
		}
	}
	return 0;
}

static int step_names(const struct hs_ring *ring, struct hs_ring_cursor *cursor)
{
	uint64_t left = ring->names_at - cursor->names_at;
	int result = step(ring, &cursor->names_at, &left, &cursor->names);

	cursor->has_names = result > 0;
	return result;
}

static int step_lap(const struct hs_ring *ring, struct hs_ring_cursor *cursor)
{
	int result = step(ring, &cursor->lap_at, &cursor->lap_left, &cursor->lap);

	cursor->has_lap = result > 0;
	return result;
}

int hs_ring_rewind(const struct hs_ring *ring, struct hs_ring_cursor *cursor)
{
	int result;

	*cursor = (struct hs_ring_cursor){
		.names_at = HS_RING_HEADER_BYTES,
		.lap_at = ring->lap_at < ring->file_bytes ? ring->lap_at : ring->lap_offset,
		.lap_left = ring->file_bytes - ring->lap_offset,
	};
	result = step_names(ring, cursor);
	if (result >= 0)
		result = step_lap(ring, cursor);
	return result < 0 ? result : 0;
}

int hs_ring_next(const struct hs_ring *ring, struct hs_ring_cursor *cursor,
		 struct hs_ring_place *place)
{
	int result;

	if (!cursor->has_names && !cursor->has_lap)
		return 0;
	if (cursor->has_names &&
	    (!cursor->has_lap || cursor->names.tag.seq < cursor->lap.tag.seq)) {
		*place = cursor->names;
		result = step_names(ring, cursor);
	} else {
		*place = cursor->lap;
		result = step_lap(ring, cursor);
	}
	return result < 0 ? result : 1;
}
