/* SPDX-License-Identifier: MIT */
/*
 * One snapshot: begin record, objects, ephemeron edges, roots, end record.
 */
#ifndef HEAPSHOT_PROFILER_SNAPSHOT_H
#define HEAPSHOT_PROFILER_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

struct hs_request;

struct hs_snapshot {
	struct hs_request *request; /* NULL: nobody asked */
	const char *trigger;
	const char *label;
	bool is_stats_only;
	uint32_t generation; /* of the collection */
	uint64_t asked_ns;
	uint32_t id; /* result; 0: not begun */
};

/*
 * Takes it, on the collecting thread, at PRE_START_WORLD of a major and serial
 * collection whose roots were collected; or lets a child take it (fork.h).  In
 * the end, then, in hs_windup(), or later, hs_snapshot_ended() says what came of it.
 */
void hs_snapshot_take(struct hs_snapshot *snapshot);

/* Owner: states in the recording that it was not finished, why, and how long the program stood. */
void hs_snapshot_give_up(const struct hs_snapshot *snapshot, const char *why, uint64_t pause_ns);

/* It took NS and ended with ERROR (0: whole).  Counts it, and answers who asked. */
void hs_snapshot_ended(const struct hs_snapshot *snapshot, int error, uint64_t ns);

#endif
