/* SPDX-License-Identifier: MIT */
/*
 * The writer thread as the helper of the collecting thread: while that walks and
 * encodes in the stopped world, it compresses and writes.  It is not known to the
 * runtime, so the stop of the world does not stop it.
 */
#ifndef HEAPSHOT_PROFILER_HELPER_H
#define HEAPSHOT_PROFILER_HELPER_H

#include <stdbool.h>

#include "profiler/clock.h"

/*
 * Longest time that the collecting thread waits for one frame of a file that the
 * writer thread has begun.  By itself it would wait in that very write(2), for as
 * long as the disk takes.
 */
#define HS_HELPER_FILE_NS (20 * HS_NS_PER_S)

/*
 * Collecting thread, as the owner: shares the stream with the writer thread.  False
 * where that would not pay or is not allowed: with one processor, for a callback.
 */
bool hs_helper_begin(void);
/* The same: ends it.  False when the writer thread is the owner from now on. */
bool hs_helper_end(void);

/* Writer thread: helps, if there is somebody to help. */
void hs_helper_work(void);

#endif
