/* SPDX-License-Identifier: MIT */
/*
 * Streams: records come back in order with their times, whatever cuts the
 * output, and at whatever byte the sink fails.
 */
#include "emit/stream.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit/clock.h"
#include "schema/varint.h"
#include "tests/unit/frame_reader.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/malloc_count.h"

TestSuite(stream, .fini = leak_check);

#define FRAME_BYTES (256u << 10)

static struct hs_stream *make_stream(void *memory, struct hs_sink *sink, size_t frame_bytes)
{
	const struct hs_stream_config config = {
		.id = 0x12345678, .frame_bytes = frame_bytes, .sink = sink};

	/* What was in the memory before does not matter. */
	memset(memory, 0xA5, 4096);
	return hs_stream_init(memory, &config);
}

/* In memory of its exact size, so that writing past it is seen; to be freed. */
static struct hs_stream *new_stream(struct hs_sink *sink, size_t frame_bytes)
{
	void *memory = NULL;

	cr_assert_eq(posix_memalign(&memory, 4096, hs_stream_bytes(frame_bytes)), 0);
	return make_stream(memory, sink, frame_bytes);
}

/* A marker: the record that the tests use, since it carries any text. */
static int put_marker(struct hs_stream *stream, enum hs_frame_kind kind, uint64_t time_ns,
		      const char *text, uint64_t deadline_ns)
{
	Heapshot__Marker marker;
	Heapshot__Record record = HEAPSHOT__RECORD__INIT;
	char copy[256];

	heapshot__marker__init(&marker);
	strcpy(copy, text);
	marker.label = copy;
	record.body_case = HEAPSHOT__RECORD__BODY_MARKER;
	record.marker = &marker;
	return hs_stream_put(stream, kind, time_ns, &record, deadline_ns);
}

/* The same by hand: field 1 of Marker, of BYTES bytes of noise as letters. */
static int put_noise(struct hs_stream *stream, enum hs_frame_kind kind, uint64_t time_ns,
		     size_t bytes, uint64_t deadline_ns)
{
	const size_t head = 1 + hs_varint_size(bytes);
	uint8_t *out;
	int error;

	out = hs_stream_put_raw(stream, kind, time_ns, 23, head + bytes, deadline_ns, &error);
	if (out == NULL)
		return error;
	*out++ = 0x0A;
	out = hs_varint_put(out, bytes);
	fill_random(out, bytes, time_ns);
	for (size_t i = 0; i < bytes; i++)
		out[i] = (uint8_t)(' ' + out[i] % 64);
	return 0;
}

/* FrameStart repeats the tag, and the numbers of frames have no gap. */
static void check_frames(const struct read_frames *frames, size_t size)
{
	cr_assert_eq(frames->used, size);
	for (size_t i = 0; i < frames->n; i++) {
		const struct read_frame *frame = &frames->frames[i];
		const Heapshot__Record *first;

		cr_assert_not_null(frame->stream, "frame %zu unpacks", i);
		cr_assert_gt(frame->stream->n_record, 1);
		first = frame->stream->record[0];
		cr_assert_eq(first->body_case, HEAPSHOT__RECORD__BODY_FRAME_START);
		cr_expect_eq(first->time_delta_ns, 0);
		cr_expect_eq(first->frame_start->stream, 0x12345678);
		cr_expect_eq(first->frame_start->seq, i);
		cr_expect_eq(first->frame_start->time_ns, frame->tag.time_ns);
		cr_expect_eq(frame->tag.stream, 0x12345678);
		cr_expect_eq(frame->tag.seq, i);
		/* What generated code makes of it is the same, byte by byte. */
		uint8_t *packed = malloc(frame->tag.raw_bytes);
		cr_assert_eq(heapshot__stream__get_packed_size(frame->stream),
			     frame->tag.raw_bytes);
		heapshot__stream__pack(frame->stream, packed);
		cr_expect_eq(memcmp(packed, frame->raw, frame->tag.raw_bytes), 0);
		free(packed);
	}
}

