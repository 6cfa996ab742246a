/* SPDX-License-Identifier: MIT */
/*
 * Counters of a mono-heap file: the runtime's, as they were when the snapshot had
 * been taken, and those of what the file holds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/export/records.h"
#include "contrib/export/mono_heap.h"
#include "schema/heapshot.pb-c.h"

/* The runtime has some 200. */
#define IDS_MAX 65536u

/* A counter of the runtime, by its id. */
struct known {
	uint32_t name; /* number of it, and 1; 0: not told */
	bool has_value;
	double value;
};

struct counters {
	struct mono_heap *heap;
	struct export_names names;
	struct known *known; /* IDS_MAX of them */
	uint64_t until_ns;   /* later samples do not count */
	bool has_memory;
};

/* Names of counters are numbered by their places in the list. */
bool mono_heap_set_counter(struct mono_heap *heap, const char *name, double value)
{
	const uint32_t place = export_name(&heap->counter_names, name);

	if (place == EXPORT_NO_NAME)
		return false;
	if (place >= heap->room_counters) {
		const size_t room = heap->room_counters != 0 ? heap->room_counters * 2 : 256;
		void *values = reallocarray(heap->counters, room, sizeof(*heap->counters));

		if (values == NULL)
			return false;
		heap->counters = values;
		heap->room_counters = room;
	}
	heap->counters[place] = value;
	return true;
}

static void take_counter(struct counters *counters, const Heapshot__Counter *counter)
{
	char name[256];

	if (counter->id >= IDS_MAX)
		return;
	snprintf(name, sizeof(name), "%s/%.240s",
		 strcmp(counter->section, "jiterpreter") == 0 ? counter->section : "mono",
		 counter->name);
	counters->known[counter->id].name = export_name(&counters->names, name) + 1;
	if (counters->known[counter->id].name == 0)
		counters->has_memory = false;
}

static void take_value(struct known *known, const Heapshot__CounterValue *value)
{
	switch (value->value_case) {
	case HEAPSHOT__COUNTER_VALUE__VALUE_SIGNED_VALUE:
		known->value = (double)value->signed_value;
		break;
	case HEAPSHOT__COUNTER_VALUE__VALUE_UNSIGNED_VALUE:
		known->value = (double)value->unsigned_value;
		break;
	case HEAPSHOT__COUNTER_VALUE__VALUE_DOUBLE_VALUE:
		if (!isfinite(value->double_value))
			return;
		known->value = value->double_value;
		break;
	default: /* texts have no place */
		return;
	}
	known->has_value = true;
}

static void take_sample(struct counters *counters, const Heapshot__CounterSample *sample)
{
	size_t i;

	for (i = 0; i < sample->n_value; i++)
		if (sample->value[i]->counter < IDS_MAX)
			take_value(&counters->known[sample->value[i]->counter], sample->value[i]);
}

/* Of several samples before the end of the snapshot the last counts. */
static bool take(void *user_data, const struct heapshot_record *record)
{
	struct counters *counters = user_data;
	Heapshot__CounterSample *sample;
	Heapshot__Counter *counter;

	if (record->field == HEAPSHOT__RECORD__BODY_COUNTER) {
		counter = heapshot__counter__unpack(NULL, record->body_bytes, record->body);
		if (counter != NULL) /* else the reader's issues tell; the rest goes on */
			take_counter(counters, counter);
		heapshot__counter__free_unpacked(counter, NULL);
	} else if (record->field == HEAPSHOT__RECORD__BODY_COUNTER_SAMPLE &&
		   record->time_ns <= counters->until_ns) {
		sample = heapshot__counter_sample__unpack(NULL, record->body_bytes, record->body);
		if (sample != NULL)
			take_sample(counters, sample);
		heapshot__counter_sample__free_unpacked(sample, NULL);
	}
	return counters->has_memory;
}

bool mono_heap_read_counters(struct mono_heap *heap)
{
	const uint64_t end_ns = heap->export->snapshot->end_time_ns;
	struct counters counters = {
		.heap = heap,
		.until_ns = end_ns != 0 ? end_ns : UINT64_MAX,
		.known = calloc(IDS_MAX, sizeof(*counters.known)),
	};
	uint32_t i;

	counters.has_memory = counters.known != NULL;
	if (counters.has_memory)
		export_each_event(heap->export->reader, take, &counters);
	for (i = 0; i < IDS_MAX && counters.has_memory; i++) {
		const struct known *known = &counters.known[i];

		if (known->name != 0 && known->has_value)
			counters.has_memory = mono_heap_set_counter(
				heap, counters.names.texts[known->name - 1], known->value);
	}
	export_names_free(&counters.names);
	free(counters.known);
	return counters.has_memory;
}

void mono_heap_put_counters(struct mono_heap *heap, struct mono_heap_out *out)
{
	size_t i;

	for (i = 0; i < heap->counter_names.n; i++) {
		mono_heap_put_text(out, heap->counter_names.texts[i]);
		mono_heap_put_f64(out, heap->counters[i]);
	}
}
