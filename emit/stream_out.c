/* SPDX-License-Identifier: MIT */
/*
 * Buffers into frames, frames into the sink: by the owner of the stream, or,
 * where the stream is shared, by a helper beside it.
 *
 * The owner queues a full buffer and fills the next; whoever has the turn takes
 * the oldest of the queue, so that the order is that of one thread.  The turn is
 * taken by one compare-and-swap for one frame: an owner that finds no buffer
 * free, and the turn free too (the helper sleeps, or has no processor, or has
 * ended), compresses by itself.  It waits only for a frame that the helper has
 * begun, and only until its deadline.
 */
#include "emit/stream_parts.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "emit/clock.h"
#include "emit/frame.h"

/* An owner that waits for the helper gives way so often before it begins to sleep. */
#define N_YIELDS 100
#define NAP_NS   50000

/* Writes the FrameStart record so that it ends at END; returns its start. */
static uint8_t *put_frame_start(uint8_t *end, uint32_t id, uint64_t seq, uint64_t time_ns)
{
	uint8_t record[HS_FRAME_START_MAX];
	uint8_t *out = record + 4;

	/* As the generated code does, zeros are left out. */
	if (id != 0) {
		*out++ = 0x08;
		out = hs_varint_put(out, id);
	}
	if (seq != 0) {
		*out++ = 0x10;
		out = hs_varint_put(out, seq);
	}
	if (time_ns != 0) {
		*out++ = 0x18;
		out = hs_varint_put(out, time_ns);
	}
	record[0] = HS_STREAM_RECORD_TAG;
	record[1] = (uint8_t)(out - record - 2);
	record[2] = 0x0A; /* Record.frame_start */
	record[3] = (uint8_t)(out - record - 4);
	end -= out - record;
	memcpy(end, record, (size_t)(out - record));
	return end;
}

/* All frames so far are in the sink. */
static void commit(struct hs_stream *stream)
{
	const uint32_t n = stream->commit->n + 1;

	stream->commit->marks[n % 2] = (struct hs_stream_mark){
		stream->seq,
		stream->bytes_out,
		stream->sink->bytes,
	};
	stream->commit->n = n;
	stream->commit->is_writing = 0;
}

/* Gives the sink what it has not taken yet of the last frame; 0 when nothing is left. */
static int write_pending(struct hs_stream *stream, uint64_t deadline_ns)
{
	ssize_t n;

	if (stream->frame_done == stream->frame_size)
		return stream->sink->error;
	n = hs_sink_write(stream->sink, stream->frame + stream->frame_done,
			  stream->frame_size - stream->frame_done, deadline_ns);
	if (n < 0)
		return (int)n;
	stream->frame_done += (size_t)n;
	if (stream->frame_done != stream->frame_size)
		return -EAGAIN;
	if (stream->commit != NULL)
		commit(stream);
	return 0;
}

/* Empties BUFFER into the frame, which is free. */
static int compress(struct hs_stream *stream, struct hs_buffer *buffer)
{
	struct hs_tag tag = {
		.kind = (uint8_t)buffer->kind,
		.flags = stream->tag_flags,
		.stream = stream->id,
		.snapshot = buffer->snapshot,
		.seq = stream->seq,
		.time_ns = buffer->first_ns,
	};
	uint8_t *start = put_frame_start(buffer->data + HS_FRAME_START_MAX, stream->id, stream->seq,
					 buffer->first_ns);
	const size_t size = hs_frame_compress(
		stream->frame, stream->frame_cap, start,
		(size_t)(buffer->data + HS_FRAME_START_MAX + buffer->used - start), &tag);

	if (size == 0) {
		/* Cannot happen: the bounds hold. */
		stream->sink->error = -EIO;
		return -EIO;
	}
	buffer->used = 0;
	stream->seq++;
	stream->bytes_out += size;
	stream->frame_done = 0;
	stream->frame_size = size;
	if (stream->commit != NULL)
		stream->commit->is_writing = 1;
	return 0;
}

static int compress_oldest(struct hs_stream *stream)
{
	int error = compress(stream, &stream->buffers[stream->n_taken % HS_N_BUFFERS]);

	if (error == 0)
		stream->n_taken++;
	return error;
}

int hs_stream_finish(struct hs_stream *stream, uint64_t deadline_ns)
{
	int error = write_pending(stream, deadline_ns);

	while (error == 0 && hs_stream_queued(stream) != 0) {
		error = compress_oldest(stream);
		if (error == 0)
			error = write_pending(stream, deadline_ns);
	}
	return error;
}

/*
 * With the turn: what is pending, until DEADLINE_NS, and one frame of the queue,
 * until NEXT_NS; its buffer is free before it is written.
 */
static int step(struct hs_stream *stream, uint64_t deadline_ns, uint64_t next_ns)
{
	int error = write_pending(stream, deadline_ns);

	if (error == 0 && hs_stream_queued(stream) != 0) {
		error = compress_oldest(stream);
		if (error == 0)
			error = write_pending(stream, next_ns);
	}
	if (stream->sink->error != 0)
		atomic_store(&stream->shared_error, stream->sink->error);
	return error;
}

