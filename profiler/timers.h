/* SPDX-License-Identifier: MIT */
/*
 * What a recording does by the clock: snapshots of the option snapshot=TIME, and
 * samples of the counters.  Belongs to who serves the recording (service.h).
 */
#ifndef HEAPSHOT_PROFILER_TIMERS_H
#define HEAPSHOT_PROFILER_TIMERS_H

#include <stdint.h>

void hs_timers_start(void);
/* While the program runs: asks for what is due, and samples. */
void hs_timers_run(void);
/* When to look again. */
uint64_t hs_timers_next_ns(uint64_t now_ns);

#endif
