/* SPDX-License-Identifier: MIT */
/*
 * The variant "held": a small heap whose dominators and paths are known.
 */
#ifndef HEAPSHOT_TESTS_SYNTHETIC_HELD_H
#define HEAPSHOT_TESTS_SYNTHETIC_HELD_H

#include "tests/data/synthetic.h"

void synthetic_held(struct synthetic_bytes *bytes, uint64_t n);

#endif
