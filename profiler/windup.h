/* SPDX-License-Identifier: MIT */
/*
 * What of a snapshot is left for the time when the world runs again: its last
 * frames, which are in our buffers, and the answer to who asked for it.
 */
#ifndef HEAPSHOT_PROFILER_WINDUP_H
#define HEAPSHOT_PROFILER_WINDUP_H

#include <stdint.h>

#include "profiler/snapshot.h"

/*
 * Collecting thread, in the stopped world: SNAPSHOT was taken with ERROR (0: whole)
 * in PAUSE_NS; hs_windup() may take LIMIT_NS.
 */
void hs_windup_later(const struct hs_snapshot *snapshot, int error, uint64_t pause_ns,
		     uint64_t limit_ns);

/*
 * The same thread, when the world runs again, and before the collection returns:
 * whoever asked for it finds the snapshot in the output.
 */
void hs_windup(void);

#endif
