/* SPDX-License-Identifier: MIT */
/*
 * Collections.
 *
 * Order of events in one stop of the world, and what is decided where:
 *   PRE_STOP_WORLD         waits for the child of the snapshot before, if need be
 *   PRE_STOP_WORLD_LOCKED  a snapshot is wanted: roots are reported from here
 *   POST_STOP_WORLD        from here no malloc, no lock, no stdio; threads come to rest
 *   START                  roots of an earlier collection of this stop are void; what
 *                          threads saved is read, before the collector scans it
 *   gc_roots ...           reported after objects have moved
 *   END
 *   PRE_START_WORLD        the only place where the heap may be walked
 *   POST_START_WORLD
 *   POST_START_WORLD_UNLOCKED  what is left of a snapshot in our buffers is written
 * A snapshot stands on a major and serial collection that had a START: after
 * others the roots are incomplete or dead objects are among the living.  Near the
 * maximum of memory, in wasm, it stands on a minor one too, and says so.
 * Everything here runs on the collecting thread, one at a time.
 */
#include "config.h"

#include <errno.h>

#include <mono/metadata/mono-gc.h>

#include "profiler/fork.h"
#include "profiler/gc.h"
#include "profiler/gc_log.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/roots.h"
#include "profiler/saved.h"
#include "profiler/service.h"
#include "profiler/snapshot.h"
#include "profiler/threads.h"
#include "profiler/windup.h"

/* After a natural concurrent collection: at most one snapshot per so many times its duration. */
#define NATURAL_SHARE 10
/* For snapshots by the clock: a program with a large heap must get on between two of them. */
#define TIMER_SHARE 4

static MonoProfilerHandle profiler_handle;
static bool is_collecting_roots, had_start, is_ours;
static bool is_memory_low; /* any collection is good for a snapshot */
static _Thread_local bool is_collecting;
static uint64_t n_collections, next_at_bytes;
static _Atomic uint64_t last_snapshot_end_ns, last_snapshot_duration_ns;

static bool is_wanted(void)
{
	/* Before, nothing has a name; afterwards the runtime collects once more, without its threads. */
	if (atomic_load(&hs_recorder.is_limit_reached) ||
	    atomic_load(&hs_recorder.phase) != HS_PHASE_RUNNING)
		return false;
	return hs_request_is_pending() || (hs_recorder.options.when & HS_WHEN_GC);
}

static bool is_major_serial(uint32_t generation, mono_bool is_serial)
{
	return generation == (uint32_t)mono_gc_max_generation() && is_serial;
}

/*
 * Each full collection shall have its snapshot, and so shall the thread that
 * asked for one: here it alone waits for the earlier child.  Other requests stay
 * where they are until that has ended.
 */
static void wait_for_child(uint32_t generation, mono_bool is_serial)
{
	const bool is_for_gc = hs_recorder.options.when & HS_WHEN_GC;

	if (!hs_fork_is_running() || !is_major_serial(generation, is_serial) || !is_wanted() ||
	    !(is_for_gc || is_collecting))
		return;
	hs_gc_log_publish();
	if (!hs_fork_wait(HS_FORK_QUEUE_NS) && is_for_gc)
		hs_request_post(HS_TRIGGER_GC);
}

static void before_stop(uint32_t generation, mono_bool is_serial)
{
	had_start = false;
	is_ours = is_collecting; /* here: the first access of a thread may call malloc */
	is_memory_low = hs_service_is_memory_low();
	if (is_memory_low)
		hs_request_post(HS_TRIGGER_AT);
	is_collecting_roots = (is_memory_low || is_major_serial(generation, is_serial)) &&
			      is_wanted() && !hs_fork_is_running();
	if (is_collecting_roots) {
		hs_roots_clear();
		hs_roots_report(profiler_handle, true);
	}
}

