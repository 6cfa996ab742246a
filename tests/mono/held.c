/* SPDX-License-Identifier: MIT */
/*
 * A profiler module in whose hands a collection stands still: when the heap has been
 * collected in full, until the file $HELD is there.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <mono/metadata/mono-gc.h>
#include <mono/metadata/profiler.h>

void mono_profiler_init_held(const char *description);

struct _MonoProfiler {
	const char *path;
};

static void gc_event(MonoProfiler *profiler, MonoProfilerGCEvent event, uint32_t generation,
		     mono_bool is_serial)
{
	const struct timespec moment = {0, 1000000};

	(void)is_serial;
	while (event == MONO_GC_EVENT_END && generation == (uint32_t)mono_gc_max_generation() &&
	       profiler->path && access(profiler->path, F_OK) != 0)
		nanosleep(&moment, NULL);
}

void mono_profiler_init_held(const char *description)
{
	static struct _MonoProfiler profiler;

	(void)description;
	profiler.path = getenv("HELD");
	mono_profiler_set_gc_event_callback(mono_profiler_create(&profiler), gc_event);
}
