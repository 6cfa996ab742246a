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

#include "profiler/handles.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/strings.h"
#include "profiler/walk.h"
#include "schema/batch_encoder.h"

/* The collector uses the low bits of an object's first word. */
#define VTABLE_BITS ((uintptr_t)7)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* How the exact size of an object of a kind is found. */
enum size_rule {
	SIZE_KNOWN,   /* base_bytes, and element_bytes times the length, if it has one */
	SIZE_NOT_YET, /* ask; the rule shows when one of them is not empty */
	SIZE_ASKED,   /* ask the runtime for each */
};

/*
 * What the walk knows of a vtable; found again for each object, so what is
 * needed for each fills one line of the cache.
 *
 * The length is read from the object itself, since calls of the runtime would
 * take longer than all the rest.  Objects of a fixed size have elements of no
 * size; what is read then does not matter.  new_kind() and learn_size() hold
 * what this gives against what the runtime says.
 */
struct kind {
	uintptr_t vtable;
	struct hs_shape_hint hint;
	uint32_t type, domain;
	uint32_t base_bytes, element_bytes;
	uint32_t length_at; /* where an object has its 32-bit length */
	uint8_t size_rule;
	bool size_varies, is_array;
	bool is_unusual; /* there is more to do, or its size must be asked for */
	bool is_string, is_ephemerons;
	uint8_t holder; /* sort of those that know a handle of JavaScript's; 0: none */
};

/* And such as areas add them. */
_Static_assert(sizeof(struct kind) <= 64 && sizeof(struct kind) % 8 == 0, "a line of the cache");

/* Totals of a kind; at the same place as the kind among the kinds. */
struct kind_totals {
	uint64_t n_objects, n_references, bytes;
};

#define CACHE_BITS 9

static struct hs_area kinds, all_kind_totals;
static struct hs_ptr_map kind_of_vtable; /* index + 1 */
static const struct kind no_kind;
static struct kind *cache[1u << CACHE_BITS]; /* of kinds, by the hash of the vtable */

#define NO_SECTION UINTPTR_MAX

static uintptr_t section;
static uint32_t generation;
static bool has_section_roots; /* any root may point into the section */

static struct kind *kind_at(size_t index)
{
	return (struct kind *)(void *)kinds.data + index;
}

static struct kind_totals *totals_of(const struct kind *kind)
{
	return (struct kind_totals *)(void *)all_kind_totals.data + (kind - kind_at(0));
}

static void forget_cache(void)
{
	size_t i;

	/* No object has the vtable of this one. */
	for (i = 0; i < sizeof cache / sizeof *cache; i++)
		cache[i] = (struct kind *)(uintptr_t)&no_kind;
}

/* ConditionalWeakTable keeps its pairs in arrays of this type. */
static bool is_ephemeron_array(MonoClass *klass)
{
	MonoClass *element = mono_class_get_element_class(klass);

	return mono_class_get_rank(klass) == 1 && element &&
	       strcmp(mono_class_get_name(element), "Ephemeron") == 0 &&
	       strcmp(mono_class_get_namespace(element), "System.Runtime.CompilerServices") == 0;
}

static uint32_t length_of(const MonoObject *object, const struct kind *kind)
{
	uint32_t length;

	memcpy(&length, (const char *)object + kind->length_at, sizeof length);
	return length;
}

/* Finds out how sizes follow from lengths, by OBJECT, which may have too few elements for that, or too many. */
static void learn_size(struct kind *kind, MonoObject *object)
{
	const uint32_t bytes = mono_object_get_size(object);
	uint64_t length, element;
	const char *data;

	kind->size_rule = SIZE_ASKED;
	if (kind->is_string) {
		length = (uint64_t)mono_string_length((MonoString *)object);
		element = sizeof(mono_unichar2);
		data = (const char *)mono_string_chars((MonoString *)object) - sizeof(uint32_t);
	} else if (mono_type_get_type(mono_class_get_type(mono_object_get_class(object))) ==
		   MONO_TYPE_SZARRAY) {
		length = mono_array_length((MonoArray *)object);
		element = (uint64_t)mono_array_element_size(mono_object_get_class(object));
		data = mono_array_addr_with_size((MonoArray *)object, 1, 0) - sizeof(void *);
	} else {
		return;
	}
	kind->length_at = (uint32_t)(data - (const char *)object);
	/* The runtime states sizes in 32 bits: those of larger ones are no sizes. */
	if (!length || element * length > UINT32_MAX / 2)
		kind->size_rule = SIZE_NOT_YET;
	else if (length_of(object, kind) == length && element * length < bytes) {
		kind->size_rule = SIZE_KNOWN;
		kind->element_bytes = (uint32_t)element;
		kind->base_bytes = (uint32_t)(bytes - element * length);
	}
}

