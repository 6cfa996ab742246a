/* SPDX-License-Identifier: MIT */
/*
 * A stream that two threads work on: whatever the helper does, also nothing, or
 * too late, what the sink gets is what one thread alone would give it.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit/clock.h"
#include "emit/stream.h"
#include "schema/varint.h"
#include "tests/unit/frame_reader.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/malloc_count.h"

TestSuite(share, .fini = leak_check);

#define FRAME_BYTES (64u << 10)
#define N_RECORDS   400u
#define PATIENCE_NS (60 * HS_NS_PER_S)
#define SHORT_NS    (200 * HS_NS_PER_MS)

enum manner { EAGER, WOKEN, LAZY, DEAD, N_MANNERS };

static struct {
	struct hs_stream *stream;
	enum manner manner;
	pthread_t thread;
	sem_t woken;
	_Atomic int is_ending, is_owner;
} helper;

/* ---- the sink ------------------------------------------------------------- */

static struct {
	struct bytes out;
	size_t fail_at; /* with ENOSPC; 0: never */
	size_t stop_at; /* the helper's first write from there on waits for `go`; 0: never */
	size_t full_at; /* a reader that takes no more than that; 0: never */
	sem_t has_stopped, go;
} hook;

/* Called by one thread at a time, which is a part of what is tested. */
static ssize_t hook_write(int fd, const void *data, size_t size)
{
	static _Atomic int n_inside;

	(void)fd;
	if (atomic_fetch_add(&n_inside, 1) != 0)
		abort();
	if (hook.stop_at != 0 && hook.out.size >= hook.stop_at &&
	    pthread_equal(pthread_self(), helper.thread)) {
		hook.stop_at = 0;
		sem_post(&hook.has_stopped);
		sem_wait(&hook.go);
	}
	if (hook.fail_at != 0 && size > hook.fail_at - hook.out.size)
		size = hook.fail_at - hook.out.size;
	if (hook.full_at != 0 && size > hook.full_at - hook.out.size)
		size = hook.full_at - hook.out.size;
	if (size != 0)
		bytes_add(&hook.out, data, size);
	atomic_fetch_sub(&n_inside, 1);
	if (size == 0) {
		errno = hook.fail_at != 0 ? ENOSPC : EAGAIN;
		return -1;
	}
	return (ssize_t)size;
}

static struct hs_stream *new_stream(struct hs_sink *sink)
{
	struct hs_stream_config config = {
		.id = 0x12345678, .frame_bytes = FRAME_BYTES, .sink = sink};
	void *memory = NULL;

	memset(&hook, 0, sizeof(hook));
	sem_init(&hook.has_stopped, 0, 0);
	sem_init(&hook.go, 0, 0);
	cr_assert_eq(hs_sink_open_file(sink, "/dev/null", false), 0);
	sink->write_hook = hook_write;
	cr_assert_eq(posix_memalign(&memory, 4096, hs_stream_bytes(FRAME_BYTES)), 0);
	return hs_stream_init(memory, &config);
}

static void free_stream(struct hs_stream *stream, struct hs_sink *sink)
{
	hs_sink_close(sink, 0);
	free(stream);
	bytes_free(&hook.out);
}

/* ---- the helper ----------------------------------------------------------- */

static void wake(void)
{
	sem_post(&helper.woken);
}

static void *help(void *unused)
{
	unsigned n = 0;

	(void)unused;
	while (!atomic_load(&helper.is_ending)) {
		enum hs_help got;

		if (helper.manner == WOKEN)
			sem_wait(&helper.woken);
		if (helper.manner == LAZY && n++ % 3 == 0)
			usleep(n * 7919 % 2000);
		do
			got = hs_stream_help(helper.stream, hs_monotonic_ns() + HS_NS_PER_MS);
		while (got == HS_HELP_MORE && !atomic_load(&helper.is_ending));
		if (got == HS_HELP_OWNER)
			atomic_store(&helper.is_owner, 1);
		sched_yield();
	}
	return NULL;
}

static void start_helper(struct hs_stream *stream, enum manner manner)
{
	memset(&helper, 0, sizeof(helper));
	helper.stream = stream;
	helper.manner = manner;
	sem_init(&helper.woken, 0, 0);
	if (manner != DEAD)
		cr_assert_eq(pthread_create(&helper.thread, NULL, help, NULL), 0);
}

static void end_helper(void)
{
	atomic_store(&helper.is_ending, 1);
	wake();
	if (helper.manner != DEAD)
		pthread_join(helper.thread, NULL);
}

/* Waits until the stream is the caller's again. */
static void take_back(struct hs_stream *stream)
{
	if (hs_stream_unshare(stream))
		return;
	while (!atomic_load(&helper.is_owner))
		sched_yield();
	cr_expect(!hs_stream_is_shared(stream));
}

/* ---- the owner ------------------------------------------------------------ */

