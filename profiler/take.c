/* SPDX-License-Identifier: MIT */
/*
 * Taking a snapshot and waiting for it.
 */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include <mono/metadata/appdomain.h>

#include "profiler/gc.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/request.h"

/* Other requests may be older: each collection serves one. */
#define COLLECTIONS_MAX 16
/* Longest wait of a thread that the runtime does not know. */
#define WAIT_NS (30 * HS_NS_PER_S)

int64_t hs_take(enum hs_trigger trigger, const char *label, bool is_stats_only)
{
	struct hs_request *request;
	uint64_t end;
	int i;

	if (getpid() != hs_recorder.pid)
		return -ENOTCONN;
	if (atomic_load(&hs_recorder.is_limit_reached))
		return -EDQUOT;
	if (!hs_is_recording())
		return -ENOTCONN;
	switch (atomic_load(&hs_recorder.phase)) {
	case HS_PHASE_SHUTDOWN:
		return -ESHUTDOWN;
	case HS_PHASE_EARLY:
		return hs_request_post_early(label, is_stats_only) ? 0 : -EBUSY;
	default:
		break;
	}
	request = hs_request_open(trigger, label, is_stats_only);
	if (!request)
		return -EBUSY;
	/* A thread that belongs to the runtime collects itself; another one may not. */
	if (mono_domain_get()) {
		/* What waits in the log makes tables grow, which may be more than the stopped world has for it. */
		hs_wake(hs_recorder.wake_writer);
		/* Once a child writes it the thread goes on: it may hold up the stops of others. */
		for (i = 0; i < COLLECTIONS_MAX && !hs_request_is_done(request) &&
			    !hs_request_is_forked(request) && hs_is_recording();
		     i++)
			hs_gc_collect();
		/* The recording may end next: names must not be under way on the control thread then. */
		hs_late_name_last();
		hs_wake(hs_recorder.wake_writer);
	} else {
		hs_wake(hs_recorder.wake_control);
		for (end = hs_monotonic_ns() + WAIT_NS;
		     !hs_request_is_done(request) && hs_monotonic_ns() < end && hs_is_recording();)
			hs_sleep_ns(HS_NS_PER_MS);
	}
	return hs_request_close(request);
}
