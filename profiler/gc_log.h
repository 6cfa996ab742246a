/* SPDX-License-Identifier: MIT */
/*
 * The steps of a stop of the world, gathered into one entry of the log.  An entry
 * for each step cost more than all else that is done in a collection: the caches
 * are cold then.
 */
#ifndef HEAPSHOT_PROFILER_GC_LOG_H
#define HEAPSHOT_PROFILER_GC_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/entries.h"

/* For the collecting thread.  A step that happens now; PHASE is a GcPhase. */
void hs_gc_log_step(uint32_t phase, uint32_t generation, bool is_serial);
/* The heap has HEAP_BYTES now. */
void hs_gc_log_resize(uint64_t heap_bytes);
/* Puts into the log what was gathered: at the end of a stop, and before what shall come behind it. */
void hs_gc_log_publish(void);
/* Forgets it. */
void hs_gc_log_clear(void);

/* Steps of a stop that is under way. */
struct hs_gc_open {
	uint64_t base_ns;
	struct hs_gc_entry entry;
};

/* For the owner, any thread: false when there is none.  It may be in the log already. */
bool hs_gc_log_peek(struct hs_gc_open *open);

#endif
