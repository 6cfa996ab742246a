/* SPDX-License-Identifier: MIT */
/*
 * What the parent and the child of a snapshot both see, and the child's part.
 */
#ifndef HEAPSHOT_PROFILER_FORK_CHILD_H
#define HEAPSHOT_PROFILER_FORK_CHILD_H

#include <stdatomic.h>
#include <stdint.h>

#include "emit/stream.h"
#include "profiler/walk.h"

struct hs_fork_shared {
	struct hs_stream_commit commit;
	_Atomic uint64_t fork_ns, pause_ns; /* told by the parent */
	_Atomic int is_done;                /* the child came to its end */
	_Atomic int error, sink_error;      /* what it met there */
	struct hs_walk walk;
};

/* In the memory of both; NULL where there is none. */
extern struct hs_fork_shared *hs_fork_shared;

/* In the child, BORN_NS after the parent began to make it: lets go of all that is the program's. */
void hs_fork_become_child(uint64_t born_ns);

#endif
