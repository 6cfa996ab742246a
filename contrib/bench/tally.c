/* SPDX-License-Identifier: MIT */
/*
 * How often each callback is raised, and how long the module between two probes
 * takes for it.  Samples are kept, not sums: a sum would count the times when
 * the processor was with somebody else.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "contrib/bench/probe.h"

#define SAMPLES_MAX 65536u
#define PROBES_MAX  8u

struct tally {
	_Atomic uint64_t n;
	uint32_t *samples; /* ns */
};

static struct tally tallies[PROBES_MAX][TALLY_KINDS];
static bool is_on;
static __thread uint64_t begin_ns __attribute__((tls_model("initial-exec")));

static const char *const names[TALLY_KINDS] = {
	[TALLY_CLASS_LOADED] = "class_loaded",
	[TALLY_VTABLE_LOADED] = "vtable_loaded",
	[TALLY_IMAGE_LOADED] = "image_loaded",
	[TALLY_ROOT_REGISTER] = "gc_root_register",
	[TALLY_ROOT_UNREGISTER] = "gc_root_unregister",
	[TALLY_THREAD_STARTED] = "thread_started",
	[TALLY_THREAD_STOPPED] = "thread_stopped",
	[TALLY_JIT_CHUNK] = "jit_chunk",
	[TALLY_JIT_DONE] = "jit_done",
	[TALLY_GC_RESIZE] = "gc_resize",
	[TALLY_GC_FINALIZED] = "gc_finalized",
	[TALLY_GC + MONO_GC_EVENT_PRE_STOP_WORLD] = "gc pre_stop_world",
	[TALLY_GC + MONO_GC_EVENT_PRE_STOP_WORLD_LOCKED] = "gc pre_stop_world_locked",
	[TALLY_GC + MONO_GC_EVENT_POST_STOP_WORLD] = "gc post_stop_world",
	[TALLY_GC + MONO_GC_EVENT_START] = "gc start",
	[TALLY_GC + MONO_GC_EVENT_END] = "gc end",
	[TALLY_GC + MONO_GC_EVENT_PRE_START_WORLD] = "gc pre_start_world",
	[TALLY_GC + MONO_GC_EVENT_POST_START_WORLD] = "gc post_start_world",
	[TALLY_GC + MONO_GC_EVENT_POST_START_WORLD_UNLOCKED] = "gc post_start_world_unlocked",
};

void tally_begin(void)
{
	if (is_on)
		begin_ns = clock_ns(CLOCK_MONOTONIC);
}

void tally_end(const struct _MonoProfiler *probe, unsigned kind)
{
	const uint64_t end_ns = is_on ? clock_ns(CLOCK_MONOTONIC) : 0;
	struct tally *tally = &tallies[probe->index][kind];
	uint64_t i, took_ns = end_ns - begin_ns;

	if (!is_on || !begin_ns || kind >= TALLY_KINDS)
		return;
	i = tally->n++;
	if (i < SAMPLES_MAX)
		tally->samples[i] = took_ns < UINT32_MAX ? (uint32_t)took_ns : UINT32_MAX;
}

/* One callback for all probes: the front one begins, the others end and begin. */
static void met(const struct _MonoProfiler *probe, unsigned kind)
{
	if (!probe->is_front)
		tally_end(probe, kind);
	tally_begin();
}

static void class_loaded(MonoProfiler *probe, MonoClass *klass)
{
	(void)klass;
	met(probe, TALLY_CLASS_LOADED);
}

static void vtable_loaded(MonoProfiler *probe, MonoVTable *vtable)
{
	(void)vtable;
	met(probe, TALLY_VTABLE_LOADED);
}

static void image_loaded(MonoProfiler *probe, MonoImage *image)
{
	(void)image;
	met(probe, TALLY_IMAGE_LOADED);
}

