/* SPDX-License-Identifier: MIT */
/*
 * Snapshots by fork: a child with a copy of the stopped heap walks, encodes,
 * compresses and writes, while the program goes on.
 *
 * Mono's own rules for it.  The child has one thread, so whatever another one
 * does in the collector at that moment is never finished: hence no concurrent
 * sweep, and a watchdog.  glibc's fork() would take the locks of malloc, which
 * a stopped thread may hold: hence the bare clone(2).
 *
 * While the child lives the sink is its own: our frames wait in the stream's
 * buffers and then in the log.  It publishes what reached the sink whole; where
 * it ends half-way the output is cut back to that.
 */
#ifndef HEAPSHOT_PROFILER_FORK_H
#define HEAPSHOT_PROFILER_FORK_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/request.h"
#include "profiler/snapshot.h"
#include "profiler/walk.h"
#include "schema/heapshot.pb-c.h"

/* `fork=auto`: from this size of the managed heap on; doc/performance.md. */
#define HS_FORK_HEAP_BYTES ((uint64_t)32 << 20)
/* A child that gets nowhere for so long is ended. */
#define HS_FORK_STALL_NS (20 * HS_NS_PER_S)
/* Longest time that a child waits for a slow reader, in all. */
#define HS_FORK_READER_NS (10 * HS_NS_PER_S)
/* Longest time that a collection waits for the child of the snapshot before; threads run. */
#define HS_FORK_QUEUE_NS (5 * HS_NS_PER_S)
/* Longest time that the end of the process waits for a child. */
#define HS_FORK_EXIT_NS (30 * HS_NS_PER_S)

/* At the start, before the runtime's own unless that IS_LATE. */
void hs_fork_prepare(bool is_late);

/* SNAPSHOT_FORK_CHILD, or why this snapshot is to be written in the process. */
Heapshot__SnapshotFork hs_fork_decide(enum hs_trigger trigger);

/*
 * Owner, in the stopped world, with nothing pending in the stream.  Returns 1
 * in the child, 0 in the parent, or a negative errno when there is no child.
 */
int hs_fork(const struct hs_snapshot *snapshot);
/* Child: how it went; does not return. */
void hs_fork_child_end(int error) __attribute__((noreturn));
/* Parent: how long the program was stopped. */
void hs_fork_tell_pause(uint64_t pause_ns);
/* Child: fills in what only the end can say. */
void hs_fork_fill_end(Heapshot__SnapshotEnd *end);

/* The walk of the snapshot under way; the parent watches its child's get on. */
struct hs_walk *hs_fork_walk(void);

/* Any thread. */
bool hs_fork_is_running(void);
/* Snapshots that children did not finish; they were told of one by one. */
uint64_t hs_fork_n_failed(void);
/* Waits until no child lives; false after LIMIT_NS. */
bool hs_fork_wait(uint64_t limit_ns);

/* Writer, as the owner: sees whether the child has ended, gets on, or is to be ended. */
void hs_fork_poll(void);
/* Writer: says what there is to say, when it is not the owner. */
void hs_fork_say(void);
/* Writer, as the owner: ends the child. */
void hs_fork_kill(void);
/* In a child that the program forked: ours is not its own. */
void hs_fork_forget(void);

#endif
