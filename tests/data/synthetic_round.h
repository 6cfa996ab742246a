/* SPDX-License-Identifier: MIT */
/*
 * The variant "round": what a recorder never writes, and a reader must bear.
 */
#ifndef HEAPSHOT_TESTS_SYNTHETIC_ROUND_H
#define HEAPSHOT_TESTS_SYNTHETIC_ROUND_H

#include "tests/data/synthetic.h"

void synthetic_round(struct synthetic_bytes *bytes, uint64_t n);

#endif