static const struct {
	enum hs_frame_kind kind;
	uint32_t snapshot;
	uint64_t time_ns;
	const char *text;
} script[] = {
	{HS_FRAME_METADATA, 0, 0, "header"},
	{HS_FRAME_EVENTS, 0, 5, "gc"},
	{HS_FRAME_METADATA, 0, 1000, "type"},
	{HS_FRAME_METADATA, 0, 900, "logged late by another thread"},
	{HS_FRAME_SNAPSHOT_BEGIN, 1, UINT64_C(1) << 40, "begin 1"},
	{HS_FRAME_SNAPSHOT_BODY, 1, (UINT64_C(1) << 40) + 7, "body 1"},
	{HS_FRAME_SNAPSHOT_BODY, 1, (UINT64_C(1) << 40) + 7, "body 1 again"},
	{HS_FRAME_EVENTS, 1, (UINT64_C(1) << 40) + 8, "gc end"},
	{HS_FRAME_SNAPSHOT_END, 1, (UINT64_C(1) << 40) + 9, "end 1"},
	{HS_FRAME_SNAPSHOT_END, 2, (UINT64_C(1) << 40) + 10, "end 2"},
	{HS_FRAME_END, 2, (UINT64_C(1) << 40) + 11, "end of all"},
};

#define N_SCRIPT (sizeof(script) / sizeof(*script))

/* Runs the script; returns the first error. */
static int run_script(struct hs_stream *stream, uint64_t deadline_ns)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < N_SCRIPT; i++) {
		hs_stream_set_snapshot(stream, script[i].snapshot);
		error = put_marker(stream, script[i].kind, script[i].time_ns, script[i].text,
				   deadline_ns);
	}
	return error != 0 ? error : hs_stream_flush_all(stream, deadline_ns);
}

/* What the script must give, from a callback that takes all. */
static struct bytes script_output(void)
{
	struct bytes out = {0};
	struct hs_sink sink;
	struct hs_stream *stream;

	hs_sink_open_callback(&sink, bytes_callback, &out);
	stream = new_stream(&sink, FRAME_BYTES);
	cr_assert_eq(run_script(stream, 0), 0);
	cr_expect_eq(hs_stream_frame_bytes_out(stream), out.size);
	cr_expect_eq(sink.bytes, out.size);
	cr_expect_eq(hs_stream_is_pending(stream), false);
	free(stream);
	return out;
}

Test(stream, records_come_back)
{
	/* In order of writing: kinds, snapshots, and the records of each frame. */
	static const struct {
		enum hs_frame_kind kind;
		uint32_t snapshot;
		int records[4];
	} expected[] = {
		{HS_FRAME_SNAPSHOT_BEGIN, 1, {4, -1}}, {HS_FRAME_SNAPSHOT_BODY, 1, {5, 6, -1}},
		{HS_FRAME_SNAPSHOT_END, 1, {8, -1}},   {HS_FRAME_SNAPSHOT_END, 2, {9, -1}},
		{HS_FRAME_METADATA, 0, {0, 2, 3, -1}}, {HS_FRAME_EVENTS, 0, {1, 7, -1}},
		{HS_FRAME_END, 0, {10, -1}},
	};
	struct bytes out = script_output();
	struct read_frames frames = read_frames(out.data, out.size);

	check_frames(&frames, out.size);
	cr_assert_eq(frames.n, sizeof(expected) / sizeof(*expected));
	for (size_t i = 0; i < frames.n; i++) {
		const struct read_frame *frame = &frames.frames[i];
		uint64_t time_ns = frame->tag.time_ns;
		size_t j;

		cr_expect_eq(frame->tag.kind, expected[i].kind);
		cr_expect_eq(frame->tag.snapshot, expected[i].snapshot);
		for (j = 0; expected[i].records[j] >= 0; j++) {
			const Heapshot__Record *record = frame->stream->record[j + 1];
			const int n = expected[i].records[j];

			time_ns += (uint64_t)record->time_delta_ns;
			cr_expect_eq(time_ns, script[n].time_ns);
			cr_assert_eq(record->body_case, HEAPSHOT__RECORD__BODY_MARKER);
			cr_expect_str_eq(record->marker->label, script[n].text);
		}
		cr_expect_eq(frame->stream->n_record, j + 1);
	}
	read_frames_free(&frames);
	bytes_free(&out);
}

