/* SPDX-License-Identifier: MIT */
/*
 * The flight recorder's file, and which record goes where.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emit/ring_file.h"
#include "profiler/message.h"
#include "profiler/recorder.h"
#include "profiler/ring.h"

/* Small frames: little is lost with one, and a short ring holds many. */
#define FRAME_BYTES ((size_t)64 << 10)

static struct {
	bool is_on, is_failure_said;
	struct hs_ring_file file;
	struct hs_sink sink;
	void *memory;
	struct hs_stream *stream;
	char path[HS_OPTIONS_VALUE_MAX + 8];
} ring;

size_t hs_ring_memory_bytes(void)
{
	return hs_stream_bytes(FRAME_BYTES);
}

void hs_ring_reserve(void *memory)
{
	ring.memory = memory;
}

bool hs_ring_is_on(void)
{
	return ring.is_on;
}

const char *hs_ring_path(void)
{
	return ring.is_on ? ring.path : "";
}

/* Whether the file at PATH is an earlier ring; empty ones count as nothing. */
static bool is_ring(const char *path, bool *is_empty)
{
	uint8_t start[HS_RING_HEADER_USED];
	struct hs_ring_header header;
	bool is_intact = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, start, sizeof start);

	if (fd >= 0)
		close(fd);
	*is_empty = n == 0;
	return n == (ssize_t)sizeof start && hs_ring_header_decode(start, &header, &is_intact);
}

/* The ring of an earlier recording goes where that went. */
static bool make_old(void)
{
	char old[HS_OPTIONS_VALUE_MAX + 16];

	snprintf(old, sizeof old, "%s.old.ring", hs_recorder.output);
	return rename(ring.path, old) == 0;
}

static void put_back(void)
{
	char old[HS_OPTIONS_VALUE_MAX + 16];

	snprintf(old, sizeof old, "%s.old.ring", hs_recorder.output);
	/* Where that fails it stays there, and nothing is lost. */
	rename(old, ring.path);
}

/* What is another program's file is not ours to take away. */
static bool clear_place(bool *has_old, char *message, size_t size)
{
	struct stat status;
	bool is_empty;

	*has_old = false;
	if (lstat(ring.path, &status) < 0)
		return true;
	if (is_ring(ring.path, &is_empty)) {
		*has_old = make_old();
		if (*has_old)
			return true;
	} else if (S_ISREG(status.st_mode) && (is_empty || hs_recorder.options.overwrite)) {
		if (unlink(ring.path) == 0)
			return true;
	} else {
		snprintf(message, size,
			 "%s exists and is no ring; give another output, or the option 'overwrite'",
			 ring.path);
		return false;
	}
	snprintf(message, size, "cannot replace %s: %s", ring.path, strerror(errno));
	return false;
}

static const char *advice_of(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "; free some space, or give a smaller ring";
	case EFBIG:
		return "; raise the limit of file sizes (ulimit -f), or give a smaller ring";
	default:
		return "";
	}
}

static bool make(char *message, size_t size)
{
	const uint64_t bytes = (hs_recorder.options.ring_bytes + HS_RING_HEADER_BYTES - 1) &
			       ~(uint64_t)(HS_RING_HEADER_BYTES - 1);
	bool has_old;
	int error;

	if (!clear_place(&has_old, message, size))
		return false;
	error = hs_ring_file_create(&ring.file, ring.path, hs_recorder.id, bytes);
	if (error && has_old)
		put_back();
	if (error)
		snprintf(message, size, "cannot allocate %llu bytes for %s: %s%s",
			 (unsigned long long)bytes, ring.path, strerror(-error), advice_of(-error));
	return !error;
}

bool hs_ring_open(char *message, size_t size)
{
	struct hs_stream_config config = {
		.id = hs_recorder.id,
		.tag_flags = HS_TAG_FLAG_RING,
		.frame_bytes = FRAME_BYTES,
		.sink = &ring.sink,
	};
	bool is_empty;

	ring.is_on = ring.is_failure_said = false;
	snprintf(ring.path, sizeof ring.path, "%s.ring", hs_recorder.output);
	if (!hs_recorder.options.ring_bytes) {
		if (hs_recorder.sink.is_regular && is_ring(ring.path, &is_empty))
			make_old();
		return true;
	}
	if (!hs_recorder.sink.is_regular) {
		snprintf(message, size, "option 'ring' needs a file as output, and %s is none",
			 hs_recorder.output);
		return false;
	}
	if (!make(message, size))
		return false;
	hs_sink_open_callback(&ring.sink, hs_ring_file_put, &ring.file);
	ring.stream = hs_stream_init(ring.memory, &config);
	ring.is_on = true;
	return true;
}

void hs_ring_close(void)
{
	ring.is_on = false;
	hs_ring_file_close(&ring.file);
}

/* A record of a kind that only the ring takes is lost with it. */
static int ring_result(enum hs_frame_kind kind, uint32_t body_field, int error)
{
	if (error == -EMSGSIZE)
		return error;
	if (error && kind == HS_FRAME_EVENTS && body_field != HEAPSHOT__RECORD__BODY_LOSS)
		hs_count_loss(HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS, 1);
	return 0;
}

int hs_record_put(enum hs_frame_kind kind, uint64_t time_ns, Heapshot__Record *record,
		  uint64_t deadline_ns)
{
	int error = 0;

	/* What was lost is stated in both files; the end of the recording as well. */
	if (!ring.is_on || kind != HS_FRAME_EVENTS ||
	    record->body_case == HEAPSHOT__RECORD__BODY_LOSS)
		error = hs_stream_put(hs_recorder.stream, kind, time_ns, record, deadline_ns);
	/* A slow output is tried again with the same record: the ring gets it once. */
	if (error || !ring.is_on)
		return error;
	return ring_result(kind, (uint32_t)record->body_case,
			   hs_stream_put(ring.stream, kind, time_ns, record, 0));
}

static int put_raw(struct hs_stream *stream, enum hs_frame_kind kind, uint64_t time_ns,
		   uint32_t body_field, size_t body_bytes, hs_record_encode *encode,
		   const void *message, uint64_t deadline_ns)
{
	int error;
	uint8_t *out = hs_stream_put_raw(stream, kind, time_ns, body_field, body_bytes, deadline_ns,
					 &error);

	if (out)
		encode(out, message);
	return error;
}

int hs_record_put_raw(enum hs_frame_kind kind, uint64_t time_ns, uint32_t body_field,
		      size_t body_bytes, hs_record_encode *encode, const void *message,
		      uint64_t deadline_ns)
{
	int error = 0;

	if (!ring.is_on || kind != HS_FRAME_EVENTS)
		error = put_raw(hs_recorder.stream, kind, time_ns, body_field, body_bytes, encode,
				message, deadline_ns);
	if (error || !ring.is_on)
		return error;
	return ring_result(
		kind, body_field,
		put_raw(ring.stream, kind, time_ns, body_field, body_bytes, encode, message, 0));
}

void hs_ring_flush(void)
{
	if (ring.is_on)
		hs_stream_flush_all(ring.stream, 0);
}

const struct hs_ring *hs_ring_file(uint64_t *next_seq)
{
	*next_seq = hs_stream_frames(ring.stream);
	return &ring.file.ring;
}

void hs_ring_say_failure(void)
{
	if (!ring.is_on || ring.is_failure_said || !ring.sink.error)
		return;
	ring.is_failure_said = true;
	hs_message("the flight recorder %s ended: %s; snapshots go on to %s", ring.path,
		   strerror(-ring.sink.error), hs_recorder.output);
}
