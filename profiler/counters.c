/* SPDX-License-Identifier: MIT */
/*
 * Sampling the runtime's counters.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mono/utils/mono-counters.h>

#include "profiler/counters.h"
#include "profiler/recorder.h"
#include "profiler/text.h"

/* Mono 6.8 has 188. */
#define N_MAX 512u

static struct counter {
	MonoCounter *counter;
	uint64_t last; /* bits of the value logged last */
	bool is_told;
} counters[N_MAX];

static unsigned n_counters;

/* By this recording or an earlier one. */
static bool are_enabled;

/* What changed in this round. */
static struct hs_value_entry changed[N_MAX];
static unsigned n_changed;

static const char *section_name(int section)
{
	switch (section) {
	/* clang-format off */
	case MONO_COUNTER_JIT: return "jit";
	case MONO_COUNTER_GC: return "gc";
	case MONO_COUNTER_METADATA: return "metadata";
	case MONO_COUNTER_GENERICS: return "generics";
	case MONO_COUNTER_SECURITY: return "security";
	case MONO_COUNTER_RUNTIME: return "runtime";
	case MONO_COUNTER_SYSTEM: return "system";
	case MONO_COUNTER_PERFCOUNTERS: return "perfcounters";
	case MONO_COUNTER_PROFILER: return "profiler";
	case MONO_COUNTER_INTERP: return "interpreter";
	default: return "other";
		/* clang-format on */
	}
}

static const char *unit_name(int unit)
{
	switch (unit) {
	/* clang-format off */
	case MONO_COUNTER_BYTES: return "bytes";
	case MONO_COUNTER_TIME: return "time_100ns";
	case MONO_COUNTER_COUNT: return "count";
	case MONO_COUNTER_PERCENTAGE: return "percentage";
	default: return "raw";
		/* clang-format on */
	}
}

static const char *variance_name(int variance)
{
	switch (variance) {
	/* clang-format off */
	case MONO_COUNTER_MONOTONIC: return "monotonic";
	case MONO_COUNTER_CONSTANT: return "constant";
	default: return "variable";
		/* clang-format on */
	}
}

static bool tell(unsigned index)
{
	MonoCounter *counter = counters[index].counter;
	const char *section = section_name(mono_counter_get_section(counter));
	const char *unit = unit_name(mono_counter_get_unit(counter));
	const char *variance = variance_name(mono_counter_get_variance(counter));
	struct hs_text name = hs_text_of(mono_counter_get_name(counter), 1024);
	struct hs_counter_entry *out;
	struct hs_log_entry *entry = NULL;
	char *text;

	if (name.text)
		entry = hs_push_begin(HS_ENTRY_COUNTER,
				      sizeof *out + name.bytes + strlen(section) + strlen(unit) +
					      strlen(variance) + 4,
				      HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS);
	if (entry) {
		out = hs_log_payload(entry);
		out->id = index + 1;
		out->type = (uint32_t)mono_counter_get_type(counter) + 1;
		out->name_bytes = (uint32_t)name.bytes;
		out->section_bytes = (uint32_t)strlen(section);
		out->unit_bytes = (uint32_t)strlen(unit);
		out->variance_bytes = (uint32_t)strlen(variance);
		text = hs_text_append(out->text, name.text, name.bytes);
		text = hs_text_append(text, section, strlen(section));
		text = hs_text_append(text, unit, strlen(unit));
		hs_text_append(text, variance, strlen(variance));
		hs_push_end(entry);
	}
	hs_text_free(&name);
	return entry != NULL;
}

/* The value as 64 bits; false for strings and for what cannot be sampled. */
static bool read_value(MonoCounter *counter, struct hs_value_entry *value)
{
	union {
		int32_t i32;
		uint32_t u32;
		intptr_t word;
		int64_t i64;
		double real;
		char bytes[16];
	} sample;
	int n;

	memset(&sample, 0, sizeof sample);
	value->type = (uint32_t)mono_counter_get_type(counter) + 1;
	if (mono_counter_get_type(counter) == MONO_COUNTER_STRING)
		return false;
	n = mono_counters_sample(counter, &sample, sizeof sample);
	if (n <= 0)
		return false;
	switch (mono_counter_get_type(counter)) {
	/* clang-format off */
	case MONO_COUNTER_INT: value->value.i = sample.i32; break;
	case MONO_COUNTER_UINT: value->value.u = sample.u32; break;
	case MONO_COUNTER_WORD: value->value.i = sample.word; break;
	case MONO_COUNTER_DOUBLE: value->value.d = sample.real; break;
	default: value->value.i = sample.i64; break;
		/* clang-format on */
	}
	return true;
}

static mono_bool visit(MonoCounter *counter, void *unused)
{
	unsigned index;
	struct hs_value_entry value;
	uint64_t bits;

	(void)unused;
	for (index = 0; index < n_counters && counters[index].counter != counter; index++)
		;
	if (index == n_counters) {
		if (n_counters == N_MAX)
			return 0;
		counters[n_counters++].counter = counter;
	}
	if (!read_value(counter, &value))
		return 1;
	memcpy(&bits, &value.value, sizeof bits);
	if (counters[index].is_told && bits == counters[index].last)
		return 1;
	counters[index].last = bits;
	value.counter = index + 1;
	changed[n_changed++] = value;
	return 1;
}

/* Records hold at most this many values. */
#define AT_ONCE 128u

static void push(const struct hs_value_entry *values, unsigned n)
{
	struct hs_sample_entry *out;
	struct hs_log_entry *entry =
		hs_push_begin(HS_ENTRY_SAMPLE, sizeof *out + n * sizeof *values,
			      HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS);

	if (!entry)
		return;
	out = hs_log_payload(entry);
	out->n_values = n;
	memcpy(out->values, values, n * sizeof *values);
	hs_push_end(entry);
}

void hs_counters_sample(void)
{
	unsigned i, n;

	if (!(hs_recorder.options.events & HS_EVENTS_COUNTERS) || !hs_is_recording())
		return;
	n_changed = 0;
	mono_counters_foreach(visit, NULL);
	for (i = 0; i < n_changed; i++) {
		struct counter *counter = &counters[changed[i].counter - 1];
		if (!counter->is_told)
			counter->is_told = tell(changed[i].counter - 1);
	}
	for (i = 0; i < n_changed; i += n) {
		n = n_changed - i < AT_ONCE ? n_changed - i : AT_ONCE;
		push(changed + i, n);
	}
}

/*
 * Whether the program has enabled counters itself, before us.  The runtime does not
 * say, but it prints those that are enabled, and has some from its beginning on.
 */
static bool are_programs(void)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	if (!file)
		return false;
	mono_counters_dump(-1, file);
	fclose(file);
	free(text);
	return bytes != 0;
}

void hs_counters_install(void)
{
	memset(counters, 0, sizeof counters);
	n_counters = 0;
	if (!(hs_recorder.options.events & HS_EVENTS_COUNTERS))
		return;
	/* What the program enabled stays as it is: `mono --stats` enables all. */
	if (are_enabled || are_programs())
		return;
	mono_counters_enable(-1);
	are_enabled = true;
}

void hs_counters_silence(void)
{
	if (are_enabled)
		mono_counters_enable(0);
}
