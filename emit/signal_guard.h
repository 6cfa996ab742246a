/* SPDX-License-Identifier: MIT */
/*
 * Keeps the signals that a failing write raises, SIGPIPE and SIGXFSZ, from the
 * host, whatever it does with them.  Other threads are not touched.
 *
 *     hs_signal_guard_begin(&guard);
 *     n = write(...);
 *     hs_signal_guard_end(&guard, n < 0 ? errno : 0);
 */
#ifndef HEAPSHOT_EMIT_SIGNAL_GUARD_H
#define HEAPSHOT_EMIT_SIGNAL_GUARD_H

#include <signal.h>

struct hs_signal_guard {
	sigset_t mask;    /* of the thread, to be restored */
	sigset_t pending; /* before the write: those are the host's */
};

/* Both change errno. */
void hs_signal_guard_begin(struct hs_signal_guard *guard);
void hs_signal_guard_end(struct hs_signal_guard *guard, int write_errno);

#endif
