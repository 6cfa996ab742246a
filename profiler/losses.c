/* SPDX-License-Identifier: MIT */
/*
 * What was lost is always stated in the file.
 */
#include "config.h"

#include "profiler/losses.h"
#include "profiler/recorder.h"
#include "profiler/ring.h"

static const char *const reasons[] = {
	[HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS] = "the log was full, or memory was short",
	[HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS] = "the log was full, or memory was short",
	[HEAPSHOT__LOSS_KIND__LOSS_KIND_ROOT_RANGES] = "the log was full, or memory was short",
	[HEAPSHOT__LOSS_KIND__LOSS_KIND_SNAPSHOTS] =
		"the output was too slow or failed, memory was short, or a child failed",
	[HEAPSHOT__LOSS_KIND__LOSS_KIND_METHODS] = "the log was full, or memory was short",
};

int hs_losses_put(uint64_t deadline_ns)
{
	unsigned kind;

	for (kind = 1; kind < sizeof reasons / sizeof *reasons; kind++) {
		Heapshot__Loss loss = HEAPSHOT__LOSS__INIT;
		Heapshot__Record record = HEAPSHOT__RECORD__INIT;
		uint64_t n = atomic_load(&hs_recorder.lost[kind]);
		int error;
		if (!n)
			continue;
		record.body_case = HEAPSHOT__RECORD__BODY_LOSS;
		record.loss = &loss;
		loss.kind = (Heapshot__LossKind)kind;
		loss.count = n;
		loss.reason = (char *)(uintptr_t)reasons[kind];
		error = hs_record_put(HS_FRAME_EVENTS, hs_since_start(hs_monotonic_ns()), &record,
				      deadline_ns);
		if (error)
			return error;
		atomic_fetch_sub(&hs_recorder.lost[kind], n);
	}
	return 0;
}
