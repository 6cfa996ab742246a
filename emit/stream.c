/* SPDX-License-Identifier: MIT */
/*
 * Records into raw buffers.  From there on: stream_out.c.
 *
 * A frame gets its number when it is compressed, so its first record
 * (FrameStart) is written then, into room kept free before the other records.
 * From then on it is only ever finished: the numbers have no gaps.
 */
#include "emit/stream_parts.h"

#include <errno.h>

#include "emit/frame.h"

#define RECORD_DELTA_TAG 0x10 /* Record.time_delta_ns */

/* Key and length of a record; HS_RECORD_MAX counts them too. */
#define WRAPPER_MAX 4

#define ALIGN(bytes) (((bytes) + 63) & ~(size_t)63)

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

	return ALIGN(sizeof(struct hs_stream)) + HS_N_BUFFERS * ALIGN(raw) +
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
		.limit = frame_bytes - HS_FRAME_START_MAX,
		.room = raw - HS_FRAME_START_MAX,
	};
	for (int i = 0; i < HS_N_BUFFERS; i++) {
		stream->buffers[i].data = next;
		next += ALIGN(raw);
	}
	stream->frame = next;
	stream->frame_cap = hs_frame_bound(raw);
	return stream;
}

/* Snapshot frames come in order, so one buffer serves them all, and End too. */
static uint32_t role_of(enum hs_frame_kind kind)
{
	switch (kind) {
	case HS_FRAME_METADATA:
		return HS_BUFFER_METADATA;
	case HS_FRAME_EVENTS:
		return HS_BUFFER_EVENTS;
	default:
		return HS_BUFFER_SNAPSHOT;
	}
}

/*
 * While buffers are queued, those of metadata and events are lent to the
 * snapshot; behind them all are free, and it does not matter which is which.
 */
static struct hs_buffer *buffer_of(struct hs_stream *stream, enum hs_frame_kind kind)
{
	return &stream->buffers[(stream->n_queued + role_of(kind)) % HS_N_BUFFERS];
}

static bool is_lent(const struct hs_stream *stream, enum hs_frame_kind kind)
{
	return role_of(kind) != HS_BUFFER_SNAPSHOT &&
	       (hs_stream_is_shared(stream) || hs_stream_queued(stream) != 0);
}

static int sticky_error(const struct hs_stream *stream)
{
	return hs_stream_is_shared(stream) ? stream->shared_error : stream->sink->error;
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

/* Time that the next record of BUFFER states. */
static int64_t time_delta(const struct hs_buffer *buffer, uint64_t time_ns)
{
	return buffer->used == 0 ? 0 : (int64_t)(time_ns - buffer->last_ns);
}

/*
 * Makes a buffer ready for a record of KIND of at most RECORD_BYTES, which are at
 * least those it has as the first of a frame.  NULL with *error.
 */
static struct hs_buffer *make_room(struct hs_stream *stream, enum hs_frame_kind kind,
				   size_t record_bytes, uint64_t deadline_ns, int *error)
{
	const uint32_t snapshot = snapshot_of(stream, kind);
	const size_t need = WRAPPER_MAX + record_bytes;
	struct hs_buffer *buffer = buffer_of(stream, kind);

	*error = sticky_error(stream);
	if (*error == 0 && 1 + hs_varint_size(record_bytes) + record_bytes > HS_RECORD_MAX)
		*error = -EMSGSIZE;
	if (*error == 0 && is_lent(stream, kind))
		*error = hs_stream_is_shared(stream) ? -EAGAIN
						     : hs_stream_finish(stream, deadline_ns);
	if (*error != 0)
		return NULL;
	if (buffer->used != 0) {
		if (buffer->kind == kind && buffer->snapshot == snapshot &&
		    buffer->used + need <= stream->limit)
			return buffer;
		*error = hs_stream_flush_buffer(stream, buffer, deadline_ns);
		/* Small frames leave some room behind their limit for such times. */
		if (*error == -EAGAIN && buffer->kind == kind && buffer->snapshot == snapshot &&
		    buffer->used + need <= stream->room) {
			*error = 0;
			return buffer;
		}
		if (*error != 0)
			return NULL;
		/* It may have been handed over. */
		buffer = buffer_of(stream, kind);
	}
	buffer->kind = kind;
	buffer->snapshot = snapshot;
	return buffer;
}

/* Writes the wrapper of a record of RECORD_BYTES; returns where that begins. */
static uint8_t *append(struct hs_buffer *buffer, size_t record_bytes, uint64_t time_ns)
{
	uint8_t *start = buffer->data + HS_FRAME_START_MAX + buffer->used;
	uint8_t *out = start;

	if (buffer->used == 0)
		buffer->first_ns = time_ns;
	buffer->last_ns = time_ns;
	*out++ = HS_STREAM_RECORD_TAG;
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
	struct hs_buffer *buffer = buffer_of(stream, kind);
	const uint32_t body_tag = body_field << 3 | 2;
	int64_t delta = time_delta(buffer, time_ns);
	uint8_t *out;

	*error = body_bytes > HS_RECORD_MAX ? -EMSGSIZE : 0;
	if (*error == 0)
		buffer = make_room(stream, kind,
				   head_bytes(delta, body_tag, body_bytes) + body_bytes,
				   deadline_ns, error);
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
	int error = is_lent(stream, kind) && hs_stream_is_shared(stream)
			    ? -EAGAIN
			    : hs_stream_flush_buffer(stream, buffer_of(stream, kind), deadline_ns);

	if (error == 0 && !hs_stream_is_shared(stream) && hs_stream_is_pending(stream))
		return -EAGAIN;
	return error;
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
	struct hs_buffer *buffer = buffer_of(stream, kind);

	/* An earlier snapshot's end may still be waiting there. */
	if (is_snapshot_kind(buffer->kind) == is_snapshot_kind(kind) &&
	    buffer->snapshot == snapshot_of(stream, kind))
		buffer->used = 0;
}

size_t hs_stream_buffered(const struct hs_stream *stream, enum hs_frame_kind kind)
{
	const struct hs_buffer *buffer = buffer_of((struct hs_stream *)(uintptr_t)stream, kind);

	return !is_lent(stream, kind) && buffer->kind == kind ? buffer->used : 0;
}

int hs_stream_error(const struct hs_stream *stream)
{
	return sticky_error(stream);
}
