/* SPDX-License-Identifier: MIT */
/*
 * The walk over the heap: each object into the column encoder.  This is the
 * hot path: it is called once per object while the world is stopped.
 */
#ifndef HEAPSHOT_PROFILER_WALK_H
#define HEAPSHOT_PROFILER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/roots.h"

struct hs_walk_totals {
	uint64_t n_objects, n_references, bytes, slot_bytes, hash;
	uint64_t n_batches, n_ephemerons, n_ephemeron_batches;
};

struct hs_walk {
	uint64_t snapshot;
	bool is_stats_only;
	struct hs_root_set *roots;
	/* Writes the finished object batch, ephemeron batch or strings; 0 or an error. */
	int (*put_objects)(void);
	int (*put_ephemerons)(void);
	int (*put_strings)(const uint8_t *message, size_t bytes);
	/* Writes the totals of a type; for statistics only. */
	int (*put_totals)(uint32_t type, uint64_t objects, uint64_t bytes, uint64_t references);
	struct hs_walk_totals totals;
	uint64_t slack_bytes; /* of slots beyond objects */
	size_t strings_bytes; /* of a StringBatch, in hs_recorder.strings; goes with a walk given up */
	int error;
};

/* Walks the heap; for the owner in the stopped world.  Returns 0 or the first error. */
int hs_walk_run(struct hs_walk *walk);

#endif
