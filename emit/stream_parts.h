/* SPDX-License-Identifier: MIT */
/*
 * The parts of a stream, for its two halves only: stream.c puts records into
 * buffers, stream_out.c brings buffers to the sink.
 */
#ifndef HEAPSHOT_EMIT_STREAM_PARTS_H
#define HEAPSHOT_EMIT_STREAM_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emit/stream.h"
#include "schema/varint.h"

#define HS_STREAM_RECORD_TAG 0x0A /* Stream.record, length-delimited */

/* Longest FrameStart: three tags and varints, in two wrappers. */
#define HS_FRAME_START_MAX (2 + 2 + (1 + 5) + (1 + HS_VARINT_MAX) + (1 + HS_VARINT_MAX))

/* What a buffer is used for, when all of them are free. */
enum { HS_BUFFER_SNAPSHOT, HS_BUFFER_METADATA, HS_BUFFER_EVENTS, HS_N_BUFFERS };

struct hs_buffer {
	uint8_t *data;           /* records start at HS_FRAME_START_MAX */
	size_t used;             /* bytes of records */
	enum hs_frame_kind kind; /* of what is in it */
	uint32_t snapshot;
	uint64_t first_ns, last_ns;
};

/* Whose turn it is to compress and to write; stream_out.c. */
enum hs_turn {
	HS_TURN_OWNER, /* not shared */
	HS_TURN_FREE,  /* shared, and nobody is at it */
	HS_TURN_TAKEN, /* by the helper, or by the owner that helps itself */
	HS_TURN_LEFT,  /* by the helper, which is to be the owner behind it */
};

struct hs_stream {
	struct hs_sink *sink;
	uint32_t id;
	uint16_t tag_flags;
	uint32_t snapshot;
	size_t limit; /* bytes of records a frame is flushed at */
	size_t room;  /* bytes of records a buffer can hold, >= limit */
	struct hs_buffer buffers[HS_N_BUFFERS];
	/*
	 * Buffers [n_taken, n_queued), counted from the beginning of sharing,
	 * wait for whoever has the turn.  The next one is being filled.
	 */
	_Atomic uint32_t n_queued, n_taken;
	_Atomic int turn;         /* enum hs_turn */
	_Atomic int shared_error; /* the sink's, for an owner whose turn it is not */
	void (*wake)(void);       /* wakes the helper */
	/* Of whoever has the turn. */
	uint64_t seq; /* of the next frame */
	uint64_t bytes_out;
	uint8_t *frame; /* the frame being written */
	size_t frame_cap;
	size_t frame_done, frame_size; /* equal: nothing is pending */
	bool is_held;
	struct hs_stream_commit *commit; /* while a child owns the sink */
};

static inline uint32_t hs_stream_queued(const struct hs_stream *stream)
{
	return stream->n_queued - stream->n_taken;
}

/*
 * Empties BUFFER, of the snapshot or of another kind that is not lent, into the
 * frame and begins to write that, or hands it over.  0: the buffer is empty now,
 * or there is another in its place, though frames may be pending.
 */
int hs_stream_flush_buffer(struct hs_stream *stream, struct hs_buffer *buffer,
			   uint64_t deadline_ns);
/* Brings all frames to the sink that were begun or queued; 0 when none is left. */
int hs_stream_finish(struct hs_stream *stream, uint64_t deadline_ns);

#endif
