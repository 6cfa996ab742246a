/* SPDX-License-Identifier: MIT */
/*
 * Collecting and checking roots.
 *
 * Not every reported root is an object: the runtime reports each non-zero word
 * of some ranges without a look.  So nothing here is dereferenced; the walk
 * decides.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "profiler/area.h"
#include "profiler/recorder.h"
#include "profiler/root_source.h"
#include "profiler/roots.h"
#include "profiler/saved.h"

#define FILTER_BITS_MIN ((uint64_t)1 << 16)

void hs_roots_clear(void)
{
	hs_recorder.roots.used = 0;
	hs_recorder.saved.used = 0;
	hs_recorder.n_roots_lost = 0;
}

static void collect(uint64_t count, const mono_byte *const *addresses, MonoObject *const *objects,
		    const char *kind)
{
	struct hs_root *root;
	uint64_t i;

	if (!hs_area_reserve(&hs_recorder.roots, count * sizeof *root)) {
		hs_recorder.n_roots_lost += count;
		return;
	}
	root = (struct hs_root *)(void *)(hs_recorder.roots.data + hs_recorder.roots.used);
	for (i = 0; i < count; i++) {
		root[i].address = (uintptr_t)addresses[i];
		root[i].object = (uintptr_t)objects[i];
		root[i].kind = kind;
	}
	hs_recorder.roots.used += count * sizeof *root;
}

#ifdef HEAPSHOT_GC_ROOTS_KIND
static void gc_roots(MonoProfiler *profiler, uint64_t count, const mono_byte *const *addresses,
		     MonoObject *const *objects, const char *kind)
{
	(void)profiler;
	collect(count, addresses, objects, kind);
}
#else
static void gc_roots(MonoProfiler *profiler, uint64_t count, const mono_byte *const *addresses,
		     MonoObject *const *objects)
{
	(void)profiler;
	collect(count, addresses, objects, NULL);
}
#endif

void hs_roots_report(MonoProfilerHandle handle, bool is_on)
{
	mono_profiler_set_gc_roots_callback(handle, is_on ? gc_roots : NULL);
}

static size_t n_collected(void)
{
	return hs_recorder.roots.used / sizeof(struct hs_root);
}

static const struct hs_root *collected(void)
{
	return (const struct hs_root *)(const void *)hs_recorder.roots.data;
}

/* Empties FILTER and makes it large enough for N numbers. */
static bool reserve_filter(struct hs_filter *filter, size_t n)
{
	uint64_t bits = FILTER_BITS_MIN;

	while (bits < 16 * (uint64_t)n && bits < (UINT64_C(1) << 32))
		bits *= 2;
	if (filter->bytes < bits / 8) {
		hs_unmap(filter->bits, filter->bytes);
		filter->bytes = 0;
		filter->bits = hs_map(bits / 8);
		if (!filter->bits)
			return false;
		filter->bytes = bits / 8;
	} else {
		memset(filter->bits, 0, filter->bytes);
		bits = 8 * (uint64_t)filter->bytes;
	}
	filter->shift = 64u - (unsigned)__builtin_ctzll(bits);
	return true;
}

static void filter_add(struct hs_filter *filter, uint64_t number)
{
	const uint64_t bit = hs_filter_bit(filter, number);

	filter->bits[bit >> 6] |= UINT64_C(1) << (bit & 63);
}

bool hs_root_set_fill(struct hs_root_set *set)
{
	const struct hs_root *root = collected();
	const struct hs_saved_word *saved = hs_saved_words(&hs_recorder.saved);
	size_t n = n_collected(), n_saved = hs_saved_count(&hs_recorder.saved), i;

	set->saved = n_saved ? &hs_recorder.saved : NULL;
	hs_ptr_map_clear(&set->objects);
	if (!reserve_filter(&set->filter, n) || !reserve_filter(&set->sections, n + 2 * n_saved) ||
	    !hs_ptr_map_reserve(&set->objects, n + 1))
		return false;
	for (i = 0; i < n; i++) {
		if (!root[i].object)
			continue;
		filter_add(&set->filter, root[i].object);
		filter_add(&set->sections, root[i].object >> HS_SECTION_SHIFT);
		if (!hs_ptr_map_set(&set->objects, root[i].object, 0))
			return false;
	}
	/* The object of such a word may begin in the section before; larger ones are always looked at. */
	for (i = 0; i < n_saved; i++) {
		filter_add(&set->sections, saved[i].word >> HS_SECTION_SHIFT);
		filter_add(&set->sections, (saved[i].word >> HS_SECTION_SHIFT) - 1);
	}
	return true;
}

static int flush(int (*put)(void), uint64_t snapshot, struct hs_root_totals *totals)
{
	int error = hs_recorder.root_encoder.n_roots ? put() : 0;

	totals->n_batches += hs_recorder.root_encoder.n_roots != 0;
	hs_root_begin(&hs_recorder.root_encoder, snapshot);
	hs_root_sources_reset();
	return error;
}

/* Adds one root, in a fresh batch where the current one is full. */
static int add(const struct hs_root *root, int (*put)(void), uint64_t snapshot,
	       struct hs_root_totals *totals)
{
	struct hs_root_source_ref source;
	int error, tries;

	for (tries = 0; tries < 2; tries++) {
		source = hs_root_source(root);
		/* Values of ephemerons depend on their keys: they are edges, not roots. */
		if (source.kind == HEAPSHOT__ROOT_KIND__ROOT_KIND_EPHEMERON)
			return 0;
		if (source.index && hs_root_add(&hs_recorder.root_encoder, source.index,
						root->address, root->object)) {
			totals->n_roots++;
			totals->by_kind[source.kind]++;
			return 0;
		}
		error = flush(put, snapshot, totals);
		if (error)
			return error;
	}
	return -EMSGSIZE;
}

static int add_saved(int (*put)(void), uint64_t snapshot, struct hs_root_totals *totals)
{
	const struct hs_saved_word *saved = hs_saved_words(&hs_recorder.saved);
	const size_t n = hs_saved_count(&hs_recorder.saved);
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		const struct hs_root root = {saved[i].stack, saved[i].object, hs_saved_registers};

		if (saved[i].object)
			error = add(&root, put, snapshot, totals);
	}
	return error;
}

int hs_roots_write(const struct hs_root_set *set, uint64_t snapshot, int (*put)(void),
		   struct hs_root_totals *totals)
{
	const struct hs_root *root = collected();
	size_t n = n_collected(), i;
	int error;

	memset(totals, 0, sizeof *totals);
	totals->n_unresolved = hs_recorder.n_roots_lost;
	hs_recorder.ranges.is_uncertain = atomic_load(&hs_recorder.are_ranges_lost);
	if (!hs_ranges_settle(&hs_recorder.ranges, sizeof(void *)))
		return -ENOMEM;
	hs_root_begin(&hs_recorder.root_encoder, snapshot);
	hs_root_sources_reset();
	for (i = 0; i < n; i++) {
		if (!root[i].object || !hs_ptr_map_get(&set->objects, root[i].object)) {
			totals->n_unresolved++;
			continue;
		}
		error = add(&root[i], put, snapshot, totals);
		if (error)
			return error;
	}
	error = add_saved(put, snapshot, totals);
	if (error)
		return error;
	return flush(put, snapshot, totals);
}
