/* SPDX-License-Identifier: MIT */
/*
 * Random numbers that come again: the seed is printed, and HEAPSHOT_SEED gives
 * another.
 */
#ifndef HEAPSHOT_TESTS_UNIT_RANDOM_H
#define HEAPSHOT_TESTS_UNIT_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state;

static inline void random_start(const char *what)
{
	const char *seed = getenv("HEAPSHOT_SEED");

	random_state = seed ? strtoull(seed, NULL, 0) : UINT64_C(20240229);
	fprintf(stderr, "# %s: HEAPSHOT_SEED=%llu\n", what, (unsigned long long)random_state);
}

/* splitmix64 */
static inline uint64_t random_next(void)
{
	uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static inline size_t random_below(size_t limit)
{
	return (size_t)(random_next() % limit);
}

#endif
