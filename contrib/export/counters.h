/* SPDX-License-Identifier: MIT */
/*
 * The counters of a recording, over time.
 */
#ifndef HEAPSHOT_EXPORT_COUNTERS_H
#define HEAPSHOT_EXPORT_COUNTERS_H

#include "contrib/reader/heapshot-reader.h"

/* Samples of a counter that are kept; of more, each second, fourth ... one and the last. */
#define COUNTERS_SAMPLES 1000

struct counter_sample {
	uint64_t time_ns;
	double value;
};

struct counter_series {
	char *name, *section, *unit;
	struct counter_sample *samples;
	size_t n, room;
	uint64_t per_sample, n_since; /* one of so many is kept; those since the last that was */
	struct counter_sample last;   /* where n > 0 */
};

struct counters {
	struct counter_series *list; /* in the order of the file, each with a name */
	size_t n, room;
};

/* Reads all samples up to UNTIL_NS; those without a number are left out.  False without memory:
 * then there is nothing to free. */
bool counters_read(struct heapshot_reader *reader, uint64_t until_ns, struct counters *counters);
void counters_free(struct counters *counters);

#endif