/* Ephemerons; what holds something of JavaScript's; strings whose text is wanted; all in a walk for totals. */
static bool is_special(const struct kind *kind, const struct hs_walk *walk)
{
	return walk->is_stats_only || kind->is_ephemerons || kind->holder ||
	       (kind->is_string && hs_recorder.strings);
}

static struct kind *new_kind(const struct hs_walk *walk, MonoObject *object, MonoClass *klass,
			     uintptr_t vtable)
{
	const unsigned char *const before = kinds.data;
	size_t offset = hs_area_add(&kinds, sizeof(struct kind));
	struct hs_type *type;
	struct kind *kind;
	bool is_new;

	if (kinds.data != before)
		forget_cache();
	if (offset == SIZE_MAX ||
	    hs_area_add(&all_kind_totals, sizeof(struct kind_totals)) == SIZE_MAX ||
	    !hs_ptr_map_set(&kind_of_vtable, vtable, (uint32_t)(offset / sizeof *kind) + 1))
		return NULL;
	kind = (struct kind *)(void *)(kinds.data + offset);
	memset(kind, 0, sizeof *kind);
	memset(totals_of(kind), 0, sizeof *totals_of(kind));
	kind->vtable = vtable;
	kind->type = hs_types_intern(&hs_recorder.types, (uintptr_t)klass);
	kind->domain = hs_types_domain(
		&hs_recorder.types, (uintptr_t)mono_vtable_domain((MonoVTable *)vtable), &is_new);
	kind->is_array = mono_class_get_rank(klass) != 0;
	kind->is_string = klass == mono_get_string_class();
	kind->size_varies = kind->is_array || kind->is_string;
	kind->is_ephemerons = kind->is_array && is_ephemeron_array(klass);
	if (kind->size_varies)
		learn_size(kind, object);
	else
		kind->base_bytes = mono_object_get_size(object);
	kind->holder = hs_handles_sort_of(klass);
	kind->is_unusual = is_special(kind, walk) || kind->size_rule != SIZE_KNOWN;
	type = hs_types_get(&hs_recorder.types, kind->type);
	if (!type)
		return NULL;
	if (!type->is_announced)
		hs_late_add((uintptr_t)klass);
	return kind;
}

static inline struct kind **cached(uintptr_t vtable)
{
	return &cache[((uint64_t)vtable * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - CACHE_BITS)];
}