Test(stream, whole_frames_survive_every_cut)
{
	struct bytes out = script_output();
	struct read_frames all = read_frames(out.data, out.size);

	for (size_t cut = 0; cut <= out.size; cut++) {
		/* A copy of that size, so that reading past its end is seen. */
		uint8_t *copy = malloc(cut);
		struct read_frames frames;
		size_t n = 0;

		if (cut != 0)
			memcpy(copy, out.data, cut);
		frames = read_frames(copy, cut);
		while (n < all.n && all.frames[n].end <= cut)
			n++;
		cr_assert_eq(frames.n, n, "cut at %zu", cut);
		read_frames_free(&frames);
		free(copy);
	}
	read_frames_free(&all);
	bytes_free(&out);
}

Test(stream, raw_records_equal_generated_ones)
{
	static const uint64_t times_ns[] = {10, 10, 11, 200, 150, UINT64_C(1) << 50, 0, 1};
	static const size_t sizes[] = {0, 1, 110, 127, 128, 240};
	struct bytes by_hand = {0}, generated = {0};
	struct hs_sink sinks[2];
	struct hs_stream *streams[2];
	char text[256];

	hs_sink_open_callback(&sinks[0], bytes_callback, &by_hand);
	hs_sink_open_callback(&sinks[1], bytes_callback, &generated);
	for (int i = 0; i < 2; i++)
		streams[i] = new_stream(&sinks[i], FRAME_BYTES);
	for (size_t t = 0; t < sizeof(times_ns) / sizeof(*times_ns); t++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
			Heapshot__Marker marker;
			uint8_t *body;
			int error;

			heapshot__marker__init(&marker);
			memset(text, 'x', sizes[s]);
			text[sizes[s]] = 0;
			marker.label = text;
			body = hs_stream_put_raw(streams[0], HS_FRAME_EVENTS, times_ns[t], 23,
						 heapshot__marker__get_packed_size(&marker), 0,
						 &error);
			cr_assert_not_null(body);
			cr_assert_eq(error, 0);
			heapshot__marker__pack(&marker, body);
			cr_assert_eq(put_marker(streams[1], HS_FRAME_EVENTS, times_ns[t], text, 0),
				     0);
			cr_assert_eq(hs_stream_buffered(streams[0], HS_FRAME_EVENTS),
				     hs_stream_buffered(streams[1], HS_FRAME_EVENTS));
		}
	}
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(hs_stream_flush(streams[i], HS_FRAME_EVENTS, 0), 0);
		cr_expect_eq(hs_stream_buffered(streams[i], HS_FRAME_EVENTS), 0);
		free(streams[i]);
	}
	cr_assert_eq(by_hand.size, generated.size);
	cr_expect_eq(memcmp(by_hand.data, generated.data, generated.size), 0);
	bytes_free(&by_hand);
	bytes_free(&generated);
}

Test(stream, frames_are_flushed_by_size)
{
	static const size_t frame_sizes[] = {1, 64 << 10, 256 << 10, 1 << 20, 8 << 20};
	static const size_t record_sizes[] = {200, 5000, 65000, HS_RECORD_MAX - 16};

	cr_expect_lt(hs_stream_bytes(256 << 10), 1300000);
	for (size_t f = 0; f < sizeof(frame_sizes) / sizeof(*frame_sizes); f++) {
		for (size_t r = 0; r < sizeof(record_sizes) / sizeof(*record_sizes); r++) {
			struct bytes out = {0};
			struct hs_sink sink;
			struct hs_stream *stream;
			struct read_frames frames;
			size_t n = 3000000 / record_sizes[r], n_read = 0;
			size_t limit = frame_sizes[f];

			limit = limit < 64 << 10 ? 64 << 10 : limit > 1 << 20 ? 1 << 20 : limit;
			hs_sink_open_callback(&sink, bytes_callback, &out);
			stream = new_stream(&sink, frame_sizes[f]);
			for (size_t i = 0; i < n; i++)
				cr_assert_eq(
					put_noise(stream, HS_FRAME_EVENTS, i, record_sizes[r], 0),
					0);
			cr_assert_eq(hs_stream_flush_all(stream, 0), 0);
			frames = read_frames(out.data, out.size);
			check_frames(&frames, out.size);
			cr_expect_eq(frames.n, hs_stream_frames(stream));
			for (size_t i = 0; i < frames.n; i++) {
				const struct read_frame *frame = &frames.frames[i];

				n_read += frame->stream->n_record - 1;
				cr_expect(frame->tag.raw_bytes <= limit ||
					  frame->stream->n_record == 2);
				/* And not before it is full. */
				cr_expect(i + 1 == frames.n ||
					  frame->tag.raw_bytes + record_sizes[r] + 64 > limit);
			}
			cr_expect_eq(n_read, n);
			read_frames_free(&frames);
			free(stream);
			bytes_free(&out);
		}
	}
}

