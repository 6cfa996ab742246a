/* SPDX-License-Identifier: MIT */
/*
 * Set of addresses that callbacks on running threads share without a lock.  A
 * full set forgets: then work is done twice, which is harmless.
 */
#ifndef HEAPSHOT_PROFILER_SEEN_H
#define HEAPSHOT_PROFILER_SEEN_H

#include <stdbool.h>
#include <stdint.h>

/* Adds ADDRESS (even, not 0); true when it was not there. */
bool hs_seen_add(uintptr_t address);

/*
 * Takes ADDRESS out: something else lives there now.  Nothing is done until
 * hs_seen_expect_others() was called, since to look for it costs a line of the cache.
 */
void hs_seen_remove(uintptr_t address);
/* From now on addresses may be used again. */
void hs_seen_expect_others(void);

/* Empties the set; for the start of a recording. */
void hs_seen_clear(void);

#endif
