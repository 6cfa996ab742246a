/* SPDX-License-Identifier: MIT */
/*
 * A recording as of a browser: tables of handles, and counters of linear memory.
 */
#ifndef HEAPSHOT_TESTS_SYNTHETIC_HANDLES_H
#define HEAPSHOT_TESTS_SYNTHETIC_HANDLES_H

#include "tests/data/synthetic.h"

/* N: so many handles more, all of one T.Pub. */
void synthetic_handles(struct synthetic_bytes *bytes, uint64_t n);
/* The same, and its end states other totals; N: 1 tables, 2 handles; 3: they are right,
 * and there is a table more by the name js_proxy, with a NUL and more behind it. */
void synthetic_handles_differ(struct synthetic_bytes *bytes, uint64_t n);

#endif
