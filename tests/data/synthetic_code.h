/* SPDX-License-Identifier: MIT */
/*
 * One more variant for synthetic.c.
 */
#ifndef HEAPSHOT_TESTS_SYNTHETIC_CODE_H
#define HEAPSHOT_TESTS_SYNTHETIC_CODE_H

#include "tests/data/synthetic.h"

void synthetic_code(struct synthetic_bytes *bytes, uint64_t n);

#endif
