/* SPDX-License-Identifier: MIT */
/*
 * From the address of a root to its source: kind, name, static field, thread,
 * domain, handle.
 */
#ifndef HEAPSHOT_PROFILER_ROOT_SOURCE_H
#define HEAPSHOT_PROFILER_ROOT_SOURCE_H

#include "profiler/recorder.h"

/* The kind of roots that threads saved; their address is the thread's stack. */
extern const char hs_saved_registers[];

struct hs_root_source_ref {
	uint32_t index; /* in the current batch; 0: no room in it */
	Heapshot__RootKind kind;
};

/*
 * The source of ROOT, added to the current batch of the root encoder if it is new
 * there; of an ephemeron's value, which is no root, the kind alone.
 */
struct hs_root_source_ref hs_root_source(const struct hs_root *root);

/* A new batch has begun. */
void hs_root_sources_reset(void);

#endif
