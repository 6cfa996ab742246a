/* SPDX-License-Identifier: MIT */
/*
 * Blocks the signals on this thread, and takes the one that the write raised
 * back out of the queue: such a signal is sent to the writing thread itself, so
 * that it is pending here when write(2) has returned.
 */
#include "emit/signal_guard.h"

#include <errno.h>
#include <time.h>

void hs_signal_guard_begin(struct hs_signal_guard *guard)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &ours, &guard->mask);
	sigemptyset(&guard->pending);
	sigpending(&guard->pending);
}

void hs_signal_guard_end(struct hs_signal_guard *guard, int write_errno)
{
	const int raised = write_errno == EPIPE ? SIGPIPE : write_errno == EFBIG ? SIGXFSZ : 0;

	if (raised != 0 && sigismember(&guard->pending, raised) == 0) {
		const struct timespec at_once = {0};
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, raised);
		while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
}
