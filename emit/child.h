/* SPDX-License-Identifier: MIT */
/*
 * Children that the host does not see.
 */
#ifndef HEAPSHOT_EMIT_CHILD_H
#define HEAPSHOT_EMIT_CHILD_H

#include <sys/types.h>

/*
 * fork() without its handlers, locks and SIGCHLD: the host's wait() finds no
 * such child, ours needs __WALL.  In the child only async-signal-safe calls are
 * allowed, since other threads may hold any lock; signals should be blocked
 * before, as no handler of the host may run there.  Returns as fork() does.
 */
pid_t hs_child_clone(void);

/* Closes all descriptors from FIRST on, but KEPT (-1: none). */
void hs_child_close_from(int first, int kept);

/* All signals at their default actions, as for a new program. */
void hs_child_reset_signals(void);

#endif
