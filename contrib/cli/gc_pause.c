/* SPDX-License-Identifier: MIT */
/*
 * From the stop of the world to its start.
 */
#include "contrib/cli/gc_pause.h"
#include "schema/heapshot.pb-c.h"

bool gc_pause_take(struct gc_pause *pause, const struct hs_gc_event *event, uint64_t time_ns)
{
	switch (event->phase) {
	case HEAPSHOT__GC_PHASE__GC_PHASE_POST_STOP_WORLD:
		/* At start and end the runtime states something else as is_serial. */
		*pause = (struct gc_pause){
			.is_stopped = true,
			.time_ns = time_ns,
			.is_serial = event->is_serial,
		};
		return false;
	case HEAPSHOT__GC_PHASE__GC_PHASE_POST_START_WORLD:
		if (!pause->is_stopped)
			return false;
		pause->is_stopped = false;
		pause->ns = time_ns > pause->time_ns ? time_ns - pause->time_ns : 0;
		return pause->has_start || pause->has_end;
	case HEAPSHOT__GC_PHASE__GC_PHASE_START:
		pause->has_start = true;
		break;
	case HEAPSHOT__GC_PHASE__GC_PHASE_END:
		pause->has_end = true;
		break;
	default:
		return false;
	}
	if (event->generation >= pause->generation)
		pause->generation = event->generation;
	return false;
}
