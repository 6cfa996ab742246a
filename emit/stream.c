/* SPDX-License-Identifier: MIT */
/*
 * Records into raw buffers, buffers into frames, frames into the sink.
 *
 * A frame gets its number when it is compressed, so its first record
 * (FrameStart) is written then, into room kept free before the other records.
 * From then on it is only ever finished: the numbers have no gaps.
 */
#include "emit/stream.h"

#include <errno.h>
#include <string.h>

#include "emit/frame.h"
#include "schema/varint.h"

#define STREAM_RECORD_TAG 0x0A /* Stream.record, length-delimited */
#define RECORD_DELTA_TAG  0x10 /* Record.time_delta_ns */

/* Longest FrameStart: three tags and varints, in two wrappers. */
#define FRAME_START_MAX (2 + 2 + (1 + 5) + (1 + HS_VARINT_MAX) + (1 + HS_VARINT_MAX))

/* Key and length of a record; HS_RECORD_MAX counts them too. */
#define WRAPPER_MAX 4

#define ALIGN(bytes) (((bytes) + 63) & ~(size_t)63)

enum { BUFFER_METADATA, BUFFER_EVENTS, BUFFER_SNAPSHOT, N_BUFFERS };

struct buffer {
	uint8_t *data;           /* records start at FRAME_START_MAX */
	size_t used;             /* bytes of records */
	enum hs_frame_kind kind; /* of what is in it */
	uint32_t snapshot;
	uint64_t first_ns, last_ns;
};

struct hs_stream {
	struct hs_sink *sink;
	uint32_t id;
	uint16_t tag_flags;
	uint32_t snapshot;
	size_t limit; /* bytes of records a frame is flushed at */
	size_t room;  /* bytes of records a buffer can hold, >= limit */
	uint64_t seq; /* of the next frame */
	uint64_t bytes_out;
	struct buffer buffers[N_BUFFERS];
	uint8_t *frame; /* the frame being written */
	size_t frame_cap;
	size_t frame_done, frame_size; /* equal: nothing is pending */
	bool is_held;
	struct hs_stream_commit *commit; /* while a child owns the sink */
};

static size_t clamp_frame_bytes(size_t frame_bytes)
{
	if (frame_bytes < 64u << 10)
		return 64u << 10;
	return frame_bytes > HS_FRAME_RAW_MAX ? HS_FRAME_RAW_MAX : frame_bytes;
}

/* A buffer takes at least one record of any legal size. */
static size_t buffer_bytes(size_t frame_bytes)
{
	const size_t least = HS_RECORD_MAX + 1024;

	return frame_bytes > least ? frame_bytes : least;
}

size_t hs_stream_bytes(size_t frame_bytes)
{
	const size_t raw = buffer_bytes(clamp_frame_bytes(frame_bytes));

	return ALIGN(sizeof(struct hs_stream)) + N_BUFFERS * ALIGN(raw) +
	       ALIGN(hs_frame_bound(raw));
}

struct hs_stream *hs_stream_init(void *memory, const struct hs_stream_config *config)
{
	const size_t frame_bytes = clamp_frame_bytes(config->frame_bytes);
	const size_t raw = buffer_bytes(frame_bytes);
	struct hs_stream *stream = memory;
	uint8_t *next = (uint8_t *)memory + ALIGN(sizeof(*stream));

	*stream = (struct hs_stream){
		.sink = config->sink,
		.id = config->id,
		.tag_flags = config->tag_flags,
		.limit = frame_bytes - FRAME_START_MAX,
		.room = raw - FRAME_START_MAX,
	};
	for (int i = 0; i < N_BUFFERS; i++) {
		stream->buffers[i].data = next;
		next += ALIGN(raw);
	}
	stream->frame = next;
	stream->frame_cap = hs_frame_bound(raw);
	return stream;
}

/* Snapshot frames come in order, so one buffer serves them all, and End too. */
static int buffer_index(enum hs_frame_kind kind)
{
	switch (kind) {
	case HS_FRAME_METADATA:
		return BUFFER_METADATA;
	case HS_FRAME_EVENTS:
		return BUFFER_EVENTS;
	default:
		return BUFFER_SNAPSHOT;
	}
}

