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

#include "profiler/handles.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/service.h"
#include "profiler/timers.h"
#include "profiler/wasm.h"

/* In the place of descriptors. */
enum { WRITER = 1, CONTROL = 2 };

/* The collector needs some pages, and ends the runtime where there are none. */
#define PARACHUTE_BYTES ((size_t)512 << 10)

/* Beside the buffers, for tables that grow while the world is stopped: this part of the same size. */
#define TABLES_PART 3

static bool is_low_seen;
static void *parachute;

static void write_out(void)
{
	/* An owner: the callback of the output is on the stack, and has called us. */
	if (!hs_recorder.memory || atomic_load(&hs_recorder.is_closed) ||
	    atomic_load(&hs_recorder.owner))
		return;
	hs_writer_turn();
	hs_output_say();
	hs_handles_say();
	hs_pages_renew();
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
	hs_timers_start();
	is_low_seen = false;
	hs_service_make_room();
	if (hs_recorder.options.when & HS_WHEN_OOM)
		parachute = malloc(PARACHUTE_BYTES);
	hs_pages_keep_free((size_t)(hs_recorder.options.memory_bytes / TABLES_PART));
	/* Where there is no memory now there may be some later. */
	hs_pages_renew();
	if (!is_watched)
		atexit(at_exit);
	is_watched = true;
	return true;
}

void hs_service_release(void)
{
	hs_recorder.wake_writer = hs_recorder.wake_control = 0;
}

/* What a thread of ours does elsewhere, here as often as something is collected. */
void hs_service_collected(void)
{
	if (atomic_load(&hs_recorder.phase) == HS_PHASE_RUNNING)
		hs_timers_run();
	hs_wake(WRITER);
	hs_pages_renew();
	if (hs_request_is_pending())
		hs_wake(CONTROL);
}
