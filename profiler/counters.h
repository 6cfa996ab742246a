/* SPDX-License-Identifier: MIT */
/*
 * The runtime's counters.
 */
#ifndef HEAPSHOT_PROFILER_COUNTERS_H
#define HEAPSHOT_PROFILER_COUNTERS_H

/* Makes the runtime register all of its counters; before it is initialised. */
void hs_counters_install(void);

/* The runtime prints all registered counters when it shuts down: this keeps it from that. */
void hs_counters_silence(void);

/*
 * Logs those that changed.  Samples take locks of the runtime and of libc, so
 * never in the stopped world and never as the owner; one thread at a time.
 */
void hs_counters_sample(void);

#endif
