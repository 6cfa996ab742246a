/* SPDX-License-Identifier: MIT */
/*
 * Counters over time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/export/counters.h"
#include "contrib/export/records.h"
#include "schema/heapshot.pb-c.h"

/* Recorders have some 200; what says that it has more is no recorder's. */
#define COUNTERS_IDS 65536u

struct taking {
	struct counters *counters;
	uint32_t *places; /* by id: place in the list, and 1; 0: none */
	uint64_t until_ns;
	bool has_memory;
};

/* Samples may come before the counter's record: frames of records and of events are apart. */
static struct counter_series *series_of(struct taking *taking, uint32_t id)
{
	struct counters *counters = taking->counters;

	if (id >= COUNTERS_IDS)
		return NULL;
	if (taking->places[id] != 0)
		return &counters->list[taking->places[id] - 1];
	if (counters->n == counters->room) {
		const size_t room = counters->room != 0 ? counters->room * 2 : 64;
		void *list = reallocarray(counters->list, room, sizeof(*counters->list));

		taking->has_memory = list != NULL;
		if (list == NULL)
			return NULL;
		counters->list = list;
		counters->room = room;
	}
	counters->list[counters->n] = (struct counter_series){.per_sample = 1};
	taking->places[id] = (uint32_t)++counters->n;
	return &counters->list[counters->n - 1];
}

static void take_counter(struct taking *taking, const Heapshot__Counter *counter)
{
	struct counter_series *series = series_of(taking, counter->id);

	if (series == NULL || series->name != NULL)
		return;
	series->name = strdup(counter->name);
	series->section = strdup(counter->section);
	series->unit = strdup(counter->unit);
	if (series->name == NULL || series->section == NULL || series->unit == NULL)
		taking->has_memory = false;
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

static void take_sample(struct taking *taking, uint64_t time_ns,
			const Heapshot__CounterSample *sample)
{
	for (size_t i = 0; i < sample->n_value && taking->has_memory; i++) {
		struct counter_sample one = {.time_ns = time_ns};
		struct counter_series *series;

		if (!number_of(sample->value[i], &one.value))
			continue;
		series = series_of(taking, sample->value[i]->counter);
		if (series != NULL && !add_sample(series, &one))
			taking->has_memory = false;
	}
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
			take_counter(taking, counter);
		heapshot__counter__free_unpacked(counter, NULL);
	} else if (record->field == HEAPSHOT__RECORD__BODY_COUNTER_SAMPLE &&
		   record->time_ns <= taking->until_ns) {
		sample = heapshot__counter_sample__unpack(NULL, record->body_bytes, record->body);
		if (sample != NULL)
			take_sample(taking, record->time_ns, sample);
		heapshot__counter_sample__free_unpacked(sample, NULL);
	}
	return taking->has_memory;
}

static void free_series(struct counter_series *series)
{
	free(series->name);
	free(series->section);
	free(series->unit);
	free(series->samples);
}

/* Only those with a name stay, and of each its last sample. */
static void tidy(struct counters *counters)
{
	size_t n = 0;

	for (size_t i = 0; i < counters->n; i++) {
		struct counter_series *series = &counters->list[i];

		if (series->name == NULL) {
			free_series(series);
			continue;
		}
		if (series->n > 0 && series->samples[series->n - 1].time_ns < series->last.time_ns)
			series->samples[series->n < series->room ? series->n++ : series->n - 1] =
				series->last;
		counters->list[n++] = *series;
	}
	counters->n = n;
}

bool counters_read(struct heapshot_reader *reader, uint64_t until_ns, struct counters *counters)
{
	struct taking taking = {
		.counters = counters,
		.places = calloc(COUNTERS_IDS, sizeof(*taking.places)),
		.until_ns = until_ns,
	};

	*counters = (struct counters){0};
	taking.has_memory = taking.places != NULL;
	if (taking.has_memory)
		export_each_event(reader, take, &taking);
	free(taking.places);
	if (taking.has_memory)
		tidy(counters);
	else
		counters_free(counters);
	return taking.has_memory;
}

void counters_free(struct counters *counters)
{
	for (size_t i = 0; i < counters->n; i++)
		free_series(&counters->list[i]);
	free(counters->list);
	*counters = (struct counters){0};
}
