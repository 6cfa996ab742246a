/* SPDX-License-Identifier: MIT */
/*
 * Memory that each thread has for itself, made when it is first asked for.
 *
 * Not thread-local variables: those that are reached without a call, as a
 * callback needs it, come out of a reserve that all libraries share which a
 * program loads at run time, and that is small (glibc: 1,664 bytes).
 */
#ifndef HEAPSHOT_PROFILER_PER_THREAD_H
#define HEAPSHOT_PROFILER_PER_THREAD_H

#include <stddef.h>

enum hs_per_thread { HS_PER_THREAD_ERROR, HS_PER_THREAD_COMPILATIONS, HS_N_PER_THREAD };

/*
 * The calling thread's memory of that kind, SIZE zero bytes at first; NULL when
 * memory is short.  Freed with the thread.  Allocates: for running threads only.
 */
void *hs_per_thread(enum hs_per_thread kind, size_t size);

/* The same, but NULL where the thread has none yet. */
void *hs_per_thread_present(enum hs_per_thread kind);

#endif
