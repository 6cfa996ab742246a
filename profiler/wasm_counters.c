/* SPDX-License-Identifier: MIT */
/*
 * counters.h for wasm: the runtime is built without counters of its own there; these
 * are of linear memory, which has a maximum, and where what is not the managed heap's
 * counts as well.
 */
#include "config.h"

#include <emscripten/heap.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <mono/metadata/mono-gc.h>

#include "profiler/counters.h"
#include "profiler/recorder.h"
#include "profiler/text.h"

static uint64_t memory_bytes(void)
{
	return emscripten_get_heap_size();
}

static uint64_t memory_max_bytes(void)
{
	return emscripten_get_heap_max();
}

static uint64_t taken_bytes(void)
{
	return (uintptr_t)sbrk(0);
}

static uint64_t malloc_used_bytes(void)
{
	return (uint64_t)(size_t)mallinfo().uordblks;
}

static uint64_t malloc_free_bytes(void)
{
	return (uint64_t)(size_t)mallinfo().fordblks;
}

static uint64_t heap_bytes(void)
{
	return (uint64_t)mono_gc_get_heap_size();
}

static uint64_t heap_used_bytes(void)
{
	return (uint64_t)mono_gc_get_used_size();
}

static const struct counter {
	const char *name, *section;
	uint64_t (*read)(void);
} counters[] = {
	{"Linear memory", "memory", memory_bytes},
	{"Memory maximum", "memory", memory_max_bytes},
	{"Memory taken", "memory", taken_bytes},
	{"Malloc used", "memory", malloc_used_bytes},
	{"Malloc free", "memory", malloc_free_bytes},
	{"GC heap", "gc", heap_bytes},
	{"GC heap used", "gc", heap_used_bytes},
};

#define N_COUNTERS (sizeof counters / sizeof *counters)

static bool are_told[N_COUNTERS];

static bool tell(size_t index)
{
	static const char unit[] = "bytes", variance[] = "variable";
	const struct counter *counter = &counters[index];
	struct hs_counter_entry *out;
	struct hs_log_entry *entry =
		hs_push_begin(HS_ENTRY_COUNTER,
			      sizeof *out + strlen(counter->name) + strlen(counter->section) +
				      sizeof unit + sizeof variance + 2,
			      HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS);
	char *text;

	if (!entry)
		return false;
	out = hs_log_payload(entry);
	out->id = (uint32_t)index + 1;
	out->type = HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_ULONG;
	out->name_bytes = (uint32_t)strlen(counter->name);
	out->section_bytes = (uint32_t)strlen(counter->section);
	out->unit_bytes = sizeof unit - 1;
	out->variance_bytes = sizeof variance - 1;
	text = hs_text_append(out->text, counter->name, out->name_bytes);
	text = hs_text_append(text, counter->section, out->section_bytes);
	text = hs_text_append(text, unit, out->unit_bytes);
	hs_text_append(text, variance, out->variance_bytes);
	hs_push_end(entry);
	return true;
}

void hs_counters_install(void)
{
	memset(are_told, 0, sizeof are_told);
}

void hs_counters_silence(void)
{
}

void hs_counters_sample(void)
{
	struct hs_sample_entry *out;
	struct hs_log_entry *entry;

	if (!(hs_recorder.options.events & HS_EVENTS_COUNTERS) || !hs_is_recording())
		return;
	for (size_t i = 0; i < N_COUNTERS; i++)
		if (!are_told[i])
			are_told[i] = tell(i);
	entry = hs_push_begin(HS_ENTRY_SAMPLE, sizeof *out + N_COUNTERS * sizeof *out->values,
			      HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS);
	if (!entry)
		return;
	out = hs_log_payload(entry);
	out->n_values = N_COUNTERS;
	for (size_t i = 0; i < N_COUNTERS; i++) {
		out->values[i].counter = (uint32_t)i + 1;
		out->values[i].type = HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_ULONG;
		out->values[i].value.u = counters[i].read();
	}
	hs_push_end(entry);
}
