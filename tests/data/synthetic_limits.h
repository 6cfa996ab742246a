/* SPDX-License-Identifier: MIT */
/*
 * Heaps that formats of other tools have no room for, or hardly.
 */
#ifndef HEAPSHOT_TESTS_SYNTHETIC_LIMITS_H
#define HEAPSHOT_TESTS_SYNTHETIC_LIMITS_H

#include "tests/data/synthetic.h"

/* Five objects of N bytes (1 GiB) in a chain, the first held by a static field. */
void synthetic_wide(struct synthetic_bytes *bytes, uint64_t n);

/* Five objects of 32 bytes in such a chain, their addresses N bytes (64 GiB) apart. */
void synthetic_apart(struct synthetic_bytes *bytes, uint64_t n);

/* The same at addresses below 4 GiB. */
void synthetic_low(struct synthetic_bytes *bytes, uint64_t n);

/* N objects (100), each held by a static field of a name of its own. */
void synthetic_names(struct synthetic_bytes *bytes, uint64_t n);

/* An object of a type whose name has N bytes (3,000) and no blank, held by a static field. */
void synthetic_long_name(struct synthetic_bytes *bytes, uint64_t n);

#endif
