/* SPDX-License-Identifier: MIT */
/*
 * The collections of a recording as a time line, and sums of its other events.
 */
#ifndef HEAPSHOT_CLI_EVENTS_H
#define HEAPSHOT_CLI_EVENTS_H

#include "contrib/cli/json.h"
#include "contrib/cli/recording.h"

/* A stop of the world in which the collector worked. */
struct events_row {
	uint64_t number; /* from 1 */
	uint64_t time_ns, pause_ns;
	uint64_t heap_bytes; /* behind it; 0: not known */
	uint32_t generation;
	bool is_serial;
	const char *kind; /* "full", "concurrent", "finish" */
};

struct events_sums {
	uint64_t n_minor, n_major, pause_ns, max_pause_ns, max_heap_bytes;
	uint64_t n_resizes, n_moves, n_jit_chunks, n_handles, n_samples, n_markers, n_threads,
		n_methods;
	uint64_t n_lost, n_other;
};

typedef void events_take_row(void *user_data, const struct events_row *row);

/* Calls back for each collection, in order, as they are read.  CLI_OK, or a status, said. */
int events_read(struct recording *recording, events_take_row *take, void *user_data,
		struct events_sums *sums);

/* The keys of one collection, and those of the sums, each as an object. */
void events_put_row(struct json *json, const struct events_row *row);
void events_put_sums(struct json *json, const struct recording *recording,
		     const struct events_sums *sums);

/* Whether the module was told to keep events in a ring, and this is not what it holds. */
bool events_are_beside(const struct recording *recording, const struct events_sums *sums);

#endif
