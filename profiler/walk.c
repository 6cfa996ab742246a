/* SPDX-License-Identifier: MIT */
/*
 * The heap walk.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include <mono/metadata/class.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/object.h>

#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/strings.h"
#include "profiler/walk.h"

/* The collector uses the low bits of an object's first word. */
#define VTABLE_BITS ((uintptr_t)7)
/* Objects of one piece of memory of this size are of one generation: no block or nursery is smaller. */
#define SECTION_SHIFT 14

/* What the walk knows of a vtable; found again for each object. */
struct kind {
	struct hs_shape_hint hint;
	uintptr_t vtable;
	uint32_t type, domain;
	uint64_t size;             /* of each object, unless it varies */
	bool size_varies, is_array, is_string, is_ephemerons;
	uint64_t n_objects, n_references, bytes; /* statistics only */
};

static struct hs_area kinds;
static struct hs_ptr_map kind_of_vtable;   /* index + 1 */
static struct kind *last_kind;

static uintptr_t section;
static uint32_t generation;

/* ConditionalWeakTable keeps its pairs in arrays of this type. */
static bool is_ephemeron_array(MonoClass *klass)
{
	MonoClass *element = mono_class_get_element_class(klass);

	return mono_class_get_rank(klass) == 1 && element &&
	       strcmp(mono_class_get_name(element), "Ephemeron") == 0 &&
	       strcmp(mono_class_get_namespace(element), "System.Runtime.CompilerServices") == 0;
}

static struct kind *new_kind(MonoObject *object, MonoClass *klass, uintptr_t vtable)
{
	size_t offset = hs_area_add(&kinds, sizeof(struct kind));
	struct hs_type *type;
	struct kind *kind;
	bool is_new;

	if (offset == SIZE_MAX ||
	    !hs_ptr_map_set(&kind_of_vtable, vtable, (uint32_t)(offset / sizeof *kind) + 1))
		return NULL;
	kind = (struct kind *)(void *)(kinds.data + offset);
	memset(kind, 0, sizeof *kind);
	kind->vtable = vtable;
	kind->type = hs_types_intern(&hs_recorder.types, (uintptr_t)klass);
	kind->domain = hs_types_domain(&hs_recorder.types,
				       (uintptr_t)mono_vtable_domain((MonoVTable *)vtable), &is_new);
	kind->is_array = mono_class_get_rank(klass) != 0;
	kind->is_string = klass == mono_get_string_class();
	kind->size_varies = kind->is_array || kind->is_string;
	kind->is_ephemerons = kind->is_array && is_ephemeron_array(klass);
	if (!kind->size_varies)
		kind->size = mono_object_get_size(object);
	type = hs_types_get(&hs_recorder.types, kind->type);
	if (!type)
		return NULL;
	if (!type->is_announced)
		hs_late_add((uintptr_t)klass);
	return kind;
}

static struct kind *find_kind(MonoObject *object, MonoClass *klass)
{
	const uintptr_t vtable = *(const uintptr_t *)(const void *)object & ~VTABLE_BITS;
	struct hs_ptr_slot *slot;

	if (last_kind && last_kind->vtable == vtable)
		return last_kind;
	slot = hs_ptr_map_find(&kind_of_vtable, vtable);
	last_kind = slot ? (struct kind *)(void *)kinds.data + (slot->value - 1) :
			   new_kind(object, klass, vtable);
	return last_kind;
}

static int finish_batch(struct hs_walk *walk)
{
	int error = hs_batch_rows(hs_recorder.batches) ? walk->put_objects() : 0;

	walk->totals.n_batches += hs_batch_rows(hs_recorder.batches) != 0;
	hs_batch_begin(hs_recorder.batches, walk->snapshot, generation);
	return error;
}

static int finish_ephemerons(struct hs_walk *walk)
{
	struct hs_ephemeron_encoder *encoder = &hs_recorder.ephemeron_encoder;
	int error = encoder->n_edges ? walk->put_ephemerons() : 0;

	walk->totals.n_ephemeron_batches += encoder->n_edges != 0;
	hs_ephemeron_begin(encoder, walk->snapshot);
	return error;
}

