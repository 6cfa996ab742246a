/* SPDX-License-Identifier: MIT */
/*
 * The second thread.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "contrib/reader/beside.h"

static bool has_processors(void)
{
#if defined(CPU_COUNT) && !defined(__EMSCRIPTEN__)
	cpu_set_t ours;

	if (sched_getaffinity(0, sizeof(ours), &ours) == 0)
		return CPU_COUNT(&ours) > 1;
#endif
	return sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

static void *run(void *user_data)
{
	struct hs_beside *beside = user_data;

	beside->work(beside->data);
	return NULL;
}

bool hs_beside_start(struct hs_beside *beside, void (*work)(void *data), void *data)
{
	sigset_t all, before;

	*beside = (struct hs_beside){.work = work, .data = data};
	if (!has_processors())
		return false;
	/* The program's signals stay with its own threads. */
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return false;
	beside->is_running = pthread_create(&beside->thread, NULL, run, beside) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return beside->is_running;
}

void hs_beside_join(struct hs_beside *beside)
{
	if (beside->is_running)
		pthread_join(beside->thread, NULL);
	beside->is_running = false;
}
