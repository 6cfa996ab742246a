/* SPDX-License-Identifier: MIT */
/*
 * A stream: records in, tagged LZ4 frames out.  It owns its memory from the
 * start and never allocates afterwards; it has no lock (one owner at a time).
 *
 * Each kind of frame has a buffer of its own.  A full buffer is compressed into
 * one frame and handed to the sink; what a slow reader did not take stays
 * pending, and is finished before anything else, so that a frame is never torn
 * by us.  While something is pending, further frames wait in their buffers;
 * what then does not fit is refused with -EAGAIN and counted by the caller.
 */
#ifndef HEAPSHOT_EMIT_STREAM_H
#define HEAPSHOT_EMIT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/heapshot.pb-c.h"
#include "schema/tag.h"
#include "emit/sink.h"

struct hs_stream;

struct hs_stream_config {
	uint32_t id;          /* random id of the recording */
	uint16_t tag_flags;   /* of all of its tags */
	size_t frame_bytes;   /* raw bytes a frame is flushed at, 64 KB to 1 MB */
	struct hs_sink *sink; /* borrowed */
};

/* Bytes a stream needs for frames of FRAME_BYTES. */
size_t hs_stream_bytes(size_t frame_bytes);

/* Makes a stream in MEMORY (hs_stream_bytes() of it, page-aligned). */
struct hs_stream *hs_stream_init(void *memory, const struct hs_stream_config *config);

/*
 * Times are ns since the start of the recording.  DEADLINE_NS of all functions
 * is an absolute CLOCK_MONOTONIC time until which a slow reader is waited for,
 * 0 for not at all.
 *
 * Returns of all: 0; -EAGAIN when a slow reader left no room; -EMSGSIZE for a
 * record over HS_RECORD_MAX (its time included); else the sink's sticky error.
 *
 * The frames of a snapshot, and the last of a recording (HS_FRAME_END), come in
 * order, so these kinds share one buffer: a record of another of them, or of
 * another snapshot, flushes what is there first.
 */

/* Appends a record, its body by the generated code; record->time_delta_ns is not looked at. */
int hs_stream_put(struct hs_stream *stream, enum hs_frame_kind kind, uint64_t time_ns,
		  const Heapshot__Record *record, uint64_t deadline_ns);

/*
 * Appends a record whose body is written by hand: returns where to write
 * BODY_BYTES bytes (exact length) of field BODY_FIELD (3 or more) of Record, or
 * NULL with *error.  The bytes must be written before the next call.
 */
uint8_t *hs_stream_put_raw(struct hs_stream *stream, enum hs_frame_kind kind, uint64_t time_ns,
			   uint32_t body_field, size_t body_bytes, uint64_t deadline_ns,
			   int *error);

/* Number that the tags of the snapshot kinds carry from now on. */
void hs_stream_set_snapshot(struct hs_stream *stream, uint32_t snapshot);

/*
 * Compresses and writes what the buffer of KIND holds, if anything, behind what
 * was pending.  -EAGAIN: not all of it has reached the sink yet; what is pending
 * goes on at the next call of any of these functions that needs room, or here.
 */
int hs_stream_flush(struct hs_stream *stream, enum hs_frame_kind kind, uint64_t deadline_ns);
/* The same for metadata, events and all others, in that order. */
int hs_stream_flush_all(struct hs_stream *stream, uint64_t deadline_ns);

/*
 * Throws away what the buffer of KIND holds (an abandoned snapshot's: of all its
 * kinds, but not what an earlier snapshot left there).  Frames that have their
 * number already are always finished, so that numbers stay without gaps.
 */
void hs_stream_discard(struct hs_stream *stream, enum hs_frame_kind kind);

/*
 * A second thread, the helper, may compress and write what the owner of the
 * stream puts, while the owner goes on with the snapshot.  Frames and their
 * order are the same as without.  The buffers of metadata and events are lent
 * to the snapshot for that time: records of theirs are refused with -EAGAIN.
 */

/*
 * Owner, with nothing buffered nor pending (else false): from now on a full
 * buffer is handed over, and WAKE is called, which must not block.  When no buffer
 * is free the owner compresses by itself; only where the helper has begun a frame
 * does it wait, until its deadline.  Errors of the sink come back from a later call.
 */
bool hs_stream_share(struct hs_stream *stream, void (*wake)(void));
/*
 * Owner: ends that, without waiting; what is still queued is pending.  False: the
 * helper is in the middle of a frame, and is the owner from now on.
 */
bool hs_stream_unshare(struct hs_stream *stream);
bool hs_stream_is_shared(const struct hs_stream *stream);

enum hs_help {
	HS_HELP_NONE,  /* nothing to do now */
	HS_HELP_MORE,  /* call again at once */
	HS_HELP_OWNER, /* the owner has left: the caller is the owner now */
};

/* Helper: brings at most one frame to the sink, if the stream is shared. */
enum hs_help hs_stream_help(struct hs_stream *stream, uint64_t deadline_ns);

/*
 * A child that was forked for a snapshot owns the sink while it lives, and
 * writes with its copy of the stream.  What of it has reached the sink whole is
 * kept in memory that both see, for whoever ends it half-way.
 */
struct hs_stream_mark {
	uint64_t frames, bytes_out, sink_bytes;
};

struct hs_stream_commit {
	struct hs_stream_mark marks[2];
	_Atomic uint32_t n;          /* marks[n % 2] holds: it changes in one store */
	_Atomic uint32_t is_writing; /* there may be a piece of a frame behind it */
};

/*
 * In the parent, with nothing pending: frames wait in their buffers until
 * hs_stream_continue(), and what does not fit is refused with -EAGAIN.
 */
void hs_stream_hold(struct hs_stream *stream, struct hs_stream_commit *commit);
/* In the child: its frames are noted in the commit; what waits is its parent's. */
void hs_stream_take_over(struct hs_stream *stream);
/*
 * In the parent, when the child has ended: goes on behind its frames.  IS_TORN:
 * a piece of a further frame is in the sink, so that its number is used.
 */
void hs_stream_continue(struct hs_stream *stream, bool is_torn);

/* Raw bytes that wait in the buffer of KIND. */
size_t hs_stream_buffered(const struct hs_stream *stream, enum hs_frame_kind kind);

uint64_t hs_stream_frames(const struct hs_stream *stream); /* compressed so far */
uint64_t
hs_stream_frame_bytes_out(const struct hs_stream *stream); /* bytes of those, tags included */
/* Whether frames wait for the sink, or to be compressed; of a stream that is not shared. */
bool hs_stream_is_pending(const struct hs_stream *stream);
int hs_stream_error(const struct hs_stream *stream);

#endif
