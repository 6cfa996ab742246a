/* SPDX-License-Identifier: MIT */
/*
 * Threads as the collector sees them: the table, waiting for rest, and words that
 * they saved.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/saved.h"
#include "profiler/threads.h"
#include "tests/unit/leak_check.h"

TestSuite(threads, .fini = leak_check);

#define MS 1000000u

/* A thread that notes itself, and computes until it is told to sleep, and to end. */
struct worker {
	pthread_t thread;
	uintptr_t stack;
	sem_t is_noted, may_end;
	_Atomic int may_sleep;
};

static void *work(void *data)
{
	struct worker *worker = data;

	hs_threads_add(worker->stack, 4096, 0);
	sem_post(&worker->is_noted);
	while (!worker->may_sleep)
		;
	sem_wait(&worker->may_end);
	hs_threads_remove(worker->stack);
	return NULL;
}

static void start(struct worker *worker, uintptr_t stack, bool may_sleep)
{
	worker->stack = stack;
	worker->may_sleep = may_sleep;
	sem_init(&worker->is_noted, 0, 0);
	sem_init(&worker->may_end, 0, 0);
	cr_assert_eq(pthread_create(&worker->thread, NULL, work, worker), 0);
	sem_wait(&worker->is_noted);
}

static void end(struct worker *worker)
{
	worker->may_sleep = 1;
	sem_post(&worker->may_end);
	pthread_join(worker->thread, NULL);
}

static size_t count(void)
{
	size_t n = 0;

	for (const struct hs_thread *t = NULL; (t = hs_threads_next(t)) != NULL;)
		n++;
	return n;
}

Test(threads, come_and_go)
{
	cr_assert_eq(count(), 0);
	hs_threads_add(0x10000, 4096, 1);
	hs_threads_add(0x20000, 4096, 2);
	hs_threads_add(0x10000, 8192, 3);
	cr_assert_eq(count(), 2, "a stack is one thread's");
	cr_assert_eq(atomic_load(&hs_threads_next(NULL)->bytes), 8192);
	hs_threads_remove(0x30000);
	hs_threads_remove(0x10000);
	cr_assert_eq(count(), 1);
	cr_assert_eq(atomic_load(&hs_threads_next(NULL)->stack), 0x20000);
	hs_threads_add(0x30000, 4096, 1);
	hs_threads_remove(0x20000);
	hs_threads_remove(0x30000);
	cr_assert_eq(count(), 0);
	for (uintptr_t i = 1; i < 6000; i++)
		hs_threads_add(i << 16, 4096, 1);
	cr_assert_eq(count(), 4096, "what has no room is left out");
	for (uintptr_t i = 1; i < 6000; i++)
		hs_threads_remove(i << 16);
	cr_assert_eq(count(), 0);
}

Test(threads, settle)
{
	struct worker asleep, awake;
	const struct hs_thread *thread;

	cr_assert(hs_threads_settle(MS));
	start(&asleep, 0x10000, true);
	/* On a machine under load, too: it sleeps some time. */
	while (!hs_threads_settle(1000 * MS))
		;
	start(&awake, 0x20000, false);
	thread = hs_threads_next(hs_threads_next(NULL));
	cr_assert_eq(atomic_load(&thread->stack), 0x20000);
	/* Where threads take turns, as under valgrind, it sleeps now and then. */
	while (atomic_load(&thread->n_restless) < 3)
		hs_threads_settle(MS);
	cr_assert(hs_threads_settle(MS), "it is not waited for again");
	end(&awake);
	end(&asleep);
	cr_assert(hs_threads_settle(MS));
}

/* Native code that computes while the world is stopped must not hold it: not for the whole limit. */
Test(threads, settle_leaves_those_that_compute)
{
	struct worker workers[3];
	size_t i;

	for (i = 0; i < 3; i++)
		start(&workers[i], (i + 1) << 16, false);
	/* Without the rule on processor time this would never end. */
	while (atomic_load(&hs_threads_next(NULL)->n_restless) < 3)
		hs_threads_settle(UINT64_MAX / 4);
	for (i = 0; i < 3; i++)
		end(&workers[i]);
}

/* As the runtime has it: somewhere a pointer to an array, and later its fields once more. */
struct array {
	uintptr_t *data;
	uint32_t length;
};

static uintptr_t *make_info(struct array *array)
{
	uintptr_t *info = calloc(256, sizeof *info);

	info[3] = (uintptr_t)info;
	info[5] = 42;
	info[22] = (uintptr_t)array;
	memcpy(&info[76], array, sizeof *array);
	return info;
}

static struct hs_saved_word *collect(struct hs_area *words)
{
	hs_saved_collect(words);
	return hs_saved_words(words);
}

Test(threads, saved_words)
{
	uintptr_t saved[] = {0x700028, 12, 0x10040, 0x500000, 0x700003, 0};
	struct array array = {saved, sizeof saved};
	uintptr_t *info = make_info(&array);
	struct hs_area words = {0};
	struct hs_saved_word *word;

	hs_saved_forget_layout();
	hs_threads_add(0x10000, 4096, (uintptr_t)info);
	word = collect(&words);
	/* Neither what no object can be at, nor the thread's own stack. */
	cr_assert_eq(hs_saved_count(&words), 3);
	cr_assert(word[0].word == 0x500000 && word[1].word == 0x700000 && word[2].word == 0x700028);
	cr_assert(word[0].stack == 0x10000 && word[0].object == 0);

	hs_saved_meet(&words, 0x4ffff0, 16);
	hs_saved_meet(&words, 0x700000, 40);
	hs_saved_meet(&words, 0x700040, 8);
	cr_assert(word[0].object == 0 && word[1].object == 0x700000 && word[2].object == 0);
	hs_saved_meet(&words, 0x700020, 16);
	cr_assert_eq(word[2].object, 0x700020, "words may point inside");

	/* What does not hold together is not believed. */
	array.length -= 8;
	collect(&words);
	cr_assert_eq(hs_saved_count(&words), 0);
	memcpy(&info[76], &array, sizeof array);
	word = collect(&words);
	cr_assert(hs_saved_count(&words) == 3 && word[0].object == 0);

	/* Nor is what the kernel cannot read. */
	info[22] = 0x10008;
	collect(&words);
	cr_assert_eq(hs_saved_count(&words), 0);
	hs_threads_add(0x10000, 4096, 0x10008);
	collect(&words);
	cr_assert_eq(hs_saved_count(&words), 0);
	hs_threads_remove(0x10000);
	hs_area_free(&words);
	free(info);
}