static void root_register(MonoProfiler *probe, const mono_byte *start, uintptr_t size,
			  MonoGCRootSource source, const void *key, const char *name)
{
	(void)start;
	(void)size;
	(void)source;
	(void)key;
	(void)name;
	met(probe, TALLY_ROOT_REGISTER);
}

static void root_unregister(MonoProfiler *probe, const mono_byte *start)
{
	(void)start;
	met(probe, TALLY_ROOT_UNREGISTER);
}

static void thread_started(MonoProfiler *probe, uintptr_t thread)
{
	(void)thread;
	met(probe, TALLY_THREAD_STARTED);
}

static void thread_stopped(MonoProfiler *probe, uintptr_t thread)
{
	(void)thread;
	met(probe, TALLY_THREAD_STOPPED);
}

static void jit_chunk_created(MonoProfiler *probe, const mono_byte *chunk, uintptr_t size)
{
	(void)chunk;
	(void)size;
	met(probe, TALLY_JIT_CHUNK);
}

static void jit_done(MonoProfiler *probe, MonoMethod *method, MonoJitInfo *info)
{
	(void)method;
	(void)info;
	met(probe, TALLY_JIT_DONE);
}

static void gc_resize(MonoProfiler *probe, uintptr_t size)
{
	(void)size;
	met(probe, TALLY_GC_RESIZE);
}

static void gc_finalized(MonoProfiler *probe)
{
	met(probe, TALLY_GC_FINALIZED);
}

void tally_install(struct _MonoProfiler *probe)
{
	unsigned kind;

	is_on = true;
	for (kind = 0; kind < TALLY_KINDS; kind++) {
		tallies[probe->index][kind].samples = calloc(SAMPLES_MAX, sizeof(uint32_t));
		if (!tallies[probe->index][kind].samples)
			exit(2);
	}
	mono_profiler_set_class_loaded_callback(probe->handle, class_loaded);
	mono_profiler_set_vtable_loaded_callback(probe->handle, vtable_loaded);
	mono_profiler_set_image_loaded_callback(probe->handle, image_loaded);
	mono_profiler_set_gc_root_register_callback(probe->handle, root_register);
	mono_profiler_set_gc_root_unregister_callback(probe->handle, root_unregister);
	mono_profiler_set_thread_started_callback(probe->handle, thread_started);
	mono_profiler_set_thread_stopped_callback(probe->handle, thread_stopped);
	mono_profiler_set_jit_chunk_created_callback(probe->handle, jit_chunk_created);
	mono_profiler_set_jit_done_callback(probe->handle, jit_done);
	mono_profiler_set_gc_resize_callback(probe->handle, gc_resize);
	mono_profiler_set_gc_finalized_callback(probe->handle, gc_finalized);
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The mean without the longest tenth: on a busy machine those are times of somebody else. */
static double trimmed_mean(const uint32_t *samples, size_t n)
{
	const size_t kept = n - n / 10;
	double sum = 0;
	size_t i;

	for (i = 0; i < kept; i++)
		sum += samples[i];
	return sum / (double)kept;
}

void tally_print(FILE *out, const struct _MonoProfiler *probes, unsigned n_probes)
{
	unsigned i, kind;

	for (i = 0; is_on && i < n_probes; i++) {
		for (kind = 0; kind < TALLY_KINDS; kind++) {
			struct tally *tally = &tallies[i][kind];
			const size_t n = tally->n < SAMPLES_MAX ? (size_t)tally->n : SAMPLES_MAX;

			if (!n || !names[kind])
				continue;
			qsort(tally->samples, n, sizeof *tally->samples, compare);
			fprintf(out,
				"{\"probe\":\"%s\",\"event\":\"%s\",\"n\":%llu,\"median_ns\":%u,\"mean_ns\":%.1f}\n",
				probes[i].name, names[kind], (unsigned long long)tally->n,
				tally->samples[n / 2], trimmed_mean(tally->samples, n));
		}
	}
}
