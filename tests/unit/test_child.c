/* SPDX-License-Identifier: MIT */
/*
 * A stream that a forked child goes on with, and that its parent takes back,
 * wherever the child was ended.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit/child.h"
#include "emit/stream.h"
#include "schema/varint.h"
#include "tests/unit/frame_reader.h"
#include "tests/unit/leak_check.h"

#define FRAME_BYTES (64u << 10)
#define STREAM      0x12345678u

static char path[] = "/tmp/heapshot-child-XXXXXX";

static void set_up(void)
{
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	close(fd);
}

static void tear_down(void)
{
	unlink(path);
	leak_check();
}

TestSuite(child, .init = set_up, .fini = tear_down);

static int put(struct hs_stream *stream, enum hs_frame_kind kind, size_t bytes)
{
	const size_t head = 1 + hs_varint_size(bytes);
	int error;
	uint8_t *out = hs_stream_put_raw(stream, kind, 1, HEAPSHOT__RECORD__BODY_MARKER,
					 head + bytes, 0, &error);

	if (out == NULL)
		return error;
	*out++ = 0x0A;
	out = hs_varint_put(out, bytes);
	fill_random(out, bytes, bytes);
	for (size_t i = 0; i < bytes; i++)
		out[i] = (uint8_t)(' ' + out[i] % 64);
	return 0;
}

/* The child's write(2): ends it for good after so many bytes. */
static size_t bytes_to_live;

static ssize_t mortal_write(int fd, const void *data, size_t size)
{
	const size_t n = size < bytes_to_live ? size : bytes_to_live;
	ssize_t written = write(fd, data, n);

	bytes_to_live -= n;
	if (bytes_to_live == 0)
		raise(SIGKILL);
	return written;
}

static void live(struct hs_stream *stream, struct hs_sink *sink)
{
	sink->write_hook = mortal_write;
	hs_stream_take_over(stream);
	hs_stream_set_snapshot(stream, 1);
	for (int i = 0; i < 5; i++)
		if (put(stream, HS_FRAME_SNAPSHOT_BODY, 10000) != 0 ||
		    hs_stream_flush(stream, HS_FRAME_SNAPSHOT_BODY, 0) != 0)
			_exit(1);
	_exit(0);
}

/*
 * A parent's frame, five of a child that is ended after LIFE bytes, and two more
 * of the parent.  Returns the number of frames that the child brought home.
 */