Test(stream, too_long_records_are_refused)
{
	Heapshot__Marker marker;
	Heapshot__Record record = HEAPSHOT__RECORD__INIT;
	struct bytes out = {0};
	struct hs_sink sink;
	struct hs_stream *stream;
	int error = 0;

	hs_sink_open_callback(&sink, bytes_callback, &out);
	stream = new_stream(&sink, 64 << 10);
	heapshot__marker__init(&marker);
	marker.label = calloc(1, HS_RECORD_MAX + 1);
	memset(marker.label, 'x', HS_RECORD_MAX);
	record.body_case = HEAPSHOT__RECORD__BODY_MARKER;
	record.marker = &marker;
	cr_expect_eq(hs_stream_put(stream, HS_FRAME_EVENTS, 1, &record, 0), -EMSGSIZE);
	cr_expect_null(hs_stream_put_raw(stream, HS_FRAME_EVENTS, 1, 23, HS_RECORD_MAX, 0, &error));
	cr_expect_eq(error, -EMSGSIZE);
	cr_expect_null(hs_stream_put_raw(stream, HS_FRAME_EVENTS, 1, 23, SIZE_MAX, 0, &error));
	cr_expect_eq(error, -EMSGSIZE);

	/* Its key and its length of three bytes count too. */
	marker.label[HS_RECORD_MAX - 12] = 0;
	cr_expect_eq(heapshot__record__get_packed_size(&record), HS_RECORD_MAX - 3);
	cr_expect_eq(hs_stream_put(stream, HS_FRAME_EVENTS, 1, &record, 0), -EMSGSIZE);

	/* The longest legal one, and the stream goes on. */
	marker.label[HS_RECORD_MAX - 13] = 0;
	cr_expect_eq(heapshot__record__get_packed_size(&record), HS_RECORD_MAX - 4);
	cr_expect_eq(hs_stream_put(stream, HS_FRAME_EVENTS, 1, &record, 0), 0);
	cr_expect_eq(hs_stream_flush_all(stream, 0), 0);
	cr_expect_eq(hs_stream_error(stream), 0);
	struct read_frames frames = read_frames(out.data, out.size);
	cr_expect_eq(frames.n, 1);
	check_frames(&frames, out.size);
	read_frames_free(&frames);
	free(marker.label);
	free(stream);
	bytes_free(&out);
}