/* An edge from key to value for each pair whose value is set: cleared pairs have none. */
static int add_ephemerons(struct hs_walk *walk, MonoObject *array)
{
	const uintptr_t n = mono_array_length((MonoArray *)array);
	const uintptr_t *pair = n ? mono_array_addr((MonoArray *)array, uintptr_t, 0) : NULL;
	uintptr_t i;
	int error;

	for (i = 0; i < n; i++, pair += 2) {
		if (!pair[0] || !pair[1])
			continue;
		if (!hs_ephemeron_add(&hs_recorder.ephemeron_encoder, (uintptr_t)array, pair[0],
				      pair[1])) {
			error = finish_ephemerons(walk);
			if (error)
				return error;
			hs_ephemeron_add(&hs_recorder.ephemeron_encoder, (uintptr_t)array, pair[0],
					 pair[1]);
		}
		walk->totals.n_ephemerons++;
	}
	return 0;
}

static int add_row(struct hs_walk *walk, const struct hs_row *row, struct kind *kind)
{
	const uintptr_t row_section = (uintptr_t)row->address >> SECTION_SHIFT;
	uint32_t row_generation;
	int error;

	if (row_section != section) {
		section = row_section;
		row_generation =
			(uint32_t)mono_gc_get_generation((MonoObject *)(uintptr_t)row->address);
		if (row_generation != generation) {
			generation = row_generation;
			error = finish_batch(walk);
			if (error)
				return error;
		}
	}
	if (hs_batch_add(hs_recorder.batches, row, &kind->hint))
		return 0;
	error = finish_batch(walk);
	if (!error && !hs_batch_add(hs_recorder.batches, row, &kind->hint))
		error = -EMSGSIZE;
	return error;
}

static int walked(MonoObject *object, MonoClass *klass, uintptr_t size, uintptr_t n_refs,
		  MonoObject **refs, uintptr_t *offsets, void *data)
{
	struct hs_walk *walk = data;
	struct kind *kind;
	struct hs_row row;

	/* The runtime cannot be told to stop. */
	if (walk->error)
		return 0;
	kind = find_kind(object, klass);
	if (!kind) {
		walk->error = -ENOMEM;
		return 0;
	}
	row.address = (uintptr_t)object;
	row.type = kind->type;
	row.domain = kind->domain;
	row.n_refs = (uint32_t)n_refs;
	row.is_continuation = size == 0;
	row.size_varies = kind->size_varies;
	row.is_array = kind->is_array;
	row.offsets = offsets;
	row.refs = (void *const *)(void *)refs;
	walk->totals.n_references += n_refs;
	if (size) {
		row.size = kind->size_varies ? mono_object_get_size(object) : kind->size;
		row.slot_size = size < row.size ? row.size : size;
		walk->totals.n_objects++;
		walk->totals.bytes += row.size;
		walk->totals.slot_bytes += row.slot_size;
		walk->totals.hash += hs_object_mix((uintptr_t)object);
		hs_root_set_meet(walk->roots, (uintptr_t)object);
		if (kind->is_ephemerons && !walk->is_stats_only)
			walk->error = add_ephemerons(walk, object);
		if (kind->is_string && hs_recorder.strings && !walk->is_stats_only && !walk->error)
			walk->error = hs_strings_add(walk, object);
	} else {
		row.size = row.slot_size = 0;
	}
	if (walk->is_stats_only) {
		kind->n_objects += size != 0;
		kind->bytes += row.size;
		kind->n_references += n_refs;
	} else if (!walk->error) {
		walk->error = add_row(walk, &row, kind);
	}
	return 0;
}

static int put_totals(struct hs_walk *walk)
{
	const struct kind *kind = (const struct kind *)(const void *)kinds.data;
	size_t n = kinds.used / sizeof *kind, i;
	int error = 0;

	for (i = 0; i < n && !error; i++)
		error = walk->put_totals(kind[i].type, kind[i].n_objects, kind[i].bytes,
					 kind[i].n_references);
	return error;
}

int hs_walk_run(struct hs_walk *walk)
{
	/* Vtables of unloaded domains may have come again: nothing is kept between walks. */
	kinds.used = 0;
	hs_ptr_map_clear(&kind_of_vtable);
	last_kind = NULL;
	section = UINTPTR_MAX;
	generation = 0;
	memset(&walk->totals, 0, sizeof walk->totals);
	walk->error = 0;
	hs_batch_begin(hs_recorder.batches, walk->snapshot, generation);
	hs_ephemeron_begin(&hs_recorder.ephemeron_encoder, walk->snapshot);
	mono_gc_walk_heap(0, walked, walk);
	if (!walk->error && walk->is_stats_only)
		walk->error = put_totals(walk);
	if (!walk->error)
		walk->error = finish_batch(walk);
	if (!walk->error)
		walk->error = finish_ephemerons(walk);
	if (!walk->error && hs_recorder.strings)
		walk->error = hs_strings_flush(walk);
	return walk->error;
}
