/* SPDX-License-Identifier: MIT */
/*
 * Sharing the work of a snapshot.
 */
#include "config.h"

#include <sched.h>

#include "profiler/helper.h"
#include "profiler/recorder.h"

/*
 * Whether the two threads may run at the same time.  A system of more processors
 * than the set has room for refuses to tell: it has more than one.
 */
static bool has_processors(void)
{
	cpu_set_t ours, writers;

	if (sched_getaffinity(0, sizeof ours, &ours) != 0 ||
	    pthread_getaffinity_np(hs_recorder.writer, sizeof writers, &writers) != 0)
		return true;
	CPU_OR(&ours, &ours, &writers);
	return CPU_COUNT(&ours) > 1;
}

static void wake(void)
{
	hs_wake(hs_recorder.wake_writer);
}

bool hs_helper_begin(void)
{
	/* A callback is promised the collecting thread; and the writer may be at the end already. */
	return !hs_recorder.sink.callback && !atomic_load(&hs_recorder.is_closing) &&
	       has_processors() && hs_stream_share(hs_recorder.stream, wake);
}

bool hs_helper_end(void)
{
	return hs_stream_unshare(hs_recorder.stream);
}

void hs_helper_work(void)
{
	enum hs_help help;

	do
		help = hs_stream_help(hs_recorder.stream, hs_monotonic_ns() + HS_SLICE_NS);
	while (help == HS_HELP_MORE);
	if (help == HS_HELP_OWNER)
		hs_disown();
}
