/* SPDX-License-Identifier: MIT */
/*
 * Threads whose stacks the collector scans, noted by themselves.  Running threads
 * come and go without a lock; the collecting thread reads in the stopped world.
 */
#ifndef HEAPSHOT_PROFILER_THREADS_H
#define HEAPSHOT_PROFILER_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_thread {
	_Atomic uintptr_t stack; /* its lowest address; 0: nobody */
	_Atomic uintptr_t bytes;
	_Atomic uintptr_t info; /* the runtime's own structure for the thread; 0: not known */
	_Atomic int tid;        /* the kernel's number; 0: not known yet */
	_Atomic int n_restless; /* so often in a row it did not come to rest */
};

/* The calling thread has this stack.  Beyond a large number, threads are not noted. */
void hs_threads_add(uintptr_t stack, uintptr_t bytes, uintptr_t info);
/* The thread with this stack is about to end. */
void hs_threads_remove(uintptr_t stack);

/*
 * In the stopped world: waits, at most LIMIT_NS, until the threads sleep.  A thread
 * that suspends itself says so before it sleeps, and until then changes words of its
 * stack that the collector already scans.  False when one did not come to rest,
 * or computes on; it is not waited for again when that happened some times in a row.
 */
bool hs_threads_settle(uint64_t limit_ns);

/* The thread after THREAD, the first after NULL, or NULL. */
const struct hs_thread *hs_threads_next(const struct hs_thread *thread);

#endif
