/* SPDX-License-Identifier: MIT */
/*
 * How full linear memory was.
 */
#include <stdio.h>
#include <string.h>

#include "contrib/cli/linear_memory.h"
#include "contrib/cli/text.h"

bool linear_memory_is_there(const struct recording *recording)
{
	return strncmp(heapshot_reader_header(recording->reader)->architecture, "wasm", 4) == 0;
}

/* The first value from the end of the snapshot on; without one, the last before. */
static bool value_at(const struct counters *counters, const char *name, uint64_t time_ns,
		     uint64_t *value)
{
	for (size_t i = 0; i < counters->n; i++) {
		const struct counter_series *series = &counters->list[i];
		size_t k = 0;

		if (strcmp(series->name, name) != 0 || series->n == 0)
			continue;
		while (k + 1 < series->n && series->samples[k].time_ns < time_ns)
			k++;
		*value = (uint64_t)series->samples[k].value;
		return true;
	}
	return false;
}

bool linear_memory_at(const struct counters *counters, const struct heapshot_snapshot *snapshot,
		      struct linear_memory *memory)
{
	const uint64_t time_ns =
		snapshot->end_time_ns != 0 ? snapshot->end_time_ns : snapshot->time_ns;
	uint64_t heap;

	if (!snapshot->has_end || !value_at(counters, "GC heap", time_ns, &heap) ||
	    !value_at(counters, "Memory taken", time_ns, &memory->total) ||
	    !value_at(counters, "Memory maximum", time_ns, &memory->maximum))
		return false;
	if (snapshot->heap_bytes != 0)
		heap = snapshot->heap_bytes;
	memory->live = snapshot->bytes;
	memory->free = heap > memory->live ? heap - memory->live : 0;
	memory->native = memory->total > memory->live + memory->free
				 ? memory->total - memory->live - memory->free
				 : 0;
	return true;
}

const char *linear_memory_text(const struct linear_memory *memory, char text[256])
{
	char numbers[5][TEXT_NUMBER_BYTES];

	snprintf(text, 256,
		 "%s bytes live managed, %s free in the managed heap, %s native; %s of at most %s",
		 text_number(numbers[0], memory->live), text_number(numbers[1], memory->free),
		 text_number(numbers[2], memory->native), text_number(numbers[3], memory->total),
		 text_number(numbers[4], memory->maximum));
	return text;
}
