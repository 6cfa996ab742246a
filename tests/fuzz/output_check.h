/* SPDX-License-Identifier: MIT */
/*
 * What a command wrote: text that is safe on a terminal, or JSON.
 */
#ifndef HEAPSHOT_TESTS_FUZZ_OUTPUT_CHECK_H
#define HEAPSHOT_TESTS_FUZZ_OUTPUT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Valid UTF-8 without control characters but line ends. */
bool output_is_safe(const char *text, size_t size);

/* Values of JSON one behind the other, or nothing. */
bool output_is_json(const char *text, size_t size);

#endif
