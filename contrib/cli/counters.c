/* SPDX-License-Identifier: MIT */
/*
 * Counters over time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/counters.h"
#include "contrib/cli/text.h"
#include "contrib/export/records.h"
#include "schema/heapshot.pb-c.h"

struct taking {
	struct counters *counters;
	bool has_memory;
};

static struct counter_series *find_series(const struct counters *counters, uint32_t id)
{
	/* Ids count from 1, in the order of the file. */
	if (id - 1 < counters->n && counters->list[id - 1].id == id)
		return &counters->list[id - 1];
	for (size_t i = 0; i < counters->n; i++)
		if (counters->list[i].id == id)
			return &counters->list[i];
	return NULL;
}

static bool take_counter(struct counters *counters, const Heapshot__Counter *counter)
{
	struct counter_series *series = find_series(counters, counter->id);

	if (series != NULL)
		return true;
	if (counters->n == counters->room) {
		const size_t room = counters->room != 0 ? counters->room * 2 : 64;
		void *list = reallocarray(counters->list, room, sizeof(*counters->list));

		if (list == NULL)
			return false;
		counters->list = list;
		counters->room = room;
	}
	series = &counters->list[counters->n++];
	*series = (struct counter_series){
		.id = counter->id,
		.name = strdup(counter->name),
		.section = strdup(counter->section),
		.unit = strdup(counter->unit),
		.per_sample = 1,
	};
	return series->name != NULL && series->section != NULL && series->unit != NULL;
}

static bool number_of(const Heapshot__CounterValue *value, double *number)
{
	switch (value->value_case) {
	case HEAPSHOT__COUNTER_VALUE__VALUE_SIGNED_VALUE:
		*number = (double)value->signed_value;
		return true;
	case HEAPSHOT__COUNTER_VALUE__VALUE_UNSIGNED_VALUE:
		*number = (double)value->unsigned_value;
		return true;
	case HEAPSHOT__COUNTER_VALUE__VALUE_DOUBLE_VALUE:
		*number = value->double_value;
		return isfinite(value->double_value);
	default:
		return false;
	}
}

static void halve(struct counter_series *series)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n; i += 2)
		series->samples[n++] = series->samples[i];
	series->n = n;
	series->per_sample *= 2;
}

static bool add_sample(struct counter_series *series, const struct counter_sample *sample)
{
	series->last = *sample;
	if (series->n_since++ % series->per_sample != 0)
		return true;
	if (series->n == COUNTERS_SAMPLES) {
		halve(series);
		series->n_since = 1;
	}
	if (series->n == series->room) {
		const size_t room = series->room != 0 ? series->room * 2 : 16;
		void *samples = reallocarray(series->samples, room, sizeof(*series->samples));

		if (samples == NULL)
			return false;
		series->samples = samples;
		series->room = room;
	}
	series->samples[series->n++] = *sample;
	return true;
}

static bool take_sample(struct counters *counters, uint64_t time_ns,
			const Heapshot__CounterSample *sample)
{
	for (size_t i = 0; i < sample->n_value; i++) {
		struct counter_series *series = find_series(counters, sample->value[i]->counter);
		struct counter_sample one = {.time_ns = time_ns};

		if (series != NULL && number_of(sample->value[i], &one.value) &&
		    !add_sample(series, &one))
			return false;
	}
	return true;
}

/* What cannot be decoded the reader's issues tell. */
static bool take(void *user_data, const struct heapshot_record *record)
{
	struct taking *taking = user_data;
	Heapshot__CounterSample *sample;
	Heapshot__Counter *counter;

	if (record->field == HEAPSHOT__RECORD__BODY_COUNTER) {
		counter = heapshot__counter__unpack(NULL, record->body_bytes, record->body);
		if (counter != NULL)
			taking->has_memory = take_counter(taking->counters, counter);
		heapshot__counter__free_unpacked(counter, NULL);
	} else if (record->field == HEAPSHOT__RECORD__BODY_COUNTER_SAMPLE) {
		sample = heapshot__counter_sample__unpack(NULL, record->body_bytes, record->body);
		if (sample != NULL)
			taking->has_memory = take_sample(taking->counters, record->time_ns, sample);
		heapshot__counter_sample__free_unpacked(sample, NULL);
	}
	return taking->has_memory;
}

int counters_read(struct recording *recording, struct counters *counters)
{
	struct taking taking = {.counters = counters, .has_memory = true};

	*counters = (struct counters){0};
	export_each_event(recording->reader, take, &taking);
	for (size_t i = 0; i < counters->n && taking.has_memory; i++) {
		struct counter_series *series = &counters->list[i];

		/* The last is always there. */
		if (series->n > 0 && series->samples[series->n - 1].time_ns < series->last.time_ns)
			series->samples[series->n < series->room ? series->n++ : series->n - 1] =
				series->last;
	}
	if (taking.has_memory)
		return CLI_OK;
	counters_free(counters);
	return cli_no_memory();
}

void counters_free(struct counters *counters)
{
	for (size_t i = 0; i < counters->n; i++) {
		free(counters->list[i].name);
		free(counters->list[i].section);
		free(counters->list[i].unit);
		free(counters->list[i].samples);
	}
	free(counters->list);
	*counters = (struct counters){0};
}

bool counters_have_maximum(const struct recording *recording)
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

bool counters_memory_at(const struct counters *counters, const struct heapshot_snapshot *snapshot,
			struct counters_memory *memory)
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

const char *counters_memory_text(const struct counters_memory *memory, char text[256])
{
	char numbers[5][TEXT_NUMBER_BYTES];

	snprintf(text, 256,
		 "%s bytes live managed, %s free in the managed heap, %s native; %s of at most %s",
		 text_number(numbers[0], memory->live), text_number(numbers[1], memory->free),
		 text_number(numbers[2], memory->native), text_number(numbers[3], memory->total),
		 text_number(numbers[4], memory->maximum));
	return text;
}
