/* SPDX-License-Identifier: MIT */
/*
 * Snapshots and samples by the clock.
 */
#include "config.h"

#include "profiler/counters.h"
#include "profiler/gc.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/timers.h"

#define COUNTERS_NS (1 * HS_NS_PER_S)
#define REST_NS     (10 * HS_NS_PER_MS)

static uint64_t next_snapshot_ns, next_counters_ns, n_snapshots_seen;

void hs_timers_start(void)
{
	next_snapshot_ns = next_counters_ns = n_snapshots_seen = 0;
}

void hs_timers_run(void)
{
	const uint64_t now = hs_monotonic_ns();
	const uint64_t every_ns = hs_recorder.options.every_ms * HS_NS_PER_MS;
	const uint64_t n_snapshots = atomic_load(&hs_recorder.n_snapshots);

	if (every_ns && !next_snapshot_ns)
		next_snapshot_ns = hs_recorder.start_ns + every_ns;
	if (every_ns && now >= next_snapshot_ns && !hs_request_is_open(HS_TRIGGER_EVERY_TIME) &&
	    hs_gc_has_rested(now)) {
		hs_request_post(HS_TRIGGER_EVERY_TIME);
		next_snapshot_ns = now + every_ns;
	}
	/* Each snapshot has a sample. */
	if (now >= next_counters_ns || n_snapshots != n_snapshots_seen) {
		n_snapshots_seen = n_snapshots;
		next_counters_ns = now + COUNTERS_NS;
		hs_counters_sample();
	}
}

uint64_t hs_timers_next_ns(uint64_t now_ns)
{
	/* One that is overdue waits until the program has rested. */
	if (next_snapshot_ns && next_snapshot_ns <= now_ns)
		return now_ns + REST_NS;
	if (next_snapshot_ns && next_snapshot_ns < next_counters_ns)
		return next_snapshot_ns;
	return next_counters_ns;
}