static void take(uint32_t generation)
{
	struct hs_request *request = hs_request_take();
	struct hs_snapshot snapshot = {
		.request = request,
		.trigger = request ? hs_trigger_name(request->trigger) : "gc",
		.label = request ? request->label : "",
		.is_stats_only = request && request->is_stats_only,
		.generation = generation,
		.asked_ns = request ? atomic_load(&request->asked_ns) : hs_monotonic_ns(),
	};

	/* Whoever asked may have given up since the world was stopped. */
	if (!request && !(hs_recorder.options.when & HS_WHEN_GC))
		return;
	hs_gc_log_publish();
	hs_snapshot_take(&snapshot);
}

bool hs_gc_has_rested(uint64_t now_ns)
{
	const uint64_t end_ns = last_snapshot_end_ns;

	return now_ns >= end_ns && now_ns - end_ns >= TIMER_SHARE * last_snapshot_duration_ns;
}

void hs_gc_snapshot_ended(uint64_t ns)
{
	last_snapshot_end_ns = hs_monotonic_ns();
	last_snapshot_duration_ns = ns;
}

/* What a collection gives rise to.  Ours are not counted: each would lead to the next for ever. */
static void ask_for_more(uint32_t generation, mono_bool is_serial)
{
	const struct hs_options *options = &hs_recorder.options;
	const uint64_t pause_ns = NATURAL_SHARE * last_snapshot_duration_ns;
	const uint64_t heap_bytes = options->at_bytes ? (uint64_t)mono_gc_get_heap_size() : 0;

	if ((options->when & HS_WHEN_EVERY_GCS) && !is_ours &&
	    ++n_collections % options->every_gcs == 0)
		hs_request_post(HS_TRIGGER_EVERY_GCS);
	if ((options->when & HS_WHEN_GC) && generation == (uint32_t)mono_gc_max_generation() &&
	    !is_serial && hs_monotonic_ns() - last_snapshot_end_ns >= pause_ns)
		hs_request_post(HS_TRIGGER_GC);
	if (options->at_bytes) {
		if (!next_at_bytes)
			next_at_bytes = options->at_bytes;
		if (heap_bytes >= next_at_bytes) {
			hs_request_post(HS_TRIGGER_AT);
			/* Back off: the heap that made it will hardly be the last that large. */
			while (next_at_bytes <= heap_bytes && next_at_bytes <= UINT64_MAX / 2)
				next_at_bytes *= 2;
		}
	}
}

static void before_start(uint32_t generation, mono_bool is_serial)
{
	if (is_collecting_roots) {
		hs_roots_report(profiler_handle, false);
		if (had_start && (is_memory_low || is_major_serial(generation, is_serial)))
			take(generation);
		is_collecting_roots = false;
	}
	if (atomic_load(&hs_recorder.phase) == HS_PHASE_RUNNING &&
	    !atomic_load(&hs_recorder.is_limit_reached))
		ask_for_more(generation, is_serial);
}

static void on_event(MonoProfilerGCEvent event, uint32_t generation, mono_bool is_serial)
{
	/* Also of a recording that has ended meanwhile: somebody may wait for the answer. */
	if (event == MONO_GC_EVENT_POST_START_WORLD_UNLOCKED)
		hs_windup();
	if (!hs_is_recording()) {
		if (is_collecting_roots)
			hs_roots_report(profiler_handle, is_collecting_roots = false);
		hs_gc_log_clear();
		return;
	}
	if (event == MONO_GC_EVENT_POST_STOP_WORLD)
		atomic_store(&hs_recorder.stopped_by, (uintptr_t)pthread_self());
	hs_gc_log_step((uint32_t)event + 1, generation, is_serial != 0);
	switch (event) {
	case MONO_GC_EVENT_PRE_STOP_WORLD:
		wait_for_child(generation, is_serial);
		break;
	case MONO_GC_EVENT_PRE_STOP_WORLD_LOCKED:
		before_stop(generation, is_serial);
		break;
	case MONO_GC_EVENT_POST_STOP_WORLD:
		if (is_collecting_roots)
			hs_threads_settle(HS_SETTLE_LIMIT_NS);
		break;
	case MONO_GC_EVENT_START:
		had_start = true;
		hs_roots_clear();
		if (is_collecting_roots)
			hs_saved_collect(&hs_recorder.saved);
		break;
	case MONO_GC_EVENT_PRE_START_WORLD:
		before_start(generation, is_serial);
		break;
	case MONO_GC_EVENT_POST_START_WORLD:
		atomic_store(&hs_recorder.stopped_by, 0);
		break;
	case MONO_GC_EVENT_POST_START_WORLD_UNLOCKED:
		hs_gc_log_publish();
		hs_service_collected();
		break;
	default:
		break;
	}
}

