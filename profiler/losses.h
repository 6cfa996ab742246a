/* SPDX-License-Identifier: MIT */
/*
 * Loss records.
 */
#ifndef HEAPSHOT_PROFILER_LOSSES_H
#define HEAPSHOT_PROFILER_LOSSES_H

#include <stdint.h>

/* For the owner: writes a Loss record for each kind of loss since the last one. */
int hs_losses_put(uint64_t deadline_ns);

#endif
