/* SPDX-License-Identifier: MIT */
/*
 * What JavaScript and the runtime hold of each other, in a browser: tables that
 * JavaScript keeps are asked for once in a snapshot, and joined with the managed
 * objects that go with them.  Elsewhere there is nothing of it.
 *
 * All of this is for the collecting thread in the stopped world; memory comes from
 * what was kept for it.  Where it is short, objects stay unknown, and a note says so.
 */
#ifndef HEAPSHOT_PROFILER_HANDLES_H
#define HEAPSHOT_PROFILER_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

#include <mono/metadata/object.h>

#include "profiler/ranges.h"
#include "profiler/recorder.h"

struct hs_handle_totals {
	uint64_t n_parts, n_rows;
};

/* Where to write a record HandleTable of so many bytes, or NULL with *error. */
typedef uint8_t *hs_handle_reserve(size_t bytes, int *error);

#ifdef __EMSCRIPTEN__
/* Before the walk. */
void hs_handles_begin(void);

/* Whether objects of KLASS know a handle of theirs: a sort of such objects, or 0. */
uint8_t hs_handles_sort_of(MonoClass *klass);
/* The walk meets OBJECT, which is of that sort. */
void hs_handles_meet(uint8_t sort, const MonoObject *object);

/* Behind the walk: asks for the tables and writes them. */
int hs_handles_write(uint64_t snapshot, hs_handle_reserve *reserve,
		     struct hs_handle_totals *totals);

/*
 * Behind that: what JavaScript holds ROOT's object by, if ROOT, word SLOT of RANGE, is
 * a handle of JavaScript's: "JavaScript object ManagedObject"; else NULL.
 */
const char *hs_handles_name(const struct hs_root *root, const struct hs_range *range,
			    uintptr_t slot);

/* While the world runs: says once what the function threw. */
void hs_handles_say(void);
#else
static inline void hs_handles_begin(void)
{
}

static inline uint8_t hs_handles_sort_of(MonoClass *klass)
{
	(void)klass;
	return 0;
}

static inline void hs_handles_meet(uint8_t sort, const MonoObject *object)
{
	(void)sort;
	(void)object;
}

static inline int hs_handles_write(uint64_t snapshot, hs_handle_reserve *reserve,
				   struct hs_handle_totals *totals)
{
	(void)snapshot;
	(void)reserve;
	(void)totals;
	return 0;
}

static inline const char *hs_handles_name(const struct hs_root *root, const struct hs_range *range,
					  uintptr_t slot)
{
	(void)root;
	(void)range;
	(void)slot;
	return NULL;
}
#endif

#endif
