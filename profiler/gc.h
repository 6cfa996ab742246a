/* SPDX-License-Identifier: MIT */
/*
 * Collections: their events, and the decision whether a snapshot is taken.
 */
#ifndef HEAPSHOT_PROFILER_GC_H
#define HEAPSHOT_PROFILER_GC_H

#include <stdbool.h>
#include <stdint.h>

#include <mono/metadata/profiler.h>

void hs_gc_install(MonoProfilerHandle handle);

/* A full collection on behalf of a request, on a thread of the runtime. */
void hs_gc_collect(void);

/* The runtime shuts down: takes the last snapshot if one is due, and no others from now on. */
void hs_gc_shutdown(void);

/*
 * Whether the program has run long enough since the last snapshot for one that
 * only the clock asks for: at least four times as long as that took.
 */
bool hs_gc_has_rested(uint64_t now_ns);

/* A snapshot has ended, in the process or in a child, and took NS. */
void hs_gc_snapshot_ended(uint64_t ns);

#endif
