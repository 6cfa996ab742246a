/* SPDX-License-Identifier: MIT */
/*
 * Times: nanoseconds of CLOCK_MONOTONIC, and sleeping.
 */
#ifndef HEAPSHOT_PROFILER_CLOCK_H
#define HEAPSHOT_PROFILER_CLOCK_H

#include "emit/clock.h"

static inline void hs_sleep_ns(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / HS_NS_PER_S), (long)(ns % HS_NS_PER_S)};

	nanosleep(&time, NULL);
}

#endif
