/* SPDX-License-Identifier: MIT */
/*
 * Who serves a recording while the program runs: two threads of our own, or,
 * where there are none (wasm), the program's one thread, in the callbacks that
 * the runtime makes anyway.
 */
#ifndef HEAPSHOT_PROFILER_SERVICE_H
#define HEAPSHOT_PROFILER_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * From the first time on the recording ends with the process, and does not go on in
 * a forked one.  False with a line in MESSAGE.
 */
bool hs_service_start(char *message, size_t size);
/* Gives back what was started: threads that is_closed says have ended, or none. */
void hs_service_release(void);

#ifdef __EMSCRIPTEN__
/*
 * A collection begins: whether the option `at` asks for a snapshot in it, since memory
 * nears its maximum; true once in a recording.  At the maximum the runtime ends without
 * a word, maybe before there is a full collection: so the snapshot may be of a minor one.
 */
bool hs_service_is_memory_low(void);
/* An OutOfMemoryException is thrown: gives back what was kept for the collection that follows. */
void hs_service_make_room(void);
enum { HS_SERVICE_TAKES_MINOR = 1 };
#else
static inline void hs_service_make_room(void)
{
}

static inline bool hs_service_is_memory_low(void)
{
	return false;
}
enum { HS_SERVICE_TAKES_MINOR = 0 };
#endif

/* A collection is over, the world runs; called on the thread that collected. */
void hs_service_collected(void);

#endif