Test(stream, discard_keeps_what_is_not_of_the_snapshot)
{
	struct bytes out = {0};
	struct hs_sink sink;
	struct hs_stream *stream;
	struct read_frames frames;

	hs_sink_open_callback(&sink, bytes_callback, &out);
	stream = new_stream(&sink, FRAME_BYTES);
	hs_stream_set_snapshot(stream, 1);
	put_marker(stream, HS_FRAME_METADATA, 1, "name", 0);
	put_marker(stream, HS_FRAME_EVENTS, 1, "event", 0);
	put_marker(stream, HS_FRAME_SNAPSHOT_END, 1, "end 1", 0);
	hs_stream_set_snapshot(stream, 2);
	hs_stream_discard(stream, HS_FRAME_SNAPSHOT_BODY);
	cr_expect_gt(hs_stream_buffered(stream, HS_FRAME_SNAPSHOT_END), 0);
	put_marker(stream, HS_FRAME_SNAPSHOT_BEGIN, 2, "begin 2", 0);
	cr_expect_eq(hs_stream_buffered(stream, HS_FRAME_SNAPSHOT_END), 0);
	cr_expect_gt(hs_stream_buffered(stream, HS_FRAME_SNAPSHOT_BEGIN), 0);
	hs_stream_discard(stream, HS_FRAME_SNAPSHOT_BODY);
	cr_expect_eq(hs_stream_buffered(stream, HS_FRAME_SNAPSHOT_BEGIN), 0);
	put_marker(stream, HS_FRAME_END, 3, "end", 0);
	hs_stream_discard(stream, HS_FRAME_SNAPSHOT_BODY);
	cr_expect_eq(hs_stream_flush_all(stream, 0), 0);

	frames = read_frames(out.data, out.size);
	check_frames(&frames, out.size);
	cr_assert_eq(frames.n, 4);
	cr_expect_eq(frames.frames[0].tag.kind, HS_FRAME_SNAPSHOT_END);
	cr_expect_eq(frames.frames[0].tag.snapshot, 1);
	cr_expect_eq(frames.frames[1].tag.kind, HS_FRAME_METADATA);
	cr_expect_eq(frames.frames[2].tag.kind, HS_FRAME_EVENTS);
	cr_expect_eq(frames.frames[3].tag.kind, HS_FRAME_END);
	read_frames_free(&frames);
	free(stream);
	bytes_free(&out);
}

/* ---- a sink that fails at byte N ----------------------------------------- */

static struct {
	struct bytes out;
	size_t fail_at; /* with fail_errno, or 0: never */
	int fail_errno;
	bool is_once;      /* goes on after one failure */
	size_t write_max;  /* bytes of one write; 0: all */
	unsigned n_failed; /* calls that failed */
} hook;

static ssize_t hook_write(int fd, const void *data, size_t size)
{
	(void)fd;
	if (hook.write_max != 0 && size > hook.write_max)
		size = hook.write_max;
	if (hook.fail_errno != 0 && !(hook.is_once && hook.n_failed > 0)) {
		if (hook.out.size >= hook.fail_at) {
			hook.n_failed++;
			errno = hook.fail_errno;
			return -1;
		}
		if (size > hook.fail_at - hook.out.size)
			size = hook.fail_at - hook.out.size;
	}
	bytes_add(&hook.out, data, size);
	return (ssize_t)size;
}

/* In memory that stays, since thousands of them are made. */
static struct hs_stream *hooked_stream(struct hs_sink *sink, size_t frame_bytes)
{
	static _Alignas(4096) uint8_t memory[2 << 20];

	bytes_free(&hook.out);
	memset(&hook, 0, sizeof(hook));
	cr_assert_eq(hs_sink_open_file(sink, "/dev/null", false), 0);
	sink->write_hook = hook_write;
	return make_stream(memory, sink, frame_bytes);
}

Test(stream, first_error_sticks_at_every_byte)
{
	static const int errors[] = {ENOSPC, EPIPE, EFBIG, EIO, EBADF, EDQUOT};
	struct bytes right = script_output();

	for (size_t e = 0; e < sizeof(errors) / sizeof(*errors); e++) {
		for (size_t at = 0; at < right.size; at++) {
			struct hs_sink sink;
			struct hs_stream *stream = hooked_stream(&sink, FRAME_BYTES);

			hook.fail_at = at;
			hook.fail_errno = errors[e];
			hook.is_once = true;
			hook.write_max = at % 3 == 0 ? 0 : at % 3 * 29;
			cr_assert_eq(run_script(stream, 0), -errors[e]);
			cr_assert_eq(hook.out.size, at);
			cr_assert(at == 0 || memcmp(hook.out.data, right.data, at) == 0);
			/* The sink would take more now, but is asked no more. */
			cr_assert_eq(hs_stream_error(stream), -errors[e]);
			cr_assert_eq(put_marker(stream, HS_FRAME_EVENTS, 1, "", 0), -errors[e]);
			cr_assert_eq(hs_stream_flush_all(stream, 0), -errors[e]);
			cr_assert_eq(hook.n_failed, 1);
			cr_assert_eq(hook.out.size, at);
			cr_assert_eq(sink.bytes, at);
			cr_assert_eq(hs_sink_close(&sink, 0), -errors[e]);
		}
	}
	bytes_free(&hook.out);
	bytes_free(&right);
}

