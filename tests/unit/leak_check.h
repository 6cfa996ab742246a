/* SPDX-License-Identifier: MIT */
/*
 * Criterion's workers end without the leak check that AddressSanitizer makes at
 * exit; with this as `.fini` of each suite a leak fails its test.
 */
#ifndef HEAPSHOT_TESTS_UNIT_LEAK_CHECK_H
#define HEAPSHOT_TESTS_UNIT_LEAK_CHECK_H

#include <criterion/criterion.h>

#if defined(__SANITIZE_ADDRESS__)
int __lsan_do_recoverable_leak_check(void);
#endif

static inline void leak_check(void)
{
#if defined(__SANITIZE_ADDRESS__)
	cr_expect_eq(__lsan_do_recoverable_leak_check(), 0, "memory leaked");
#endif
}

#endif
