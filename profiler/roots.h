/* SPDX-License-Identifier: MIT */
/*
 * Roots of one snapshot: collected as the runtime reports them, checked
 * against the heap walk, and written with their kind and name.
 */
#ifndef HEAPSHOT_PROFILER_ROOTS_H
#define HEAPSHOT_PROFILER_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <mono/metadata/profiler.h>

#include "profiler/ptr_map.h"
#include "profiler/saved.h"

/* Turns the runtime's reporting on or off; async safe. */
void hs_roots_report(MonoProfilerHandle handle, bool is_on);
void hs_roots_clear(void);

/* Objects in one piece of memory of this size are of one generation: no block or nursery is smaller. */
#define HS_SECTION_SHIFT 14
#define HS_SECTION_BYTES ((uint64_t)1 << HS_SECTION_SHIFT)

/* Bits by the hash of a number; at most one in sixteen is set. */
struct hs_filter {
	uint64_t *bits;
	unsigned shift;
	size_t bytes;
};

static inline uint64_t hs_filter_bit(const struct hs_filter *filter, uint64_t number)
{
	return (number * UINT64_C(0x9E3779B97F4A7C15)) >> filter->shift;
}

static inline bool hs_filter_has(const struct hs_filter *filter, uint64_t number)
{
	const uint64_t bit = hs_filter_bit(filter, number);

	return filter->bits[bit >> 6] >> (bit & 63) & 1;
}

/*
 * The set of objects that roots point to.  Most objects of a walk are in none
 * of them, and most sections of a large heap have none either, so filters
 * answer first.
 */
struct hs_root_set {
	struct hs_ptr_map objects; /* value: 1 once the walk has met the object */
	struct hs_filter filter, sections;
	struct hs_area *saved; /* what threads saved; NULL: nothing */
};

/* Makes the set from what was collected; false when memory is short. */
bool hs_root_set_fill(struct hs_root_set *set);

/* False: no root points into the section of ADDRESS. */
static inline bool hs_root_set_has_section(const struct hs_root_set *set, uintptr_t address)
{
	return hs_filter_has(&set->sections, address >> HS_SECTION_SHIFT);
}

/* The walk has met OBJECT, of BYTES. */
static inline void hs_root_set_meet(struct hs_root_set *set, uintptr_t object, uint64_t bytes)
{
	struct hs_ptr_slot *slot;

	if (set->saved)
		hs_saved_meet(set->saved, object, bytes);
	if (!hs_filter_has(&set->filter, object))
		return;
	slot = hs_ptr_map_find(&set->objects, object);
	if (slot)
		slot->value = 1;
}

struct hs_root_totals {
	uint64_t n_roots, n_unresolved, n_batches;
	uint64_t by_kind[32]; /* by RootKind */
};

/*
 * Writes those that point to objects of the walk; for the owner in the stopped
 * world.  PUT writes the finished batch of the root encoder; it returns 0 or an error.
 */
int hs_roots_write(const struct hs_root_set *set, uint64_t snapshot, int (*put)(void),
		   struct hs_root_totals *totals);

#endif