Test(stream, harmless_failures_lose_nothing)
{
	static const struct {
		int error;
		size_t write_max;
	} cases[] = {{EINTR, 0}, {EAGAIN, 0}, {0, 1}, {EINTR, 13}, {EAGAIN, 7}};
	struct bytes right = script_output();

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		const size_t n_places = cases[c].error != 0 ? right.size : 1;

		for (size_t at = 0; at < n_places; at++) {
			struct hs_sink sink;
			struct hs_stream *stream = hooked_stream(&sink, FRAME_BYTES);
			const uint64_t deadline_ns = hs_monotonic_ns() + 60 * HS_NS_PER_S;

			hook.fail_at = at;
			hook.fail_errno = cases[c].error;
			hook.is_once = true;
			hook.write_max = cases[c].write_max;
			cr_assert_eq(run_script(stream, deadline_ns), 0);
			cr_assert_eq(hook.n_failed, cases[c].error != 0);
			cr_assert_eq(hook.out.size, right.size);
			cr_assert_eq(memcmp(hook.out.data, right.data, right.size), 0);
			cr_assert_eq(hs_sink_close(&sink, 0), 0);
		}
	}
	bytes_free(&hook.out);
	bytes_free(&right);
}

/* A reader that stops at byte N leaves a pending frame, finished later. */
Test(stream, pending_frames_are_finished_first)
{
	struct bytes right = script_output();

	for (size_t at = 0; at < right.size; at++) {
		struct hs_sink sink;
		struct hs_stream *stream = hooked_stream(&sink, FRAME_BYTES);
		size_t i;

		hook.fail_at = at;
		hook.fail_errno = EAGAIN;
		for (i = 0; i < N_SCRIPT; i++) {
			hs_stream_set_snapshot(stream, script[i].snapshot);
			while (put_marker(stream, script[i].kind, script[i].time_ns, script[i].text,
					  0) == -EAGAIN) {
				cr_assert(hs_stream_is_pending(stream));
				cr_assert_eq(hook.out.size, at);
				hook.fail_errno = 0;
			}
		}
		if (hook.fail_errno != 0) {
			cr_assert_eq(hs_stream_flush_all(stream, 0), -EAGAIN);
			cr_assert(hs_stream_is_pending(stream));
			cr_assert_eq(hook.out.size, at);
			hook.fail_errno = 0;
		}
		cr_assert_eq(hs_stream_flush_all(stream, 0), 0);
		cr_assert_not(hs_stream_is_pending(stream));
		cr_assert_eq(hook.out.size, right.size, "stopped at %zu", at);
		cr_assert_eq(memcmp(hook.out.data, right.data, right.size), 0);
		hs_sink_close(&sink, 0);
	}
	bytes_free(&hook.out);
	bytes_free(&right);
}