/* A Marker of some hundred to some ten thousand letters, which compress as rows do. */
static int put(struct hs_stream *stream, enum hs_frame_kind kind, size_t i, uint64_t deadline_ns)
{
	const size_t bytes = 100 + i * 7919 % 30000, head = 1 + hs_varint_size(bytes);
	int error;
	uint8_t *out = hs_stream_put_raw(stream, kind, i, HEAPSHOT__RECORD__BODY_MARKER,
					 head + bytes, deadline_ns, &error);

	if (out == NULL)
		return error;
	*out++ = 0x0A;
	out = hs_varint_put(out, bytes);
	fill_random(out, bytes, i);
	for (size_t j = 0; j < bytes; j++)
		out[j] = (uint8_t)(' ' + out[j] % 16);
	return 0;
}

/* Names, then a snapshot, shared or not; returns the first error of the latter. */
static int run(struct hs_stream *stream, bool is_shared, uint64_t patience_ns, size_t *n_put)
{
	int error = 0;
	size_t i;

	cr_assert_eq(put(stream, HS_FRAME_METADATA, 1, 0), 0);
	cr_assert_eq(hs_stream_flush_all(stream, 0), 0);
	hs_stream_set_snapshot(stream, 1);
	if (is_shared)
		cr_assert(hs_stream_share(stream, wake));
	for (i = 0; i < N_RECORDS && error == 0; i++)
		error = put(stream,
			    i == 0               ? HS_FRAME_SNAPSHOT_BEGIN
			    : i == N_RECORDS - 1 ? HS_FRAME_SNAPSHOT_END
						 : HS_FRAME_SNAPSHOT_BODY,
			    i, hs_monotonic_ns() + patience_ns);
	*n_put = error ? i - 1 : i;
	return error;
}

/* What one thread gives. */
static struct bytes right_output(void)
{
	struct bytes out;
	struct hs_sink sink;
	struct hs_stream *stream = new_stream(&sink);
	size_t n_put;

	cr_assert_eq(run(stream, false, 0, &n_put), 0);
	cr_assert_eq(put(stream, HS_FRAME_EVENTS, 3, 0), 0);
	cr_assert_eq(hs_stream_flush(stream, HS_FRAME_SNAPSHOT_END, 0), 0);
	cr_assert_eq(hs_stream_flush_all(stream, 0), 0);
	out = hook.out;
	memset(&hook.out, 0, sizeof(hook.out));
	free_stream(stream, &sink);
	return out;
}

static size_t count_records(const struct bytes *out, size_t *n_frames)
{
	struct read_frames frames = read_frames(out->data, out->size);
	size_t n = 0;

	cr_expect_eq(frames.used, out->size);
	for (size_t i = 0; i < frames.n; i++) {
		cr_expect_eq(frames.frames[i].tag.seq, i);
		n += frames.frames[i].stream->n_record - 1;
	}
	*n_frames = frames.n;
	read_frames_free(&frames);
	return n;
}

Test(share, output_is_that_of_one_thread)
{
	struct bytes right = right_output();

	for (int manner = 0; manner < N_MANNERS; manner++) {
		for (int round = 0; round < 5; round++) {
			struct hs_sink sink;
			struct hs_stream *stream = new_stream(&sink);
			size_t n_put;

			start_helper(stream, (enum manner)manner);
			cr_assert_eq(run(stream, true, PATIENCE_NS, &n_put), 0);
			take_back(stream);
			/* These wait behind what is queued. */
			cr_assert_eq(put(stream, HS_FRAME_EVENTS, 3, 0), 0);
			cr_assert_eq(hs_stream_flush(stream, HS_FRAME_SNAPSHOT_END, 0), 0);
			cr_assert_eq(hs_stream_flush_all(stream, 0), 0);
			cr_assert_not(hs_stream_is_pending(stream));
			end_helper();
			cr_assert_eq(hook.out.size, right.size);
			cr_assert_eq(memcmp(hook.out.data, right.data, right.size), 0);
			free_stream(stream, &sink);
		}
	}
	bytes_free(&right);
}

Test(share, begins_with_nothing_waiting_only)
{
	struct hs_sink sink;
	struct hs_stream *stream = new_stream(&sink);

	cr_expect_eq(hs_stream_help(stream, 0), HS_HELP_NONE);
	cr_assert_eq(put(stream, HS_FRAME_EVENTS, 1, 0), 0);
	cr_expect_not(hs_stream_share(stream, wake));
	hook.full_at = 100;
	cr_assert_eq(hs_stream_flush(stream, HS_FRAME_EVENTS, 0), -EAGAIN);
	cr_expect_not(hs_stream_share(stream, wake));
	hook.full_at = 0;
	cr_assert_eq(hs_stream_flush(stream, HS_FRAME_EVENTS, 0), 0);
	start_helper(stream, DEAD);
	cr_assert(hs_stream_share(stream, wake));
	/* Their buffers are lent. */
	cr_expect_eq(put(stream, HS_FRAME_EVENTS, 1, 0), -EAGAIN);
	cr_expect_eq(put(stream, HS_FRAME_METADATA, 1, 0), -EAGAIN);
	cr_expect_eq(hs_stream_buffered(stream, HS_FRAME_METADATA), 0);
	cr_assert(hs_stream_unshare(stream));
	cr_expect_eq(put(stream, HS_FRAME_EVENTS, 1, 0), 0);
	cr_expect_eq(put(stream, HS_FRAME_METADATA, 1, 0), 0);
	cr_assert_eq(hs_stream_flush_all(stream, 0), 0);
	free_stream(stream, &sink);
}

