/* SPDX-License-Identifier: MIT */
/*
 * One snapshot: begin record, objects, ephemeron edges, roots, end record.
 */
#ifndef HEAPSHOT_PROFILER_SNAPSHOT_H
#define HEAPSHOT_PROFILER_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

struct hs_snapshot {
	const char *trigger;
	const char *label;
	bool is_stats_only;
	uint64_t asked_ns;
	uint32_t id;          /* result; 0: not begun */
};

/*
 * Takes it, on the collecting thread, at PRE_START_WORLD of a major and serial
 * collection whose roots were collected.  Returns 0, or a negative errno when
 * it was not finished; the loss is counted then.
 */
int hs_snapshot_take(struct hs_snapshot *snapshot);

#endif
