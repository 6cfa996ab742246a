/* SPDX-License-Identifier: MIT */
/*
 * Linked into the runtime by contrib/wasm/bench: walks of the heap with nothing done
 * before and behind a snapshot of heapshot's, in the same stop of the world.
 *
 * The runtime calls profilers in the reverse order of their making: bench_install() is
 * called once before heapshot's start, and once behind it.
 */
#include <emscripten.h>
#include <stdbool.h>

#include <mono/metadata/mono-gc.h>
#include <mono/metadata/profiler.h>

EMSCRIPTEN_KEEPALIVE void bench_install(void);
EMSCRIPTEN_KEEPALIVE void bench_want(void);
EMSCRIPTEN_KEEPALIVE double bench_value(int which);

struct _MonoProfiler {
	bool is_front;
};

enum { WALK_BEFORE, SNAPSHOT, WALK_BEHIND, N_OBJECTS, N_REFERENCES, N_VALUES };

static struct _MonoProfiler probes[2];
static int n_probes;
static bool is_wanted;
static double values[N_VALUES], since;

static int nothing(MonoObject *object, MonoClass *klass, uintptr_t size, uintptr_t n_refs,
		   MonoObject **refs, uintptr_t *offsets, void *data)
{
	(void)object;
	(void)klass;
	(void)size;
	(void)n_refs;
	(void)refs;
	(void)offsets;
	(void)data;
	return 0;
}

static int count(MonoObject *object, MonoClass *klass, uintptr_t size, uintptr_t n_refs,
		 MonoObject **refs, uintptr_t *offsets, void *data)
{
	(void)object;
	(void)klass;
	(void)refs;
	(void)offsets;
	(void)data;
	values[N_OBJECTS] += size > 0;
	values[N_REFERENCES] += (double)n_refs;
	return 0;
}

static double walk(void)
{
	const double start = emscripten_get_now();

	mono_gc_walk_heap(0, nothing, NULL);
	return emscripten_get_now() - start;
}

static void on_event(MonoProfiler *probe, MonoProfilerGCEvent event, uint32_t generation,
		     mono_bool is_serial)
{
	(void)generation;
	(void)is_serial;
	if (!is_wanted || event != MONO_GC_EVENT_PRE_START_WORLD)
		return;
	if (probe->is_front) {
		/* The first walk sweeps what the collection left, and is not measured. */
		values[N_OBJECTS] = values[N_REFERENCES] = 0;
		mono_gc_walk_heap(0, count, NULL);
		values[WALK_BEFORE] = walk();
		since = emscripten_get_now();
	} else {
		values[SNAPSHOT] = emscripten_get_now() - since;
		values[WALK_BEHIND] = walk();
		is_wanted = false;
	}
}

void bench_install(void)
{
	struct _MonoProfiler *probe = &probes[n_probes];

	if (n_probes == 2)
		return;
	probe->is_front = n_probes++ == 1;
	mono_profiler_set_gc_event_callback(mono_profiler_create(probe), on_event);
}

/* In the next stop of the world. */
void bench_want(void)
{
	is_wanted = true;
}

double bench_value(int which)
{
	return which >= 0 && which < N_VALUES ? values[which] : -1;
}
