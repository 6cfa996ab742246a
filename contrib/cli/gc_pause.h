/* SPDX-License-Identifier: MIT */
/*
 * Pauses of collections, from the events of the collector.
 */
#ifndef HEAPSHOT_CLI_GC_PAUSE_H
#define HEAPSHOT_CLI_GC_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/gc_records.h"

/* The pause under way, or the one that has just ended; starts zeroed. */
struct gc_pause {
	uint64_t time_ns, ns; /* when it began, how long it took */
	uint32_t generation;
	bool is_stopped;
	bool has_start, has_end; /* of a collection; one of them alone: it is concurrent */
	bool is_serial;
};

/* Takes an event; true when a pause has ended in which the collector worked. */
bool gc_pause_take(struct gc_pause *pause, const struct hs_gc_event *event, uint64_t time_ns);

#endif
