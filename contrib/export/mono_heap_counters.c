/* SPDX-License-Identifier: MIT */
/*
 * Counters of a mono-heap file: the runtime's, as they were when the snapshot had
 * been taken, and those of what the file holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/export/counters.h"
#include "contrib/export/mono_heap.h"

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

bool mono_heap_read_counters(struct mono_heap *heap)
{
	const uint64_t end_ns = heap->export->snapshot->end_time_ns;
	struct counters counters;
	bool has_memory =
		counters_read(heap->export->reader, end_ns != 0 ? end_ns : UINT64_MAX, &counters);
	size_t i;

	if (!has_memory)
		return false;
	for (i = 0; i < counters.n && has_memory; i++) {
		const struct counter_series *series = &counters.list[i];
		char name[256];

		if (series->n == 0)
			continue;
		snprintf(name, sizeof(name), "%s/%.240s",
			 strcmp(series->section, "jiterpreter") == 0 ? series->section : "mono",
			 series->name);
		has_memory = mono_heap_set_counter(heap, name, series->last.value);
	}
	counters_free(&counters);
	return has_memory;
}

void mono_heap_put_counters(struct mono_heap *heap, struct mono_heap_out *out)
{
	size_t i;

	for (i = 0; i < heap->counter_names.n; i++) {
		mono_heap_put_text(out, heap->counter_names.texts[i]);
		mono_heap_put_f64(out, heap->counters[i]);
	}
}
