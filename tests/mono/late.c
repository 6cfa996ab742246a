/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: a thread that posts a semaphore goes on computing for a while, as
 * on a loaded machine.  The runtime's threads say that way that they are suspended,
 * and sleep only afterwards.
 */
#include "config.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <time.h>

#define SPIN_NS (150 * 1000)

typedef int post(sem_t *semaphore);

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int sem_post(sem_t *semaphore)
{
	post *real = (post *)dlsym(RTLD_NEXT, "sem_post");
	const int result = real(semaphore);
	const long long end = now_ns() + SPIN_NS;

	while (now_ns() < end)
		;
	return result;
}
