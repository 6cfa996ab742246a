/* SPDX-License-Identifier: MIT */
/*
 * service.h where there are no threads: the program's one thread brings records
 * to the output when the log is half full, at the end of each collection, and when
 * a function of heapshot ends.  What waits for a collection gets one from the
 * runtime's own background work, when the program returns to JavaScript.
 */
#include "config.h"

#include <emscripten/heap.h>
#include <stdlib.h>
#include <unistd.h>

#include <mono/metadata/mono-gc.h>

#include "profiler/counters.h"
#include "profiler/gc.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/service.h"
#include "profiler/wasm.h"

/* In the place of descriptors. */
enum { WRITER = 1, CONTROL = 2 };

/* The collector needs some pages, and ends the runtime where there are none. */
#define PARACHUTE_BYTES ((size_t)512 << 10)
#define COUNTERS_NS     (1 * HS_NS_PER_S)

/* Beside the buffers, for tables that grow while the world is stopped: this part of the same size. */
#define TABLES_PART 3

static bool is_low_seen;
static void *parachute;
static uint64_t next_counters_ns, next_timer_ns, n_snapshots_seen;

static void write_out(void)
{
	/* An owner: the callback of the output is on the stack, and has called us. */
	if (!hs_recorder.memory || atomic_load(&hs_recorder.is_closed) ||
	    atomic_load(&hs_recorder.owner))
		return;
	hs_writer_turn();
	hs_output_say();
}

void hs_wake(int fd)
{
	/* In the stopped world there is no memory for what the log defines; its end comes soon. */
	if (hs_is_stopped_by_us())
		return;
	if (fd == WRITER)
		write_out();
	else if (fd == CONTROL && hs_is_recording() &&
		 atomic_load(&hs_recorder.phase) == HS_PHASE_RUNNING && hs_request_is_pending())
		mono_gc_finalize_notify();
}

static void at_exit(void)
{
	hs_recorder_end(HEAPSHOT__END_REASON__END_REASON_EXIT);
}

bool hs_service_is_memory_low(void)
{
	/* What malloc and the collector took: the memory itself grows in leaps. */
	const uint64_t used = (uintptr_t)sbrk(0);

	if (is_low_seen || !hs_recorder.options.at_percent ||
	    atomic_load(&hs_recorder.phase) != HS_PHASE_RUNNING ||
	    used * 100 < (uint64_t)emscripten_get_heap_max() * hs_recorder.options.at_percent)
		return false;
	return is_low_seen = true;
}

void hs_service_make_room(void)
{
	free(parachute);
	parachute = NULL;
}

bool hs_service_start(char *message, size_t size)
{
	static bool is_watched;

	(void)message;
	(void)size;
	hs_recorder.wake_writer = WRITER;
	hs_recorder.wake_control = CONTROL;
	next_counters_ns = next_timer_ns = n_snapshots_seen = 0;
	is_low_seen = false;
	hs_service_make_room();
	if (hs_recorder.options.when & HS_WHEN_OOM)
		parachute = malloc(PARACHUTE_BYTES);
	hs_area_keep_free((size_t)(hs_recorder.options.memory_bytes / TABLES_PART));
	/* Where there is no memory now there may be some later. */
	hs_area_renew();
	if (!is_watched)
		atexit(at_exit);
	is_watched = true;
	return true;
}

void hs_service_release(void)
{
	hs_recorder.wake_writer = hs_recorder.wake_control = 0;
}

/* What the control thread does elsewhere, here as often as something is collected. */
static void on_timers(void)
{
	const uint64_t now = hs_monotonic_ns();
	const uint64_t every_ns = hs_recorder.options.every_ms * HS_NS_PER_MS;
	const uint64_t n_snapshots = atomic_load(&hs_recorder.n_snapshots);

	if (every_ns && !next_timer_ns)
		next_timer_ns = hs_recorder.start_ns + every_ns;
	if (every_ns && now >= next_timer_ns && !hs_request_is_open(HS_TRIGGER_EVERY_TIME) &&
	    hs_gc_has_rested(now)) {
		hs_request_post(HS_TRIGGER_EVERY_TIME);
		next_timer_ns = now + every_ns;
	}
	if (now >= next_counters_ns || n_snapshots != n_snapshots_seen) {
		n_snapshots_seen = n_snapshots;
		next_counters_ns = now + COUNTERS_NS;
		hs_counters_sample();
	}
}

void hs_service_collected(void)
{
	if (atomic_load(&hs_recorder.phase) == HS_PHASE_RUNNING)
		on_timers();
	hs_wake(WRITER);
	hs_area_renew();
	if (hs_request_is_pending())
		hs_wake(CONTROL);
}
