/* SPDX-License-Identifier: MIT */
/*
 * Walks that the probe makes over the heap for comparison: with nothing done,
 * and with the recorder's own code but without its file.
 */
#ifndef HEAPSHOT_BENCH_WALKS_H
#define HEAPSHOT_BENCH_WALKS_H

#include <stdbool.h>
#include <stdint.h>

#include <mono/metadata/profiler.h>

/* Maps the memory that the walks need; false when there is none. */
bool walks_init(void);

/* The roots of a collection belong to what a snapshot looks up. */
void walks_collect_roots(MonoProfilerHandle handle, bool is_on);
void walks_forget_roots(void);

/* In the stopped world only. */
void walk_nothing(void);
/* BYTES: the sum of what the runtime states for each object. */
void walk_count(uint64_t *objects, uint64_t *references, uint64_t *bytes);
/* Batches into memory; BYTES: the sum of what the recorder takes the objects' sizes for. */
int walk_encode(uint64_t *bytes);
int walk_compress(void); /* batches into frames, and those to nowhere */

#endif