static uint64_t run_child(size_t life, bool can_truncate)
{
	struct hs_stream_commit *commit = mmap(NULL, sizeof(*commit), PROT_READ | PROT_WRITE,
					       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct hs_sink sink;
	struct hs_stream_config config = {.id = STREAM, .frame_bytes = FRAME_BYTES, .sink = &sink};
	struct hs_stream *stream;
	void *memory = NULL;
	uint64_t before, frames;
	bool is_torn = false;
	pid_t pid;

	cr_assert_neq(commit, MAP_FAILED);
	cr_assert_eq(posix_memalign(&memory, 4096, hs_stream_bytes(FRAME_BYTES)), 0);
	cr_assert_eq(hs_sink_open_file(&sink, path, false), 0);
	stream = hs_stream_init(memory, &config);
	cr_assert_eq(put(stream, HS_FRAME_METADATA, 5000), 0);
	cr_assert_eq(hs_stream_flush(stream, HS_FRAME_METADATA, 0), 0);
	/* This waits at the parent's. */
	cr_assert_eq(put(stream, HS_FRAME_EVENTS, 100), 0);

	before = hs_stream_frames(stream);
	hs_stream_hold(stream, commit);
	bytes_to_live = life;
	pid = hs_child_clone();
	if (pid == 0)
		live(stream, &sink);
	cr_assert_gt(pid, 0);
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_expect_eq(hs_stream_flush(stream, HS_FRAME_EVENTS, 0), -EAGAIN);
	cr_expect_eq(put(stream, HS_FRAME_EVENTS, 100), 0);
	cr_expect_eq(waitpid(pid, NULL, __WALL), pid);

	if (commit->is_writing) {
		is_torn = true;
		if (can_truncate) {
			cr_expect_eq(
				hs_sink_truncate(&sink, commit->marks[commit->n % 2].sink_bytes),
				0);
			is_torn = false;
		}
	}
	hs_stream_continue(stream, is_torn);
	frames = hs_stream_frames(stream) - before - is_torn;
	cr_expect_eq(hs_stream_flush(stream, HS_FRAME_EVENTS, 0), 0);
	cr_expect_eq(put(stream, HS_FRAME_END, 10), 0);
	cr_expect_eq(hs_stream_flush(stream, HS_FRAME_END, 0), 0);
	hs_sink_close(&sink, 0);
	munmap(commit, sizeof(*commit));
	free(memory);
	return frames;
}

Test(child, goes_on_and_is_followed)
{
	struct bytes out;
	struct read_frames frames;

	cr_expect_eq(run_child(SIZE_MAX, true), 5);
	out = bytes_of_file(path);
	frames = read_frames(out.data, out.size);
	cr_expect_eq(frames.used, out.size);
	cr_assert_eq(frames.n, 8);
	for (size_t i = 0; i < frames.n; i++)
		cr_expect_eq(frames.frames[i].tag.seq, i);
	/* Both of the parent's events are in its frame behind the child's, and nowhere else. */
	cr_expect_eq(frames.frames[6].tag.kind, HS_FRAME_EVENTS);
	cr_expect_eq(frames.frames[6].stream->n_record, 3);
	read_frames_free(&frames);
	bytes_free(&out);
}

Test(child, ended_anywhere_leaves_whole_frames)
{
	size_t whole = 0;

	for (size_t life = 1; life < 45000; life += 1499) {
		const uint64_t n = run_child(life, true);
		struct bytes out = bytes_of_file(path);
		struct read_frames frames = read_frames(out.data, out.size);

		cr_expect_eq(frames.used, out.size, "%zu of %zu bytes", frames.used, out.size);
		cr_assert_eq(frames.n, 3 + n, "%zu frames, %d of the child", frames.n, (int)n);
		for (size_t i = 0; i < frames.n; i++)
			cr_expect_eq(frames.frames[i].tag.seq, i);
		whole += n;
		read_frames_free(&frames);
		bytes_free(&out);
	}
	cr_expect_gt(whole, 20);
}

/* On a pipe the torn piece stays: its number is not used again. */
Test(child, torn_frames_leave_a_gap)
{
	for (size_t life = 1000; life < 45000; life += 4999) {
		const uint64_t n = run_child(life, false);
		struct bytes out = bytes_of_file(path);
		struct read_frames frames = read_frames(out.data, out.size);
		struct read_frames rest;
		size_t at = out.size;

		cr_assert_eq(frames.n, 1 + n);
		/* The last two frames are found behind the piece, with the next numbers but one. */
		do {
			at--;
			rest = read_frames(out.data + at, out.size - at);
			if (rest.n < 2)
				read_frames_free(&rest);
		} while (rest.n < 2 && at > frames.used);
		cr_assert_eq(rest.n, 2);
		cr_expect_eq(rest.frames[0].tag.seq, 1 + n + 1);
		cr_expect_eq(rest.frames[1].tag.seq, 1 + n + 2);
		read_frames_free(&rest);
		read_frames_free(&frames);
		bytes_free(&out);
	}
}

Test(child, only_what_is_ours_is_truncated)
{
	struct hs_sink sink;
	int fd = open(path, O_WRONLY);

	cr_assert_eq(write(fd, "abcdef", 6), 6);
	cr_assert_eq(hs_sink_open_fd(&sink, fd), 0);
	cr_expect_eq(hs_sink_truncate(&sink, 3), -ESPIPE);
	hs_sink_close(&sink, 0);
	close(fd);

	cr_assert_eq(hs_sink_open_file(&sink, path, false), 0);
	cr_assert_eq(hs_sink_write(&sink, "abcdef", 6, 0), 6);
	/* Somebody empties it: it does not grow again. */
	cr_assert_eq(truncate(path, 1), 0);
	cr_expect_eq(hs_sink_truncate(&sink, 3), 0);
	cr_expect_eq(lseek(sink.fd, 0, SEEK_END), 1);
	hs_sink_close(&sink, 0);
	hs_sink_open_null(&sink);
	cr_expect_eq(hs_sink_truncate(&sink, 0), -ESPIPE);
}

static void on_signal(int number)
{
	(void)number;
}

Test(child, keeps_one_descriptor_and_no_handler)
{
	int kept = open(path, O_WRONLY), status, fd;
	struct sigaction action;
	pid_t pid;

	cr_assert_gt(kept, 2);
	signal(SIGUSR1, on_signal);
	signal(SIGPIPE, SIG_IGN);
	pid = hs_child_clone();
	if (pid == 0) {
		hs_child_reset_signals();
		hs_child_close_from(0, kept);
		for (fd = 0; fd < 64; fd++)
			if ((fcntl(fd, F_GETFD) >= 0) != (fd == kept))
				_exit(1);
		if (sigaction(SIGUSR1, NULL, &action) != 0 || action.sa_handler != SIG_DFL ||
		    sigaction(SIGPIPE, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
			_exit(2);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, __WALL), pid);
	cr_expect_eq(status, 0);
	close(kept);
}
