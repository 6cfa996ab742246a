/* SPDX-License-Identifier: MIT */
/*
 * Counts the allocations of the whole test program, the libraries' among them.
 * Not under AddressSanitizer, which has the allocator to itself.
 */
#ifndef HEAPSHOT_TESTS_UNIT_MALLOC_COUNT_H
#define HEAPSHOT_TESTS_UNIT_MALLOC_COUNT_H

#include <stdbool.h>
#include <stdint.h>

bool malloc_count_is_available(void);

/* Calls of malloc, calloc, realloc and aligned_alloc so far. */
uint64_t malloc_count(void);

#endif
