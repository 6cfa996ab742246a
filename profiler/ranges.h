/* SPDX-License-Identifier: MIT */
/*
 * Registered memory that the collector scans for roots, by address.
 *
 * The runtime announces the end of a range before it stops scanning it, so an
 * unregistered range stays findable until the next collection has ended.
 * Belongs to the owner of the stream; memory is mmap.
 */
#ifndef HEAPSHOT_PROFILER_RANGES_H
#define HEAPSHOT_PROFILER_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/area.h"
#include "profiler/ptr_map.h"

struct hs_range {
	uintptr_t start, size;
	uintptr_t key;
	uint32_t kind;     /* RootKind */
	uint32_t name;     /* index into names, see hs_range_name() */
	uint64_t ended_gc; /* 0: live; else number of the collection with which it is forgotten */
};

/* Where ranges are found: sorted by start. */
struct hs_range_place {
	uintptr_t start, end;
	uint32_t range;      /* index */
	uint32_t first_slot; /* number of the first word, counted over the blocks of a thread */
};

struct hs_ranges {
	struct hs_area ranges;      /* struct hs_range */
	struct hs_area live, ended; /* struct hs_range_place, sorted */
	struct hs_area names;       /* texts of HS_RANGE_NAME_MAX bytes each */
	struct hs_ptr_map by_start; /* live ranges: index + 1 */
	uint32_t n_ranges, n_names, first_free;
	uint64_t gc; /* collections that ended */
	bool is_settled;
	bool is_uncertain; /* an event was lost: a range may be gone without our knowing */
};

#define HS_RANGE_NAME_MAX 64u
/*
 * The runtime announces the end of a range before it takes the collector's lock
 * and removes it.  Where many threads want that lock several collections pass
 * in between (5 were seen), each of which still reports the range's roots.
 */
#define HS_RANGE_KEPT_GCS 64u

bool hs_ranges_add(struct hs_ranges *ranges, uintptr_t start, uintptr_t size, uint32_t kind,
		   uintptr_t key, const char *name);
void hs_ranges_remove(struct hs_ranges *ranges, uintptr_t start);
void hs_ranges_free(struct hs_ranges *ranges);

/* A collection has ended: what was unregistered long enough before is forgotten. */
void hs_ranges_gc_ended(struct hs_ranges *ranges);

/*
 * Sorts, and reads where the threads' further blocks of thread-static fields
 * lie (they are not registered: the registered block points to them), unless
 * the ranges are uncertain.  To be called in the stopped world before
 * hs_ranges_find().
 */
bool hs_ranges_settle(struct hs_ranges *ranges, unsigned word_bytes);

/* The range that holds ADDRESS, live ones first, or NULL; *slot is the number of the word in it. */
const struct hs_range *hs_ranges_find(const struct hs_ranges *ranges, uintptr_t address,
				      uintptr_t *slot);
const char *hs_range_name(const struct hs_ranges *ranges, const struct hs_range *range);

#endif
