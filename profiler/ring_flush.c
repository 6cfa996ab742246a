/* SPDX-License-Identifier: MIT */
/*
 * Writing out what the ring holds, while the program goes on.
 *
 * The one who asks opens the file and waits; the writer copies, since frames
 * must not be overwritten meanwhile.  It copies in parts, and lets the
 * collecting thread have the stream in between: what the ring drops then is
 * missing from the copy as it is from the ring.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emit/frame.h"
#include "profiler/output.h"
#include "profiler/recorder.h"
#include "profiler/ring.h"

/* Longest wait of the one who asks, and longest part that is copied at a time. */
#define WAIT_NS     (30 * HS_NS_PER_S)
#define PART_BYTES  ((uint64_t)4 << 20)
#define CHUNK_BYTES ((size_t)16 << 10)

enum { IDLE, FILLING, ASKED, COPYING, LEFT, DONE };

static struct {
	_Atomic int state;
	struct hs_sink sink;
	bool is_begun;
	uint64_t end_seq;  /* frames from this number on are not asked for */
	uint64_t next_seq; /* those before were copied, or are gone */
	uint64_t n_frames;
	uint64_t last_ns;
	int result;
} flush;

static bool change(int from, int to)
{
	return atomic_compare_exchange_strong(&flush.state, &from, to);
}

bool hs_ring_is_asked(void)
{
	const int state = atomic_load(&flush.state);

	return state == ASKED || state == COPYING || state == LEFT;
}

/* The writer's part is over; the one who asked closes, if it still waits. */
static void done(int result)
{
	flush.result = result;
	if (change(COPYING, DONE))
		return;
	hs_sink_close(&flush.sink, 0);
	atomic_store(&flush.state, IDLE);
}

void hs_ring_refuse(int error)
{
	if (change(ASKED, COPYING) || atomic_load(&flush.state) == COPYING ||
	    atomic_load(&flush.state) == LEFT)
		done(error);
}

static int copy_frame(const struct hs_ring *ring, const struct hs_ring_place *place)
{
	uint8_t chunk[CHUNK_BYTES];
	uint64_t at = place->at, left = place->bytes;

	while (left > 0) {
		const size_t n = left < sizeof chunk ? (size_t)left : sizeof chunk;
		int error = ring->storage.read(ring->storage.data, at, chunk, n);
		ssize_t written = error ? error : hs_sink_write(&flush.sink, chunk, n, 0);
		if (written < 0)
			return (int)written;
		if ((size_t)written < n)
			return -EIO;
		at += n;
		left -= n;
	}
	return 0;
}

/* The copy ends in order, though the recording goes on. */
static int put_end(uint64_t seq)
{
	Heapshot__FrameStart start = HEAPSHOT__FRAME_START__INIT;
	Heapshot__End end = HEAPSHOT__END__INIT;
	Heapshot__Record records[2] = {HEAPSHOT__RECORD__INIT, HEAPSHOT__RECORD__INIT};
	Heapshot__Record *pointers[] = {&records[0], &records[1]};
	Heapshot__Stream stream = HEAPSHOT__STREAM__INIT;
	struct hs_tag tag = {.kind = HS_FRAME_END,
			     .flags = HS_TAG_FLAG_RING,
			     .stream = hs_recorder.id,
			     .seq = seq,
			     .time_ns = hs_since_start(hs_monotonic_ns())};
	uint8_t raw[512], frame[1024];
	size_t size;

	start.stream = hs_recorder.id;
	start.seq = seq;
	start.time_ns = tag.time_ns;
	end.reason = HEAPSHOT__END_REASON__END_REASON_FLUSHED;
	end.note = (char *)(uintptr_t) "written out of a ring, which holds no snapshots";
	records[0].body_case = HEAPSHOT__RECORD__BODY_FRAME_START;
	records[0].frame_start = &start;
	records[1].body_case = HEAPSHOT__RECORD__BODY_END;
	records[1].end = &end;
	stream.n_record = 2;
	stream.record = pointers;
	if (heapshot__stream__get_packed_size(&stream) > sizeof raw ||
	    hs_frame_bound(sizeof raw) > sizeof frame)
		return -EMSGSIZE;
	size = hs_frame_compress(frame, sizeof frame, raw, heapshot__stream__pack(&stream, raw),
				 &tag);
	if (size == 0)
		return -EIO;
	return hs_sink_write(&flush.sink, frame, size, 0) == (ssize_t)size ? 0 : -EIO;
}

