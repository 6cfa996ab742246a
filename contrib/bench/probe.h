/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the probe share: moments, and the tally of callbacks.
 */
#ifndef HEAPSHOT_BENCH_PROBE_H
#define HEAPSHOT_BENCH_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <mono/metadata/profiler.h>

/* A moment, or a time between two, by both clocks. */
struct moment {
	uint64_t cpu_ns; /* of the calling thread */
	uint64_t wall_ns;
};

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static inline struct moment moment_now(void)
{
	const struct moment moment = {.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID),
				      .wall_ns = clock_ns(CLOCK_MONOTONIC)};

	return moment;
}

static inline struct moment moment_since(struct moment since)
{
	const struct moment now = moment_now();
	const struct moment took = {.cpu_ns = now.cpu_ns - since.cpu_ns,
				    .wall_ns = now.wall_ns - since.wall_ns};

	return took;
}

struct _MonoProfiler {
	const char *name;
	char *after_name, *threads_name; /* of results */
	unsigned index;
	bool is_front;
	MonoProfilerHandle handle;
	struct moment loaded;
};

/* Kinds of callbacks; those of gc_event come last and follow the runtime's enumeration. */
enum tally_kind {
	TALLY_CLASS_LOADED,
	TALLY_VTABLE_LOADED,
	TALLY_IMAGE_LOADED,
	TALLY_ROOT_REGISTER,
	TALLY_ROOT_UNREGISTER,
	TALLY_THREAD_STARTED,
	TALLY_THREAD_STOPPED,
	TALLY_JIT_CHUNK,
	TALLY_JIT_DONE,
	TALLY_GC_RESIZE,
	TALLY_GC_FINALIZED,
	TALLY_GC, /* and what follows: MonoProfilerGCEvent */
	TALLY_KINDS = TALLY_GC + 16,
};

/* Listens to all of them; PROBE's name is printed with the costs. */
void tally_install(struct _MonoProfiler *probe);

/* The first probe's callback ends with tally_begin, the next one's begins with tally_end. */
void tally_begin(void);
void tally_end(const struct _MonoProfiler *probe, unsigned kind);

void tally_print(FILE *out, const struct _MonoProfiler *probes, unsigned n_probes);

#endif
