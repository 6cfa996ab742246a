/* SPDX-License-Identifier: MIT */
/*
 * What the writer thread does (service.c): it owns the stream while the world
 * runs, brings the log to the output every quarter of a second or when it is half
 * full, says what has to be said, and closes the output at the end.
 *
 * The runtime does not know this thread, so it is never suspended.  While it
 * is the owner it neither allocates nor prints: a suspended thread may hold
 * those locks, and the collecting thread would wait for us.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "profiler/fork.h"
#include "profiler/header.h"
#include "profiler/helper.h"
#include "profiler/losses.h"
#include "profiler/message.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/ring.h"

static int write_out(uint64_t deadline_ns)
{
	int error = hs_drain(deadline_ns);

	if (!error)
		error = hs_losses_put(deadline_ns);
	/* Metadata first: a reader then meets names before it needs them. */
	if (!error)
		error = hs_stream_flush(hs_recorder.stream, HS_FRAME_METADATA, deadline_ns);
	if (!error)
		error = hs_stream_flush(hs_recorder.stream, HS_FRAME_EVENTS, deadline_ns);
	/* A slow reader may have left the end of one that was given up. */
	if (!error)
		error = hs_stream_flush(hs_recorder.stream, HS_FRAME_SNAPSHOT_END, deadline_ns);
	hs_ring_flush();
	return error;
}

static const char *advice_of(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "free some space, or give another output";
	case EFBIG:
		return "raise the limit of file sizes (ulimit -f), or use max-size";
	case EPIPE:
		return "the reader of the output ended";
	case EBADF:
		return "the program closed its descriptor";
	default:
		return "give another output";
	}
}

/* Nobody waits for a snapshot that cannot come any more. */
static void refuse_requests(void)
{
	hs_request_refuse_all(atomic_load(&hs_recorder.is_limit_reached) ? -EDQUOT : -ENOTCONN);
	hs_ring_refuse(-ENOTCONN);
}

/* The output failed: recording ends here, the program goes on. */
static void fail(int error)
{
	hs_recorder.error = error;
	atomic_store(&hs_recorder.state, HS_STATE_OFF);
	refuse_requests();
	hs_message("recording to %s ended: %s; %s", hs_recorder.output, strerror(-error),
		   advice_of(-error));
	/* A command that has ended would stay a zombie, a full disk would stay full. */
	if (hs_own(HS_OWNER_LIMIT_NS)) {
		hs_ring_flush();
		hs_sink_close(&hs_recorder.sink, HS_NS_PER_S);
		hs_disown();
	}
}

static bool is_failure(int error)
{
	return error && error != -EAGAIN;
}

/* While a child writes we can but make room in the log. */
static void step_beside_child(void)
{
	static uint64_t flushed_ns;

	hs_fork_poll();
	hs_drain(0);
	/* The ring is not the child's. */
	if (hs_monotonic_ns() - flushed_ns >= HS_FLUSH_NS) {
		hs_ring_flush();
		flushed_ns = hs_monotonic_ns();
	}
}

static void step(void)
{
	/* What was logged before it was asked for is in it. */
	const bool is_asked = hs_ring_is_asked();
	int error;

	if (atomic_load(&hs_recorder.is_owner_wanted) || !hs_own(0))
		return;
	if (hs_fork_is_running()) {
		step_beside_child();
		hs_disown();
		hs_fork_say();
		return;
	}
	error = write_out(hs_monotonic_ns() + HS_SLICE_NS);
	if (!error && is_asked)
		hs_ring_answer();
	hs_disown();
	hs_fork_say();
	hs_ring_say_failure();
	if (!error)
		atomic_fetch_add(&hs_recorder.n_writer_rounds, 1);
	if (is_failure(error) && !hs_recorder.error)
		fail(error);
}

static void say_end(Heapshot__EndReason reason, int error)
{
	const char *why = hs_why_no_snapshot(reason);

	/* Who wants a ring and no snapshots has what was asked for. */
	if (hs_recorder.options.ring_bytes && hs_recorder.options.when == HS_WHEN_NONE)
		why = NULL;
	if (error == -ETIMEDOUT)
		hs_message("%s did not take the recording within %llu s; its end is missing",
			   hs_recorder.output,
			   (unsigned long long)(HS_CLOSE_LIMIT_NS / HS_NS_PER_S));
	else if (error)
		hs_message("closing %s: %s", hs_recorder.output, strerror(-error));
	if (why)
		hs_message("%s holds no snapshot: %s", hs_recorder.output, why);
	else if (atomic_load(&hs_recorder.n_dropped) > hs_fork_n_failed())
		hs_message(
			"%llu snapshots were not finished: the output was too slow, or memory was short",
			(unsigned long long)atomic_load(&hs_recorder.n_dropped));
}

/* The child has time to finish, if it gets on; then it is ended, and has a second to go. */
static void finish_child(void)
{
	const uint64_t end = hs_monotonic_ns() + HS_FORK_EXIT_NS;
	uint64_t now;

	while (hs_fork_is_running() && (now = hs_monotonic_ns()) < end + HS_NS_PER_S) {
		if (hs_own(HS_OWNER_LIMIT_NS)) {
			if (now >= end)
				hs_fork_kill();
			hs_fork_poll();
			hs_disown();
		}
		hs_sleep_ns(HS_NS_PER_MS);
	}
	hs_fork_say();
}

static void finish(Heapshot__EndReason reason)
{
	uint64_t deadline_ns;
	int error, close_error;
	bool is_ours;

	atomic_store(&hs_recorder.state, HS_STATE_ENDING);
	refuse_requests();
	finish_child();
	deadline_ns = hs_monotonic_ns() + HS_CLOSE_LIMIT_NS;
	error = hs_recorder.error;
	do
		is_ours = hs_own(HS_OWNER_LIMIT_NS);
	while (!is_ours && hs_monotonic_ns() < deadline_ns);
	if (!is_ours) {
		/* A snapshot still runs; the stream is its own to the end. */
		atomic_store(&hs_recorder.state, HS_STATE_OFF);
		say_end(reason, -ETIMEDOUT);
		return;
	}
	if (!error)
		error = write_out(deadline_ns);
	if (!error)
		error = hs_end_put(reason, deadline_ns);
	close_error = hs_sink_close(&hs_recorder.sink, hs_monotonic_ns() < deadline_ns
							       ? deadline_ns - hs_monotonic_ns()
							       : HS_NS_PER_MS);
	hs_ring_close();
	atomic_store(&hs_recorder.state, HS_STATE_OFF);
	hs_disown();
	if (error == -EAGAIN)
		error = -ETIMEDOUT;
	if (reason == HEAPSHOT__END_REASON__END_REASON_LIMIT)
		hs_message("recording to %s ended: max-snapshots or max-size was reached",
			   hs_recorder.output);
	if (!hs_recorder.error)
		say_end(reason, error ? error : close_error);
}

bool hs_writer_turn(void)
{
	int closing;

	hs_helper_work();
	closing = atomic_load(&hs_recorder.is_closing);
	if (closing) {
		finish((Heapshot__EndReason)(closing - 1));
		atomic_store(&hs_recorder.is_closed, 1);
	} else if (hs_is_recording()) {
		step();
	}
	return !closing;
}
