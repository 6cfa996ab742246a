/* SPDX-License-Identifier: MIT */
/*
 * Criterion's workers end without the leak check that AddressSanitizer makes at
 * exit; with leak_check as `.fini` of each suite a leak fails its test.
 */
#ifndef HEAPSHOT_TESTS_UNIT_LEAK_CHECK_H
#define HEAPSHOT_TESTS_UNIT_LEAK_CHECK_H

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
int __lsan_do_recoverable_leak_check(void);
#endif

/* It has the allocator to itself, and limits of its own on descriptors. */
static inline bool is_under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload != NULL && strstr(preload, "vgpreload") != NULL;
}

static inline void leak_check(void)
{
#if defined(__SANITIZE_ADDRESS__)
	cr_expect_eq(__lsan_do_recoverable_leak_check(), 0, "memory leaked");
#endif
}

#endif