Test(share, first_error_sticks)
{
	struct bytes right = right_output();

	for (int manner = 0; manner < N_MANNERS; manner++) {
		for (size_t share = 1; share < 16; share += 3) {
			struct hs_sink sink;
			struct hs_stream *stream = new_stream(&sink);
			size_t n_put;
			int error;

			start_helper(stream, (enum manner)manner);
			/* Behind the names.  Near the end all may have been put before it is met. */
			hook.fail_at = right.size / 16 * share + 4000;
			error = run(stream, true, PATIENCE_NS, &n_put);
			cr_assert(error == -ENOSPC || (error == 0 && share > 8));
			take_back(stream);
			cr_assert_eq(hs_stream_flush(stream, HS_FRAME_SNAPSHOT_END, 0), -ENOSPC);
			cr_assert_eq(hs_stream_error(stream), -ENOSPC);
			cr_assert_eq(put(stream, HS_FRAME_EVENTS, 1, 0), -ENOSPC);
			end_helper();
			cr_assert_eq(hook.out.size, hook.fail_at);
			cr_assert_eq(memcmp(hook.out.data, right.data, hook.fail_at), 0);
			free_stream(stream, &sink);
		}
	}
	bytes_free(&right);
}

/* In the middle of a frame the helper gets nowhere: the owner leaves, within its deadline. */
Test(share, stuck_helper_holds_nobody)
{
	struct hs_sink sink;
	struct hs_stream *stream;
	size_t n_put, n_frames;

	for (;;) {
		stream = new_stream(&sink);
		start_helper(stream, EAGER);
		hook.stop_at = 200000;
		if (run(stream, true, SHORT_NS, &n_put) == -EAGAIN &&
		    sem_trywait(&hook.has_stopped) == 0)
			break;
		/* It has had no processor: once more. */
		sem_post(&hook.go);
		take_back(stream);
		end_helper();
		free_stream(stream, &sink);
	}
	/* What is not handed over yet can be dropped and something else said, as ever. */
	hs_stream_discard(stream, HS_FRAME_SNAPSHOT_BODY);
	cr_assert_eq(put(stream, HS_FRAME_SNAPSHOT_END, 5, 0), 0);
	cr_assert_not(hs_stream_unshare(stream));
	cr_assert_not(atomic_load(&helper.is_owner));
	sem_post(&hook.go);
	while (!atomic_load(&helper.is_owner))
		sched_yield();
	cr_assert_eq(hs_stream_flush_all(stream, 0), 0);
	end_helper();
	cr_expect_leq(count_records(&hook.out, &n_frames), n_put + 2);
	cr_expect_eq(n_frames, hs_stream_frames(stream));
	free_stream(stream, &sink);
}

/* A reader that takes no more: the owner gives up by its deadline, and nothing is torn. */
Test(share, slow_reader_holds_nobody)
{
	for (int manner = 0; manner < N_MANNERS; manner++) {
		struct hs_sink sink;
		struct hs_stream *stream = new_stream(&sink);
		size_t n_put, n_frames;

		start_helper(stream, (enum manner)manner);
		hook.full_at = 200000;
		cr_assert_eq(run(stream, true, SHORT_NS, &n_put), -EAGAIN);
		take_back(stream);
		cr_assert_eq(hs_stream_flush(stream, HS_FRAME_SNAPSHOT_BODY, 0), -EAGAIN);
		cr_assert_eq(hook.out.size, 200000);
		cr_expect(hs_stream_is_pending(stream));
		cr_expect_eq(put(stream, HS_FRAME_EVENTS, 3, 0), -EAGAIN);
		hook.full_at = 0;
		cr_assert_eq(hs_stream_flush_all(stream, 0), 0);
		end_helper();
		/* All that was put, and the names. */
		cr_expect_eq(count_records(&hook.out, &n_frames), n_put + 1);
		cr_expect_eq(n_frames, hs_stream_frames(stream));
		free_stream(stream, &sink);
	}
}

Test(share, does_not_call_malloc)
{
	struct hs_sink sink;
	struct hs_stream *stream = new_stream(&sink);
	uint64_t before;
	size_t n_put;

	if (!malloc_count_is_available() || is_under_valgrind())
		cr_skip_test("the allocator is not ours to watch");
	start_helper(stream, WOKEN);
	sink.write_hook = NULL;
	before = malloc_count();
	cr_expect_eq(run(stream, true, PATIENCE_NS, &n_put), 0);
	take_back(stream);
	cr_expect_eq(malloc_count(), before);
	end_helper();
	free_stream(stream, &sink);
}
