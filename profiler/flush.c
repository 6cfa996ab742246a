/* SPDX-License-Identifier: MIT */
/*
 * Waiting until the writer has brought all events to the output.
 */
#include "config.h"

#include <errno.h>

#include "profiler/fork.h"
#include "profiler/recorder.h"

#define WAIT_NS (1 * HS_NS_PER_S)

int hs_flush(void (*drive)(void))
{
	uint64_t end, rounds;

	if (!hs_is_recording())
		return -ENOTCONN;
	/* Until then the output is the child's. */
	hs_fork_wait(HS_FORK_QUEUE_NS);
	end = hs_monotonic_ns() + WAIT_NS;
	rounds = atomic_load(&hs_recorder.n_writer_rounds);
	/* The round under way may have passed our last record: the one after it has not. */
	while (atomic_load(&hs_recorder.n_writer_rounds) < rounds + 2) {
		hs_wake(hs_recorder.wake_writer);
		if (drive)
			drive();
		else
			hs_sleep_ns(HS_NS_PER_MS);
		if (!hs_is_recording())
			return -ENOTCONN;
		if (hs_monotonic_ns() > end)
			return -ETIMEDOUT;
	}
	return 0;
}
