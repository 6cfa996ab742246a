/* SPDX-License-Identifier: MIT */
/*
 * The counters of a recording, over time; and what of them says how full memory is.
 */
#ifndef HEAPSHOT_CLI_COUNTERS_H
#define HEAPSHOT_CLI_COUNTERS_H

#include "contrib/cli/recording.h"

/* Samples of a counter that are kept; of more, each second, fourth ... one and the last. */
#define COUNTERS_SAMPLES 1000

struct counter_sample {
	uint64_t time_ns;
	double value;
};

struct counter_series {
	uint32_t id;
	char *name, *section, *unit;
	struct counter_sample *samples;
	size_t n, room;
	uint64_t per_sample, n_since; /* one of so many is kept; those since the last that was */
	struct counter_sample last;
};

struct counters {
	struct counter_series *list; /* by id */
	size_t n, room;
};

/* Reads all; those without a number are left out.  CLI_OK, or CLI_IO, said. */
int counters_read(struct recording *recording, struct counters *counters);
void counters_free(struct counters *counters);

/* Whether the recording is of a runtime that has linear memory, with a maximum. */
bool counters_have_maximum(const struct recording *recording);

/* Of linear memory at a snapshot, in bytes. */
struct counters_memory {
	uint64_t live;    /* objects of the snapshot */
	uint64_t free;    /* the rest of the managed heap */
	uint64_t native;  /* what is not the managed heap's */
	uint64_t total;   /* all that is taken */
	uint64_t maximum; /* that it may be */
};

/* False where it is not known. */
bool counters_memory_at(const struct counters *counters, const struct heapshot_snapshot *snapshot,
			struct counters_memory *memory);
/* "1,234 bytes live managed, ... of at most ...", in a buffer of 256 bytes. */
const char *counters_memory_text(const struct counters_memory *memory, char text[256]);

#endif
