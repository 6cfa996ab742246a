/* SPDX-License-Identifier: MIT */
/*
 * Times: nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef HEAPSHOT_PROFILER_CLOCK_H
#define HEAPSHOT_PROFILER_CLOCK_H

#include <stdint.h>
#include <time.h>

#define HS_NS_PER_MS UINT64_C(1000000)
#define HS_NS_PER_S  UINT64_C(1000000000)

static inline uint64_t hs_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * HS_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline void hs_sleep_ns(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / HS_NS_PER_S), (long)(ns % HS_NS_PER_S)};

	nanosleep(&time, NULL);
}

#endif
