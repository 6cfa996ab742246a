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

/* Turns the runtime's reporting on or off; async safe. */
void hs_roots_report(MonoProfilerHandle handle, bool is_on);
void hs_roots_clear(void);

/*
 * The set of objects that roots point to.  Most objects of a walk are in none,
 * so a small filter, one bit in sixteen set, answers first.
 */
struct hs_root_set {
	struct hs_ptr_map objects;    /* value: 1 once the walk has met the object */
	uint64_t *filter;
	uint64_t filter_mask;         /* bits - 1 */
	unsigned filter_shift;
	size_t filter_bytes;
};

/* Makes the set from what was collected; false when memory is short. */
bool hs_root_set_fill(struct hs_root_set *set);

/* The walk has met OBJECT. */
static inline void hs_root_set_meet(struct hs_root_set *set, uintptr_t object)
{
	const uint64_t bit =
		((uint64_t)object * UINT64_C(0x9E3779B97F4A7C15)) >> set->filter_shift;
	struct hs_ptr_slot *slot;

	if (!(set->filter[bit >> 6] & (UINT64_C(1) << (bit & 63))))
		return;
	slot = hs_ptr_map_find(&set->objects, object);
	if (slot)
		slot->value = 1;
}

struct hs_root_totals {
	uint64_t n_roots, n_unresolved, n_batches;
	uint64_t by_kind[32];         /* by RootKind */
};

/*
 * Writes those that point to objects of the walk; for the owner in the stopped
 * world.  PUT writes the finished batch of the root encoder; it returns 0 or an error.
 */
int hs_roots_write(const struct hs_root_set *set, uint64_t snapshot, int (*put)(void),
		   struct hs_root_totals *totals);

#endif