static bool change_turn(struct hs_stream *stream, enum hs_turn from, enum hs_turn to)
{
	int expected = (int)from;

	return atomic_compare_exchange_strong(&stream->turn, &expected, (int)to);
}

static void nap(unsigned n_tries)
{
	const struct timespec time = {0, NAP_NS};

	if (n_tries < N_YIELDS)
		sched_yield();
	else
		nanosleep(&time, NULL);
}

/* For the owner of a shared stream: waits until there is a buffer behind the one that it fills. */
static int wait_for_buffer(struct hs_stream *stream, uint64_t deadline_ns)
{
	unsigned n_tries = 0;
	int error = 0;

	while (error == 0 && hs_stream_queued(stream) == HS_N_BUFFERS - 1) {
		if (change_turn(stream, HS_TURN_FREE, HS_TURN_TAKEN)) {
			/* That buffer is all it needs: a slow reader is the helper's. */
			error = step(stream, deadline_ns, 0);
			atomic_store(&stream->turn, HS_TURN_FREE);
			continue;
		}
		error = atomic_load(&stream->shared_error);
		if (error == 0 && (deadline_ns == 0 || hs_monotonic_ns() >= deadline_ns))
			return -EAGAIN;
		nap(n_tries++);
	}
	/* A frame that is pending has left its buffer. */
	if (error == -EAGAIN && hs_stream_queued(stream) < HS_N_BUFFERS - 1)
		return 0;
	return error != 0 ? error : atomic_load(&stream->shared_error);
}

static int hand_over(struct hs_stream *stream, uint64_t deadline_ns)
{
	int error = wait_for_buffer(stream, deadline_ns);

	if (error != 0)
		return error;
	stream->n_queued++;
	stream->wake();
	return 0;
}

int hs_stream_flush_buffer(struct hs_stream *stream, struct hs_buffer *buffer, uint64_t deadline_ns)
{
	int error;

	if (hs_stream_is_shared(stream))
		return buffer->used == 0 ? atomic_load(&stream->shared_error)
					 : hand_over(stream, deadline_ns);
	error = hs_stream_finish(stream, deadline_ns);
	if (error != 0 || buffer->used == 0)
		return error;
	if (stream->is_held)
		return -EAGAIN;
	error = compress(stream, buffer);
	if (error == 0)
		error = write_pending(stream, deadline_ns);
	return error == -EAGAIN ? 0 : error;
}

bool hs_stream_share(struct hs_stream *stream, void (*wake)(void))
{
	if (stream->is_held || stream->sink->error != 0 || hs_stream_is_pending(stream))
		return false;
	for (int i = 0; i < HS_N_BUFFERS; i++)
		if (stream->buffers[i].used != 0)
			return false;
	stream->n_queued = stream->n_taken = 0;
	stream->shared_error = 0;
	stream->wake = wake;
	atomic_store(&stream->turn, HS_TURN_FREE);
	return true;
}

bool hs_stream_unshare(struct hs_stream *stream)
{
	for (;;) {
		if (change_turn(stream, HS_TURN_FREE, HS_TURN_OWNER))
			return true;
		if (change_turn(stream, HS_TURN_TAKEN, HS_TURN_LEFT))
			return false;
	}
}

bool hs_stream_is_shared(const struct hs_stream *stream)
{
	return stream->turn != HS_TURN_OWNER;
}

enum hs_help hs_stream_help(struct hs_stream *stream, uint64_t deadline_ns)
{
	bool is_more;

	if (!change_turn(stream, HS_TURN_FREE, HS_TURN_TAKEN))
		return HS_HELP_NONE;
	is_more = step(stream, deadline_ns, deadline_ns) == -EAGAIN ||
		  (hs_stream_queued(stream) != 0 && stream->sink->error == 0);
	if (change_turn(stream, HS_TURN_TAKEN, HS_TURN_FREE))
		return is_more ? HS_HELP_MORE : HS_HELP_NONE;
	atomic_store(&stream->turn, HS_TURN_OWNER);
	return HS_HELP_OWNER;
}

void hs_stream_hold(struct hs_stream *stream, struct hs_stream_commit *into)
{
	stream->commit = into;
	commit(stream);
	stream->is_held = true;
}

void hs_stream_take_over(struct hs_stream *stream)
{
	stream->is_held = false;
	for (int i = 0; i < HS_N_BUFFERS; i++)
		stream->buffers[i].used = 0;
}

void hs_stream_continue(struct hs_stream *stream, bool is_torn)
{
	const struct hs_stream_mark *mark = &stream->commit->marks[stream->commit->n % 2];

	stream->seq = mark->frames + is_torn;
	stream->bytes_out = mark->bytes_out;
	stream->sink->bytes = mark->sink_bytes;
	stream->commit = NULL;
	stream->is_held = false;
}

uint64_t hs_stream_frames(const struct hs_stream *stream)
{
	return stream->seq;
}

uint64_t hs_stream_frame_bytes_out(const struct hs_stream *stream)
{
	return stream->bytes_out;
}

bool hs_stream_is_pending(const struct hs_stream *stream)
{
	return stream->frame_done != stream->frame_size || hs_stream_queued(stream) != 0;
}
