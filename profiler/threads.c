/* SPDX-License-Identifier: MIT */
/*
 * The table of threads.
 */
#include "config.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "profiler/clock.h"
#include "profiler/threads.h"

#define CAPACITY 4096u
/* So often a thread is asked for at once; after that, with a pause in between. */
#define EAGER_TRIES 20u
#define PAUSE_NS    (50 * 1000)
/* Far more processor time than a thread takes on its way to sleep. */
#define BUSY_NS (2 * HS_NS_PER_MS)
/* A thread that so often in a row did not come to rest never does: it is not suspended at all. */
#define RESTLESS_MAX 3

static struct hs_thread threads[CAPACITY];
static _Atomic size_t n_used; /* no thread is noted at or behind this one */

static struct hs_thread *find(uintptr_t stack)
{
	const size_t n = atomic_load(&n_used);

	for (size_t i = 0; i < n; i++)
		if (atomic_load(&threads[i].stack) == stack)
			return &threads[i];
	return NULL;
}

static struct hs_thread *claim(uintptr_t stack)
{
	for (size_t i = 0; i < CAPACITY; i++) {
		uintptr_t nobody = 0;
		size_t n;

		if (!atomic_compare_exchange_strong(&threads[i].stack, &nobody, stack))
			continue;
		n = atomic_load(&n_used);
		while (n <= i && !atomic_compare_exchange_strong(&n_used, &n, i + 1))
			;
		return &threads[i];
	}
	return NULL;
}

void hs_threads_add(uintptr_t stack, uintptr_t bytes, uintptr_t info)
{
	/* A thread may announce itself twice; nobody else has its stack. */
	struct hs_thread *thread = find(stack);

	if (!thread)
		thread = claim(stack);
	if (!thread)
		return;
	atomic_store(&thread->bytes, bytes);
	atomic_store(&thread->info, info);
	atomic_store(&thread->n_restless, 0);
	atomic_store(&thread->tid, (int)gettid());
}

void hs_threads_remove(uintptr_t stack)
{
	struct hs_thread *thread = stack ? find(stack) : NULL;

	if (!thread)
		return;
	atomic_store(&thread->tid, 0);
	atomic_store(&thread->info, 0);
	atomic_store(&thread->stack, 0);
}

const struct hs_thread *hs_threads_next(const struct hs_thread *thread)
{
	const size_t n = atomic_load(&n_used);

	for (size_t i = thread ? (size_t)(thread - threads) + 1 : 0; i < n; i++)
		if (atomic_load(&threads[i].stack) && atomic_load(&threads[i].tid))
			return &threads[i];
	return NULL;
}

/* Whether thread TID of this process runs, or would if it got a processor. */
static bool is_running(int tid)
{
	static const char before[] = "/proc/self/task/", after[] = "/stat";
	char path[sizeof before + sizeof after + 12], digits[12], text[64];
	size_t n = sizeof digits, bytes = sizeof before - 1;
	const char *state;
	ssize_t got;
	int fd;

	memcpy(path, before, bytes);
	do
		digits[--n] = (char)('0' + tid % 10);
	while ((tid /= 10) != 0);
	memcpy(path + bytes, digits + n, sizeof digits - n);
	memcpy(path + bytes + sizeof digits - n, after, sizeof after);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof text);
	close(fd);
	/* "17 (name) R 1 ..."; a name has at most 15 bytes, any of which may be a parenthesis. */
	state = got > 0 ? memrchr(text, ')', (size_t)got) : NULL;
	return state && text + got - state > 2 && state[2] == 'R';
}

/* Processor time of the thread TID, by the kernel's numbering of such clocks; 0: not known. */
static uint64_t cpu_ns(int tid)
{
	struct timespec time;

	if (clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6), &time))
		return 0;
	return (uint64_t)time.tv_sec * HS_NS_PER_S + (uint64_t)time.tv_nsec;
}

/*
 * Waits for the thread TID; false when the time was up before it slept.  One that
 * lacks a processor is waited for longer than one that has it and goes on: that one
 * is in native code, and is not suspended at all.
 */
static bool wait_for(int tid, uint64_t deadline)
{
	uint64_t since = 0;
	unsigned tries;

	for (tries = 0; is_running(tid); tries++) {
		if (hs_monotonic_ns() >= deadline)
			return false;
		if (!tries)
			since = cpu_ns(tid);
		else if (cpu_ns(tid) - since > BUSY_NS)
			return false;
		if (tries < EAGER_TRIES)
			sched_yield();
		else
			hs_sleep_ns(PAUSE_NS);
	}
	return true;
}

bool hs_threads_settle(uint64_t limit_ns)
{
	const uint64_t deadline = hs_monotonic_ns() + limit_ns;
	const int own = (int)gettid();
	const size_t n = atomic_load(&n_used);
	bool is_settled = true;

	for (size_t i = 0; i < n; i++) {
		struct hs_thread *thread = &threads[i];
		const int tid = atomic_load(&thread->tid);

		if (!tid || tid == own || atomic_load(&thread->n_restless) >= RESTLESS_MAX)
			continue;
		if (wait_for(tid, deadline)) {
			atomic_store(&thread->n_restless, 0);
		} else {
			atomic_fetch_add(&thread->n_restless, 1);
			is_settled = false;
		}
	}
	return is_settled;
}
