/* SPDX-License-Identifier: MIT */
/*
 * Winding a snapshot up.
 */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "profiler/recorder.h"
#include "profiler/windup.h"

static struct {
	bool is_due;
	pid_t pid;
	struct hs_snapshot snapshot;
	int error;
	uint64_t pause_ns, limit_ns;
} winding_up;

void hs_windup_later(const struct hs_snapshot *snapshot, int error, uint64_t pause_ns,
		     uint64_t limit_ns)
{
	/* No new recording begins before. */
	hs_enter();
	winding_up.snapshot = *snapshot;
	winding_up.error = error;
	winding_up.pause_ns = pause_ns;
	winding_up.limit_ns = limit_ns;
	winding_up.pid = hs_recorder.pid;
	winding_up.is_due = true;
}

/* Of the sink, or 0: what a slow reader does not take now the writer thread brings to it. */
static int write_rest(void)
{
	const uint64_t end = hs_monotonic_ns() + winding_up.limit_ns;
	int error = 0;

	if (hs_own(winding_up.limit_ns)) {
		error = hs_stream_flush(hs_recorder.stream, HS_FRAME_SNAPSHOT_END, end);
		hs_disown();
	}
	return error == -EAGAIN ? 0 : error;
}

void hs_windup(void)
{
	int error;

	if (!winding_up.is_due)
		return;
	winding_up.is_due = false;
	/* In a child of the program it is its parent's. */
	if (winding_up.pid != getpid())
		return;
	error = write_rest();
	hs_snapshot_ended(&winding_up.snapshot, winding_up.error ? winding_up.error : error,
			  winding_up.pause_ns);
	hs_wake(hs_recorder.wake_writer);
	hs_leave();
}