static __attribute__((noinline)) struct kind *
find_kind(const struct hs_walk *walk, MonoObject *object, MonoClass *klass, uintptr_t vtable)
{
	const struct hs_ptr_slot *slot = hs_ptr_map_find(&kind_of_vtable, vtable);
	struct kind *kind = slot ? kind_at(slot->value - 1) : new_kind(walk, object, klass, vtable);

	if (kind)
		*cached(vtable) = kind;
	return kind;
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

/* The runtime cannot be told to stop: from the first ERROR on each object enters a section anew. */
static int fail(struct hs_walk *walk, int error)
{
	walk->error = error;
	if (error)
		section = NO_SECTION;
	return 0;
}

/* The first object of a section: what holds for all of it.  False when the walk has failed. */
static __attribute__((noinline)) bool enter_section(struct hs_walk *walk, uintptr_t address)
{
	const uint32_t its = (uint32_t)mono_gc_get_generation((MonoObject *)address);

	if (walk->error)
		return false;
	section = address >> HS_SECTION_SHIFT;
	has_section_roots = hs_root_set_has_section(walk->roots, address);
	if (its == generation)
		return true;
	generation = its;
	fail(walk, finish_batch(walk));
	return walk->error == 0;
}

static uint64_t size_of(MonoObject *object, struct kind *kind)
{
	if (kind->size_rule == SIZE_NOT_YET)
		learn_size(kind, object);
	return kind->size_rule == SIZE_KNOWN
		       ? kind->base_bytes + (uint64_t)kind->element_bytes * length_of(object, kind)
		       : mono_object_get_size(object);
}

/* A row that is not as most are: of a new shape, of a full batch, a continuation. */
static __attribute__((noinline)) int add_row(struct hs_walk *walk, struct kind *kind,
					     uintptr_t address, uint64_t size, uint64_t slot_size,
					     size_t n_refs, const uintptr_t *offsets,
					     void *const *refs)
{
	const struct hs_row row = {
		.address = address,
		.size = size,
		.slot_size = slot_size,
		.type = kind->type,
		.domain = kind->domain,
		.n_refs = (uint32_t)n_refs,
		.is_continuation = slot_size == 0,
		.size_varies = kind->size_varies,
		.is_array = kind->is_array,
		.offsets = offsets,
		.refs = refs,
	};
	int error;

	if (hs_batch_add(hs_recorder.batches, &row, &kind->hint))
		return 0;
	error = finish_batch(walk);
	if (!error && !hs_batch_add(hs_recorder.batches, &row, &kind->hint))
		error = -EMSGSIZE;
	return error;
}

static int add_totals(const struct kind *kind, uint64_t size, size_t n_refs)
{
	struct kind_totals *totals = totals_of(kind);

	totals->n_objects += size != 0;
	totals->bytes += size;
	totals->n_references += n_refs;
	return 0;
}

/* What else there is to do with an object; false when it has no row. */
static __attribute__((noinline)) bool add_unusual(struct hs_walk *walk, struct kind *kind,
						  MonoObject *object, uint64_t size, size_t n_refs)
{
	kind->is_unusual = is_special(kind, walk) || kind->size_rule != SIZE_KNOWN;
	if (walk->is_stats_only) {
		add_totals(kind, size, n_refs);
		return false;
	}
	if (kind->is_ephemerons)
		fail(walk, add_ephemerons(walk, object));
	else if (kind->is_string && hs_recorder.strings)
		fail(walk, hs_strings_add(walk, object));
	else if (kind->holder)
		hs_handles_meet(kind->holder, object);
	return walk->error == 0;
}

/*
 * Called for each object, and for each further 128 references of it: with SIZE 0.
 */
static int walked(MonoObject *object, MonoClass *klass, uintptr_t size, uintptr_t n_refs,
		  MonoObject **references, uintptr_t *offsets, void *data)
{
	const uintptr_t address = (uintptr_t)object;
	const uintptr_t vtable = *(const uintptr_t *)(const void *)object & ~VTABLE_BITS;
	void *const *refs = (void *const *)(void *)references;
	const unsigned shift = sizeof(void *) == 8 ? 3 : 2;
	struct hs_walk *walk = data;
	struct kind *kind;
	uint64_t exact, slack;

	if (unlikely(address >> HS_SECTION_SHIFT != section) && !enter_section(walk, address))
		return 0;
	kind = *cached(vtable);
	if (unlikely(kind->vtable != vtable)) {
		kind = find_kind(walk, object, klass, vtable);
		if (!kind)
			return fail(walk, -ENOMEM);
	}
	walk->totals.n_references += n_refs;
	if (unlikely(size == 0))
		return fail(walk, walk->is_stats_only ? add_totals(kind, 0, n_refs)
						      : add_row(walk, kind, address, 0, 0, n_refs,
								offsets, refs));
	exact = likely(!kind->is_unusual)
			? kind->base_bytes + (uint64_t)kind->element_bytes * length_of(object, kind)
			: size_of(object, kind);
	slack = size < exact ? 0 : size - exact;
	walk->totals.n_objects++;
	walk->totals.bytes += exact;
	walk->slack_bytes += slack;
	walk->totals.hash += hs_object_mix(address);
	if (has_section_roots || unlikely(exact > HS_SECTION_BYTES))
		hs_root_set_meet(walk->roots, address, exact);
	if (unlikely(kind->is_unusual) && !add_unusual(walk, kind, object, exact, n_refs))
		return 0;
	if (kind->size_varies && n_refs) {
		if (likely(hs_batch_add_array(hs_recorder.batches, &kind->hint, address, exact,
					      slack, n_refs, offsets, refs, shift)))
			return 0;
	} else if (likely(hs_batch_add_usual(hs_recorder.batches, &kind->hint, address, exact,
					     kind->size_varies ? HS_SIZE_VARIES : exact, slack,
					     n_refs, offsets, refs, shift))) {
		return 0;
	}
	return fail(walk,
		    add_row(walk, kind, address, exact, exact + slack, n_refs, offsets, refs));
}

static int put_totals(struct hs_walk *walk)
{
	size_t n = kinds.used / sizeof(struct kind), i;
	int error = 0;

	for (i = 0; i < n && !error; i++) {
		const struct kind *kind = kind_at(i);
		const struct kind_totals *totals = totals_of(kind);
		error = walk->put_totals(kind->type, totals->n_objects, totals->bytes,
					 totals->n_references);
	}
	return error;
}

int hs_walk_run(struct hs_walk *walk)
{
	/* Vtables of unloaded domains may have come again: nothing is kept between walks. */
	kinds.used = 0;
	all_kind_totals.used = 0;
	hs_ptr_map_clear(&kind_of_vtable);
	forget_cache();
	section = NO_SECTION;
	generation = 0;
	memset(&walk->totals, 0, sizeof walk->totals);
	walk->slack_bytes = 0;
	walk->error = 0;
	hs_batch_begin(hs_recorder.batches, walk->snapshot, generation);
	hs_ephemeron_begin(&hs_recorder.ephemeron_encoder, walk->snapshot);
	mono_gc_walk_heap(0, walked, walk);
	walk->totals.slot_bytes = walk->totals.bytes + walk->slack_bytes;
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
