/* SPDX-License-Identifier: MIT */
/*
 * Memory that each thread has for itself.
 */
#include "config.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "profiler/per_thread.h"

static pthread_key_t keys[HS_N_PER_THREAD];
static bool are_keys[HS_N_PER_THREAD];

static void make_keys(void)
{
	int i;

	for (i = 0; i < HS_N_PER_THREAD; i++)
		are_keys[i] = pthread_key_create(&keys[i], free) == 0;
}

void *hs_per_thread_present(enum hs_per_thread kind)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_keys);
	return are_keys[kind] ? pthread_getspecific(keys[kind]) : NULL;
}

void *hs_per_thread(enum hs_per_thread kind, size_t size)
{
	void *memory = hs_per_thread_present(kind);

	if (memory || !are_keys[kind])
		return memory;
	memory = calloc(1, size);
	if (memory && pthread_setspecific(keys[kind], memory) != 0) {
		free(memory);
		memory = NULL;
	}
	return memory;
}
