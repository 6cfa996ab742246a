/* SPDX-License-Identifier: MIT */
/*
 * Work on a second thread, where there is a processor for one.  The library's
 * callbacks are never called on it, and it never sets the reader's error.
 */
#ifndef HEAPSHOT_READER_BESIDE_H
#define HEAPSHOT_READER_BESIDE_H

#include <pthread.h>
#include <stdbool.h>

struct hs_beside {
	pthread_t thread;
	bool is_running;
	void (*work)(void *data);
	void *data;
};

/*
 * Starts WORK on a thread that takes no signals.  False where there is none to
 * have, or one processor only: nothing was done then.
 */
bool hs_beside_start(struct hs_beside *beside, void (*work)(void *data), void *data);

/* Waits for its end, where it was started. */
void hs_beside_join(struct hs_beside *beside);

#endif
