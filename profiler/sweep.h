/* SPDX-License-Identifier: MIT */
/*
 * The collector's sweep on a thread of its own, which a forked child does not
 * have: its walk would wait for that for ever.
 */
#ifndef HEAPSHOT_PROFILER_SWEEP_H
#define HEAPSHOT_PROFILER_SWEEP_H

#include <stdbool.h>

/*
 * Before the collector reads MONO_GC_PARAMS: asks it there not to sweep so.
 * False where the program's user asks for it, or when memory is short.
 */
bool hs_sweep_forbid(void);

/* When it has read it: the program's children inherit what was there before. */
void hs_sweep_restore_environment(void);

#endif
