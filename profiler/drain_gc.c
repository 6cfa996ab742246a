/* SPDX-License-Identifier: MIT */
/*
 * Collections: the steps of a stop of the world, one record each.
 */
#include "config.h"

#include "profiler/drain.h"
#include "profiler/gc_log.h"
#include "profiler/ring.h"
#include "schema/gc_records.h"

/* Of a stop that was told before it ended: the time of its first step, and how many of them. */
static struct {
	uint64_t base_ns;
	uint32_t n;
} told;

static int put_event(struct hs_draining *drain, uint64_t time_ns, const struct hs_gc_event *event)
{
	return hs_record_put_raw(HS_FRAME_EVENTS, time_ns, HEAPSHOT__RECORD__BODY_GC_EVENT,
				 hs_gc_event_bytes(event), hs_gc_event_encode, event,
				 drain->deadline_ns);
}

static int put_resize(struct hs_draining *drain, uint64_t time_ns, uint64_t heap_bytes)
{
	const struct hs_gc_resize resize = {heap_bytes};

	return hs_record_put_raw(HS_FRAME_EVENTS, time_ns, HEAPSHOT__RECORD__BODY_GC_RESIZE,
				 hs_gc_resize_bytes(&resize), hs_gc_resize_encode, &resize,
				 drain->deadline_ns);
}

static int put_step(struct hs_draining *drain, uint64_t time_ns, uint64_t step, uint64_t heap_bytes)
{
	const struct hs_gc_event event = {
		.phase = hs_gc_step_phase(step),
		.generation = hs_gc_step_generation(step),
		.is_serial = hs_gc_step_is_serial(step),
	};
	int error = 0;

	if (hs_drain_wants(HS_EVENTS_GC))
		error = event.phase == HS_GC_STEP_RESIZE ? put_resize(drain, time_ns, heap_bytes)
							 : put_event(drain, time_ns, &event);
	if (!error && event.phase == HEAPSHOT__GC_PHASE__GC_PHASE_POST_START_WORLD)
		hs_ranges_gc_ended(&hs_recorder.ranges);
	return error;
}

/* Those from n_told on; one that finds no room stays, and what follows it. */
static int put_steps(struct hs_draining *drain, uint64_t base_ns, struct hs_gc_entry *in)
{
	int error = 0;

	while (!error && in->n_told < in->n) {
		const uint64_t step = in->steps[in->n_told];
		error = put_step(drain, hs_since_start(base_ns + hs_gc_step_delta_ns(step)), step,
				 in->heap_bytes);
		in->n_told += !error;
	}
	return error;
}

static void pass_told(uint64_t base_ns, struct hs_gc_entry *in)
{
	if (base_ns == told.base_ns && in->n_told < told.n)
		in->n_told = told.n;
}

int hs_drain_gc(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_gc_entry *in = hs_log_payload(entry);

	pass_told(entry->time_ns, in);
	return put_steps(drain, entry->time_ns, in);
}

int hs_drain_open_gc(struct hs_draining *drain)
{
	struct hs_gc_open open;
	int error;

	if (!hs_gc_log_peek(&open))
		return 0;
	/* One that is about to end comes by itself, unless nothing comes any more. */
	if (hs_is_recording() && hs_monotonic_ns() - open.base_ns < HS_FLUSH_NS)
		return 0;
	pass_told(open.base_ns, &open.entry);
	error = put_steps(drain, open.base_ns, &open.entry);
	told.base_ns = open.base_ns;
	told.n = open.entry.n_told;
	return error;
}
