/* SPDX-License-Identifier: MIT */
/*
 * Types that were met in the heap before they had a name: they are named after
 * the world has restarted.  With a recording that began with the program there
 * are none.
 */
#ifndef HEAPSHOT_PROFILER_LATE_H
#define HEAPSHOT_PROFILER_LATE_H

#include <stdbool.h>
#include <stdint.h>

/* In the stopped world: KLASS has no name. */
void hs_late_add(uintptr_t klass);
/* Some were added since they were ready last. */
bool hs_late_has_collected(void);
/* In the stopped world: those added are ready to be named. */
void hs_late_publish(void);

/* Forgets all; for the start of a recording. */
void hs_late_clear(void);

bool hs_late_is_pending(void);
/* On a thread that belongs to the runtime: names them. */
void hs_late_name_all(void);
/*
 * Before a domain goes, and its types with it, or a recording may end: names
 * them, and waits for other threads that do, within a bound.
 */
void hs_late_name_last(void);

#endif
