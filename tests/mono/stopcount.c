/* SPDX-License-Identifier: MIT */
/*
 * Counts calls of malloc and its kin made by the collecting thread while the
 * world is stopped.  One file is two things: preloaded it stands before the C
 * library's functions, and named by --profile=stopcount it is a profiler module
 * that tells when the world stands still.
 *
 * The thread is watched from POST_STOP_WORLD to POST_START_WORLD.  Callbacks of
 * another module may come before or after ours, so a test runs both orders.
 * With `:selftest` the module itself calls malloc once in every stop.  The
 * counts are in memory that a child shares which was forked in a stop.
 */
#include <mono/metadata/profiler.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

void mono_profiler_init_stopcount(const char *description);

static __thread bool is_stopped __attribute__((tls_model("initial-exec")));
static unsigned long n_stops, *n_calls;
static void *first_caller;
static bool is_selftest;
static void *volatile selftest_block;

static void count(void *caller)
{
	if (!is_stopped)
		return;
	if (__atomic_fetch_add(n_calls, 1, __ATOMIC_RELAXED) == 0)
		first_caller = caller;
}

void *malloc(size_t size)
{
	count(__builtin_return_address(0));
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_calloc(n, size);
}

void *realloc(void *block, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_memalign(alignment, size);
}

void free(void *block)
{
	if (block)
		count(__builtin_return_address(0));
	__libc_free(block);
}

static void on_gc_event(MonoProfiler *profiler, MonoProfilerGCEvent event, uint32_t generation,
			mono_bool is_serial)
{
	(void)profiler;
	(void)generation;
	(void)is_serial;
	if (event == MONO_GC_EVENT_POST_STOP_WORLD) {
		__atomic_fetch_add(&n_stops, 1, __ATOMIC_RELAXED);
		is_stopped = true;
		if (is_selftest)
			free(selftest_block = malloc(1));
	} else if (event == MONO_GC_EVENT_POST_START_WORLD) {
		is_stopped = false;
	}
}

static void on_end(MonoProfiler *profiler)
{
	char text[128];
	int length =
		snprintf(text, sizeof(text), "stopcount: %lu stops, %lu calls, first from %p\n",
			 n_stops, *n_calls, first_caller);

	(void)profiler;
	if (write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(99);
}

__attribute__((visibility("default"))) void mono_profiler_init_stopcount(const char *description)
{
	MonoProfilerHandle handle = mono_profiler_create(NULL);

	n_calls = mmap(NULL, sizeof(*n_calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (n_calls == MAP_FAILED)
		return;
	is_selftest = strstr(description, ":selftest") != NULL;
	mono_profiler_set_gc_event_callback(handle, on_gc_event);
	mono_profiler_set_runtime_shutdown_end_callback(handle, on_end);
}