/* Copies up to PART_BYTES; 1 when nothing is left, 0 when there is more. */
static int copy_part(void)
{
	struct hs_ring_cursor cursor;
	struct hs_ring_place place;
	uint64_t next_seq, copied = 0;
	const struct hs_ring *ring = hs_ring_file(&next_seq);
	int result;

	if (!flush.is_begun) {
		flush.is_begun = true;
		flush.end_seq = next_seq;
	}
	result = ring->error ? ring->error : hs_ring_rewind(ring, &cursor);
	if (result < 0)
		return result;
	while ((result = hs_ring_next(ring, &cursor, &place)) > 0) {
		if (place.tag.seq < flush.next_seq)
			continue;
		if (place.tag.seq >= flush.end_seq)
			return 1;
		result = copy_frame(ring, &place);
		if (result < 0)
			return result;
		flush.next_seq = place.tag.seq + 1;
		flush.n_frames++;
		copied += place.bytes;
		if (copied >= PART_BYTES || atomic_load(&hs_recorder.is_owner_wanted))
			return 0;
	}
	return result < 0 ? result : 1;
}

void hs_ring_answer(void)
{
	int result;

	if (!change(ASKED, COPYING) && !hs_ring_is_asked())
		return;
	result = copy_part();
	if (result == 1)
		result = put_end(flush.end_seq);
	else if (result == 0) {
		hs_wake(hs_recorder.wake_writer);
		return;
	}
	done(result);
}

static int64_t fail(int error, char *message, size_t size, const char *text)
{
	snprintf(message, size, "%s", text);
	return error;
}

static int64_t wait_for_it(const char *path, uint64_t *n_dropped, char *message, size_t size)
{
	const uint64_t end = hs_monotonic_ns() + WAIT_NS;
	int64_t n_frames;
	int error;

	while (atomic_load(&flush.state) != DONE && hs_monotonic_ns() < end &&
	       !atomic_load(&hs_recorder.is_closed)) {
		hs_wake(hs_recorder.wake_writer);
		hs_sleep_ns(HS_NS_PER_MS);
	}
	if (change(ASKED, FILLING)) {
		error = -ETIMEDOUT;
	} else if (change(COPYING, LEFT)) {
		snprintf(message, size, "%s was not written in time", path);
		return -ETIMEDOUT;
	} else {
		error = flush.result;
	}
	*n_dropped = flush.end_seq - flush.n_frames;
	if (hs_sink_close(&flush.sink, 0) && !error)
		error = flush.sink.error;
	n_frames = (int64_t)flush.n_frames;
	atomic_store(&flush.state, IDLE);
	snprintf(message, size, error ? "cannot write %s: %s" : "%s", path,
		 error == -ENOTCONN ? "the recording ended" : strerror(-error));
	return error ? error : n_frames;
}

int64_t hs_ring_write_out(const char *path, uint64_t *n_dropped, char *message, size_t size)
{
	char used[HS_OPTIONS_VALUE_MAX];

	*n_dropped = 0;
	if (!hs_is_recording())
		return fail(-ENOTCONN, message, size, "nothing is being recorded");
	if (!hs_ring_is_on())
		return fail(-ENXIO, message, size, "there is no ring; see the option 'ring'");
	if (!path || !*path)
		return fail(-EINVAL, message, size, "no file is named");
	if (!change(IDLE, FILLING))
		return fail(-EBUSY, message, size, "the ring is being written out already");
	if (!hs_output_open_path(&flush.sink, path, used, sizeof used, message, size)) {
		atomic_store(&flush.state, IDLE);
		return -EIO;
	}
	flush.is_begun = false;
	flush.end_seq = flush.next_seq = flush.n_frames = 0;
	flush.result = 0;
	atomic_store(&flush.state, ASKED);
	return wait_for_it(used, n_dropped, message, size);
}