static bool is_snapshot_kind(enum hs_frame_kind kind)
{
	return kind == HS_FRAME_SNAPSHOT_BEGIN || kind == HS_FRAME_SNAPSHOT_BODY ||
	       kind == HS_FRAME_SNAPSHOT_END;
}

static uint32_t snapshot_of(const struct hs_stream *stream, enum hs_frame_kind kind)
{
	return is_snapshot_kind(kind) ? stream->snapshot : 0;
}

/* Writes the FrameStart record so that it ends at END; returns its start. */
static uint8_t *put_frame_start(uint8_t *end, uint32_t id, uint64_t seq, uint64_t time_ns)
{
	uint8_t record[FRAME_START_MAX];
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
	record[0] = STREAM_RECORD_TAG;
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

/* Gives the sink what it has not taken yet; 0 when nothing is left. */
static int finish_pending(struct hs_stream *stream, uint64_t deadline_ns)
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

/*
 * Empties BUFFER into the frame and begins to write that.  0: the buffer is
 * empty now, though its frame may be pending.
 */
static int flush_buffer(struct hs_stream *stream, struct buffer *buffer, uint64_t deadline_ns)
{
	struct hs_tag tag = {
		.kind = (uint8_t)buffer->kind,
		.flags = stream->tag_flags,
		.stream = stream->id,
		.snapshot = buffer->snapshot,
		.seq = stream->seq,
		.time_ns = buffer->first_ns,
	};
	uint8_t *start;
	size_t size;
	int error = finish_pending(stream, deadline_ns);

	if (error != 0 || buffer->used == 0)
		return error;
	if (stream->is_held)
		return -EAGAIN;
	start = put_frame_start(buffer->data + FRAME_START_MAX, stream->id, stream->seq,
				buffer->first_ns);
	size = hs_frame_compress(stream->frame, stream->frame_cap, start,
				 (size_t)(buffer->data + FRAME_START_MAX + buffer->used - start),
				 &tag);
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
	error = finish_pending(stream, deadline_ns);
	return error == -EAGAIN ? 0 : error;
}

/* Time that the next record of BUFFER states. */
static int64_t time_delta(const struct buffer *buffer, uint64_t time_ns)
{
	return buffer->used == 0 ? 0 : (int64_t)(time_ns - buffer->last_ns);
}

/*
 * Makes the buffer of KIND ready for a record of at most RECORD_BYTES, which
 * are at least those it has as the first of a frame.
 */
static int make_room(struct hs_stream *stream, struct buffer *buffer, enum hs_frame_kind kind,
		     size_t record_bytes, uint64_t deadline_ns)
{
	const uint32_t snapshot = snapshot_of(stream, kind);
	const size_t need = WRAPPER_MAX + record_bytes;
	int error = stream->sink->error;

	if (error != 0)
		return error;
	if (1 + hs_varint_size(record_bytes) + record_bytes > HS_RECORD_MAX)
		return -EMSGSIZE;
	if (buffer->used == 0) {
		buffer->kind = kind;
		buffer->snapshot = snapshot;
		return 0;
	}
	if (buffer->kind == kind && buffer->snapshot == snapshot &&
	    buffer->used + need <= stream->limit)
		return 0;
	error = flush_buffer(stream, buffer, deadline_ns);
	if (error == 0) {
		buffer->kind = kind;
		buffer->snapshot = snapshot;
		return 0;
	}
	/* Small frames leave some room behind their limit for such times. */
	if (error == -EAGAIN && buffer->kind == kind && buffer->snapshot == snapshot &&
	    buffer->used + need <= stream->room)
		return 0;
	return error;
}

/* Writes the wrapper of a record of RECORD_BYTES; returns where that begins. */
static uint8_t *append(struct buffer *buffer, size_t record_bytes, uint64_t time_ns)
{
	uint8_t *start = buffer->data + FRAME_START_MAX + buffer->used;
	uint8_t *out = start;

	if (buffer->used == 0)
		buffer->first_ns = time_ns;
	buffer->last_ns = time_ns;
	*out++ = STREAM_RECORD_TAG;
	out = hs_varint_put(out, record_bytes);
	buffer->used += (size_t)(out - start) + record_bytes;
	return out;
}

/* Bytes of the Record before its body. */
static size_t head_bytes(int64_t delta, uint32_t body_tag, size_t body_bytes)
{
	return (delta == 0 ? 0 : 1 + hs_varint_size(hs_zigzag(delta))) + hs_varint_size(body_tag) +
	       hs_varint_size(body_bytes);
}

uint8_t *hs_stream_put_raw(struct hs_stream *stream, enum hs_frame_kind kind, uint64_t time_ns,
			   uint32_t body_field, size_t body_bytes, uint64_t deadline_ns, int *error)
{
	struct buffer *buffer = &stream->buffers[buffer_index(kind)];
	const uint32_t body_tag = body_field << 3 | 2;
	int64_t delta = time_delta(buffer, time_ns);
	uint8_t *out;

	*error = body_bytes > HS_RECORD_MAX
			 ? -EMSGSIZE
			 : make_room(stream, buffer, kind,
				     head_bytes(delta, body_tag, body_bytes) + body_bytes,
				     deadline_ns);
	if (*error != 0)
		return NULL;
	delta = time_delta(buffer, time_ns);
	out = append(buffer, head_bytes(delta, body_tag, body_bytes) + body_bytes, time_ns);
	if (delta != 0) {
		*out++ = RECORD_DELTA_TAG;
		out = hs_varint_put(out, hs_zigzag(delta));
	}
	out = hs_varint_put(out, body_tag);
	return hs_varint_put(out, body_bytes);
}

/*
 * The Record around the body is written by hand: generated code would ask each
 * of its thirty fields, twice, whether it is the one, and events are small.
 */
int hs_stream_put(struct hs_stream *stream, enum hs_frame_kind kind, uint64_t time_ns,
		  const Heapshot__Record *record, uint64_t deadline_ns)
{
	/* All members of the body are pointers to messages, at one place. */
	const ProtobufCMessage *body = &record->frame_start->base;
	uint8_t *out;
	int error;

	out = hs_stream_put_raw(stream, kind, time_ns, (uint32_t)record->body_case,
				protobuf_c_message_get_packed_size(body), deadline_ns, &error);
	if (out != NULL)
		protobuf_c_message_pack(body, out);
	return error;
}

void hs_stream_set_snapshot(struct hs_stream *stream, uint32_t snapshot)
{
	stream->snapshot = snapshot;
}

int hs_stream_flush(struct hs_stream *stream, enum hs_frame_kind kind, uint64_t deadline_ns)
{
	struct buffer *buffer = &stream->buffers[buffer_index(kind)];
	int error = flush_buffer(stream, buffer, deadline_ns);

	return error == 0 && hs_stream_is_pending(stream) ? -EAGAIN : error;
}

int hs_stream_flush_all(struct hs_stream *stream, uint64_t deadline_ns)
{
	static const enum hs_frame_kind kinds[] = {HS_FRAME_METADATA, HS_FRAME_EVENTS,
						   HS_FRAME_SNAPSHOT_BODY};
	int error = 0;

	for (size_t i = 0; error == 0 && i < sizeof(kinds) / sizeof(*kinds); i++)
		error = hs_stream_flush(stream, kinds[i], deadline_ns);
	return error;
}

void hs_stream_discard(struct hs_stream *stream, enum hs_frame_kind kind)
{
	struct buffer *buffer = &stream->buffers[buffer_index(kind)];

	/* An earlier snapshot's end may still be waiting there. */
	if (is_snapshot_kind(buffer->kind) == is_snapshot_kind(kind) &&
	    buffer->snapshot == snapshot_of(stream, kind))
		buffer->used = 0;
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
	for (int i = 0; i < N_BUFFERS; i++)
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

size_t hs_stream_buffered(const struct hs_stream *stream, enum hs_frame_kind kind)
{
	const struct buffer *buffer = &stream->buffers[buffer_index(kind)];

	return buffer->kind == kind ? buffer->used : 0;
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
	return stream->frame_done != stream->frame_size;
}

int hs_stream_error(const struct hs_stream *stream)
{
	return stream->sink->error;
}