/* While nothing goes out, buffers fill up; what does not fit is refused. */
Test(stream, refuses_when_full_and_recovers)
{
	static const size_t frame_sizes[] = {64 << 10, 256 << 10};

	for (size_t f = 0; f < 2; f++) {
		struct hs_sink sink;
		struct hs_stream *stream = hooked_stream(&sink, frame_sizes[f]);
		size_t n_put = 0, n_refused = 0, n_read = 0;
		struct read_frames frames;

		hook.fail_at = 100;
		hook.fail_errno = EAGAIN;
		for (uint64_t i = 0; i < 200; i++) {
			int error = put_noise(stream, HS_FRAME_EVENTS, i, 10000, 0);

			cr_assert(error == 0 || error == -EAGAIN);
			n_put += error == 0;
			n_refused += error == -EAGAIN;
		}
		cr_expect_gt(n_refused, 0);
		/* One frame is pending, another waits in the buffer. */
		cr_expect_geq(n_put, 2 * (frame_sizes[f] / 10100));
		/* Other kinds have their own room. */
		cr_expect_eq(put_noise(stream, HS_FRAME_METADATA, 1, 10000, 0), 0);
		cr_expect_eq(put_noise(stream, HS_FRAME_SNAPSHOT_BODY, 1, 10000, 0), 0);
		cr_expect_eq(put_noise(stream, HS_FRAME_SNAPSHOT_END, 1, 10000, 0), -EAGAIN);
		hook.fail_errno = 0;
		cr_expect_eq(hs_stream_flush_all(stream, 0), 0);
		frames = read_frames(hook.out.data, hook.out.size);
		check_frames(&frames, hook.out.size);
		for (size_t i = 0; i < frames.n; i++)
			n_read += frames.frames[i].stream->n_record - 1;
		cr_expect_eq(n_read, n_put + 2);
		read_frames_free(&frames);
		hs_sink_close(&sink, 0);
	}
	bytes_free(&hook.out);
}

static struct {
	struct bytes right;
	struct read_frames frames;
	unsigned n, fail_at;
} calls;

static int check_call(const void *data, size_t size, void *user_data)
{
	const struct read_frame *frame = &calls.frames.frames[calls.n];
	const size_t start = calls.n == 0 ? 0 : frame[-1].end;

	cr_assert_eq(user_data, &calls);
	cr_assert_eq(size, frame->end - start);
	cr_assert_eq(memcmp(data, calls.right.data + start, size), 0);
	return calls.n++ == calls.fail_at ? -ECANCELED : 0;
}

Test(stream, callback_gets_whole_frames)
{
	struct hs_sink sink;
	struct hs_stream *stream;

	calls.right = script_output();
	calls.frames = read_frames(calls.right.data, calls.right.size);
	for (calls.fail_at = 0; calls.fail_at <= calls.frames.n; calls.fail_at++) {
		const bool is_failing = calls.fail_at < calls.frames.n;

		calls.n = 0;
		hs_sink_open_callback(&sink, check_call, &calls);
		stream = new_stream(&sink, FRAME_BYTES);
		cr_expect_eq(run_script(stream, 0), is_failing ? -ECANCELED : 0);
		cr_expect_eq(calls.n, is_failing ? calls.fail_at + 1 : calls.frames.n);
		cr_expect_eq(hs_stream_flush_all(stream, 0), is_failing ? -ECANCELED : 0);
		cr_expect_eq(hs_sink_close(&sink, 0), is_failing ? -ECANCELED : 0);
		cr_expect_eq(hs_sink_write(&sink, "x", 1, 0), is_failing ? -ECANCELED : -EBADF);
		free(stream);
	}
	read_frames_free(&calls.frames);
	bytes_free(&calls.right);
}

Test(stream, allocates_nothing)
{
	struct hs_sink sinks[2];

	if (!malloc_count_is_available() || is_under_valgrind())
		cr_skip_test("allocations cannot be counted under AddressSanitizer and valgrind");
	hs_sink_open_null(&sinks[0]);
	cr_assert_eq(hs_sink_open_file(&sinks[1], "/dev/null", false), 0);
	for (size_t s = 0; s < 2; s++) {
		struct hs_stream *stream = new_stream(&sinks[s], FRAME_BYTES);
		uint64_t before = malloc_count(), after;
		int error = 0;

		for (uint64_t i = 0; i < 500 && error == 0; i++) {
			error = put_noise(stream, HS_FRAME_SNAPSHOT_BODY, i, 100 * i, 0);
			if (error == 0)
				error = put_marker(stream, HS_FRAME_EVENTS, i, "event", 0);
			if (error == 0 && i % 50 == 0)
				error = run_script(stream, 0);
		}
		after = malloc_count();
		cr_expect_eq(error, 0);
		cr_expect_gt(hs_stream_frames(stream), 50);
		cr_expect_eq(after, before);
		hs_sink_close(&sinks[s], 0);
		free(stream);
	}
}
