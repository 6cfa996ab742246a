/* SPDX-License-Identifier: MIT */
/*
 * The clock of recordings and deadlines: CLOCK_MONOTONIC in nanoseconds.
 */
#ifndef HEAPSHOT_EMIT_CLOCK_H
#define HEAPSHOT_EMIT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define HS_NS_PER_S  UINT64_C(1000000000)
#define HS_NS_PER_MS UINT64_C(1000000)

static inline uint64_t hs_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * HS_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