static void gc_event(MonoProfiler *profiler, MonoProfilerGCEvent event, uint32_t generation,
		     mono_bool is_serial)
{
	(void)profiler;
	hs_enter();
	on_event(event, generation, is_serial);
	hs_leave();
}

static void gc_resize(MonoProfiler *profiler, uintptr_t size)
{
	(void)profiler;
	hs_enter();
	if (hs_is_recording())
		hs_gc_log_resize(size);
	hs_leave();
}

static void gc_moves(MonoProfiler *profiler, MonoObject *const *objects, uint64_t count)
{
	struct hs_log_entry *entry;
	struct hs_moves_entry *out;
	uint64_t i;

	(void)profiler;
	/* They stand between the steps. */
	hs_gc_log_publish();
	entry = hs_push_begin(HS_ENTRY_MOVES,
			      sizeof *out + (count & ~UINT64_C(1)) * sizeof *out->pairs,
			      HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS);
	if (!entry)
		return;
	out = hs_log_payload(entry);
	out->n_pairs = count / 2;
	for (i = 0; i < 2 * out->n_pairs; i++)
		out->pairs[i] = (uintptr_t)objects[i];
	hs_push_end(entry);
}

void hs_gc_collect(void)
{
	is_collecting = true;
	mono_gc_collect(mono_gc_max_generation());
	is_collecting = false;
}

/* Requests are served on the finalizer thread, which belongs to the runtime. */
static void gc_finalized(MonoProfiler *profiler)
{
	(void)profiler;
	if (hs_is_recording() && hs_request_is_pending() && !hs_fork_is_running() &&
	    atomic_load(&hs_recorder.phase) == HS_PHASE_RUNNING)
		hs_gc_collect();
}

void hs_gc_shutdown(void)
{
	if (!hs_is_recording() || atomic_load(&hs_recorder.phase) == HS_PHASE_SHUTDOWN)
		return;
	if (hs_recorder.options.when & HS_WHEN_SHUTDOWN)
		hs_request_post(HS_TRIGGER_SHUTDOWN);
	hs_fork_wait(HS_FORK_EXIT_NS);
	/* Each collection serves one request; those of others come before ours. */
	for (int i = 0; i < HS_N_TRIGGERS && hs_request_is_pending() &&
			!atomic_load(&hs_recorder.is_limit_reached);
	     i++)
		hs_gc_collect();
	/* The runtime makes one more collection now, when threads are gone: not for us. */
	atomic_store(&hs_recorder.phase, HS_PHASE_SHUTDOWN);
	hs_request_refuse_all(-ESHUTDOWN);
	hs_late_name_all();
}

void hs_gc_install(MonoProfilerHandle handle)
{
	profiler_handle = handle;
	hs_roots_report(handle, false);
	is_collecting_roots = had_start = is_ours = false;
	n_collections = next_at_bytes = 0;
	hs_gc_log_clear();
	last_snapshot_end_ns = last_snapshot_duration_ns = 0;
	mono_profiler_set_gc_event_callback(handle, gc_event);
	mono_profiler_set_gc_resize_callback(
		handle, hs_recorder.options.events & HS_EVENTS_GC ? gc_resize : NULL);
	mono_profiler_set_gc_finalized_callback(handle, gc_finalized);
	mono_profiler_set_gc_moves_callback(
		handle, hs_recorder.options.events & HS_EVENTS_MOVES ? gc_moves : NULL);
}
