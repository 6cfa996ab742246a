/* SPDX-License-Identifier: MIT */
/*
 * counters.h for wasm: the runtime is built without counters of its own there; these
 * are of linear memory, which has a maximum, and where what is not the managed heap's
 * counts as well; and of the jiterpreter, which makes wasm of what is often interpreted.
 */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mono/jit/jit.h>

#include "profiler/counters.h"
#include "profiler/recorder.h"
#include "profiler/text.h"
#include "profiler/wasm_memory.h"

/* Units: of counters of memory, and those of the jiterpreter by the runtime's order. */
static const char bytes_unit[] = "bytes", count_unit[] = "count", time_unit[] = "time_100ns";

static const struct counter {
	const char *name, *section, *unit;
	size_t place; /* in struct hs_memory, or number of the jiterpreter's */
} counters[] = {
	{"Linear memory", "memory", bytes_unit, offsetof(struct hs_memory, linear)},
	{"Memory maximum", "memory", bytes_unit, offsetof(struct hs_memory, maximum)},
	{"Memory taken", "memory", bytes_unit, offsetof(struct hs_memory, taken)},
	{"Malloc used", "memory", bytes_unit, offsetof(struct hs_memory, malloc_used)},
	{"Malloc free", "memory", bytes_unit, offsetof(struct hs_memory, malloc_free)},
	{"GC heap", "gc", bytes_unit, offsetof(struct hs_memory, heap)},
	{"GC heap used", "gc", bytes_unit, offsetof(struct hs_memory, heap_used)},
	{"Trace candidates", "jiterpreter", count_unit, 0},
	{"Traces compiled", "jiterpreter", count_unit, 1},
	{"Entry wrappers compiled", "jiterpreter", count_unit, 2},
	{"JIT calls compiled", "jiterpreter", count_unit, 3},
	{"Direct JIT calls compiled", "jiterpreter", count_unit, 4},
	{"Failures", "jiterpreter", count_unit, 5},
	{"Bytes generated", "jiterpreter", bytes_unit, 6},
	{"Null checks eliminated", "jiterpreter", count_unit, 7},
	{"Null checks fused", "jiterpreter", count_unit, 8},
	{"Back branches emitted", "jiterpreter", count_unit, 9},
	{"Back branches not emitted", "jiterpreter", count_unit, 10},
	{"Elapsed generation", "jiterpreter", time_unit, 11},
	{"Elapsed compilation", "jiterpreter", time_unit, 12},
	{"Switch targets ok", "jiterpreter", count_unit, 13},
	{"Switch targets failed", "jiterpreter", count_unit, 14},
};

#define N_MEMORY   7
#define N_COUNTERS (sizeof counters / sizeof *counters)

static bool are_told[N_COUNTERS];

/* The runtime ends the program when it is asked for one that it has not got. */
static size_t n_present(void)
{
	static size_t n;

	if (!n) {
		char *build = mono_get_runtime_build_info();
		const size_t digits = build ? strcspn(build, "0123456789") : 0;

		n = N_COUNTERS - (build && atoi(build + digits) >= 10 ? 0 : 2);
		mono_free(build);
	}
	return n;
}

static uint64_t value_of(size_t index, const struct hs_memory *memory)
{
	const struct counter *counter = &counters[index];
	double value;

	if (index < N_MEMORY)
		return *(const uint64_t *)(const void *)((const char *)memory + counter->place);
	value = mono_jiterp_get_counter((int32_t)counter->place);
	/* Milliseconds. */
	return (uint64_t)(counter->unit == time_unit ? value * 1e4 : value);
}

static bool tell(size_t index)
{
	static const char variance[] = "variable";
	const struct counter *counter = &counters[index];
	const char *unit = counter->unit;
	struct hs_counter_entry *out;
	struct hs_log_entry *entry =
		hs_push_begin(HS_ENTRY_COUNTER,
			      sizeof *out + strlen(counter->name) + strlen(counter->section) +
				      strlen(unit) + sizeof variance + 3,
			      HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS);
	char *text;

	if (!entry)
		return false;
	out = hs_log_payload(entry);
	out->id = (uint32_t)index + 1;
	out->type = HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_ULONG;
	out->name_bytes = (uint32_t)strlen(counter->name);
	out->section_bytes = (uint32_t)strlen(counter->section);
	out->unit_bytes = (uint32_t)strlen(unit);
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
	const size_t n = n_present();
	struct hs_memory memory;
	struct hs_sample_entry *out;
	struct hs_log_entry *entry;

	if (!(hs_recorder.options.events & HS_EVENTS_COUNTERS) || !hs_is_recording())
		return;
	for (size_t i = 0; i < n; i++)
		if (!are_told[i])
			are_told[i] = tell(i);
	entry = hs_push_begin(HS_ENTRY_SAMPLE, sizeof *out + n * sizeof *out->values,
			      HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS);
	if (!entry)
		return;
	hs_memory_read(&memory);
	out = hs_log_payload(entry);
	out->n_values = n;
	for (size_t i = 0; i < n; i++) {
		out->values[i].counter = (uint32_t)i + 1;
		out->values[i].type = HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_ULONG;
		out->values[i].value.u = value_of(i, &memory);
	}
	hs_push_end(entry);
}
