/* SPDX-License-Identifier: MIT */
/*
 * Managed objects that know the number of what they stand for: their addresses by
 * that number, noted as the walk meets them.
 */
#include "config.h"

#include <string.h>

#include <mono/metadata/class.h>

#include "profiler/handles.h"
#include "profiler/ptr_map.h"
#include "profiler/wasm_handles.h"

/* Addresses are even: the lowest bit says that JavaScript knows of it. */
#define TAKEN 1u

const char *const hs_held_names[HS_N_HELD] = {
	[HS_HELD_JS_OBJECT] = "js_object",
	[HS_HELD_DOTNET_REFERENCE] = "dotnet_object_reference",
	[HS_HELD_JS_REFERENCE] = "js_object_reference",
};

static struct held {
	const char *name_space, *name, *number, *is_gone; /* class, and its fields */
	uint32_t number_at, number_bytes, is_gone_at;     /* in an object; 0: not there */
	struct hs_ptr_map objects;                        /* by number */
} held[HS_N_HELD] = {
	[HS_HELD_JS_OBJECT] = {"System.Runtime.InteropServices.JavaScript", "JSObject", "JSHandle",
			       "_isDisposed"},
	[HS_HELD_DOTNET_REFERENCE] = {"Microsoft.JSInterop", "DotNetObjectReference`1", "_objectId",
				      "<Disposed>k__BackingField"},
	[HS_HELD_JS_REFERENCE] = {"Microsoft.JSInterop.Implementation", "JSObjectReference",
				  "<Id>k__BackingField", "<Disposed>k__BackingField"},
};

static bool is_wanted;
static uint64_t n_lost;

/* Objects of the class are there, so it is laid out. */
static void learn(struct held *sort, MonoClass *klass)
{
	MonoClassField *field;
	void *iterator = NULL;

	sort->number_at = sort->is_gone_at = 0;
	while ((field = mono_class_get_fields(klass, &iterator))) {
		const char *name = mono_field_get_name(field);

		if (strcmp(name, sort->number) == 0) {
			sort->number_at = mono_field_get_offset(field);
			/* A long; IntPtr is of a word. */
			sort->number_bytes =
				mono_type_get_type(mono_field_get_type(field)) == MONO_TYPE_I8
					? 8
					: sizeof(void *);
		} else if (strcmp(name, sort->is_gone) == 0) {
			sort->is_gone_at = mono_field_get_offset(field);
		}
	}
}

void hs_held_clear(bool is_now_wanted)
{
	is_wanted = is_now_wanted;
	n_lost = 0;
	for (int i = 1; i < HS_N_HELD; i++)
		hs_ptr_map_clear(&held[i].objects);
}

uint8_t hs_handles_sort_of(MonoClass *klass)
{
	for (; is_wanted && klass; klass = mono_class_get_parent(klass)) {
		const char *name = mono_class_get_name(klass);

		for (uint8_t i = 1; i < HS_N_HELD; i++) {
			if (strcmp(name, held[i].name) != 0 ||
			    strcmp(mono_class_get_namespace(klass), held[i].name_space) != 0)
				continue;
			learn(&held[i], klass);
			return held[i].number_at ? i : HS_HELD_NONE;
		}
	}
	return HS_HELD_NONE;
}

void hs_handles_meet(uint8_t sort, const MonoObject *object)
{
	struct held *its = &held[sort];
	const char *bytes = (const char *)object;
	uint64_t number = 0;

	memcpy(&number, bytes + its->number_at, its->number_bytes);
	/* Never given, given back, or more than we can tell apart. */
	if (!number || number > UINT32_MAX || (its->is_gone_at && bytes[its->is_gone_at]))
		return;
	if (!hs_ptr_map_set(&its->objects, (uintptr_t)number, (uint32_t)(uintptr_t)object))
		n_lost++;
}

uint64_t hs_held_take(enum hs_held sort, int64_t number)
{
	struct hs_ptr_slot *slot = NULL;

	/* Negative ones fill a word where they stand in one. */
	if (number && number >= INT32_MIN && number <= UINT32_MAX)
		slot = hs_ptr_map_find(&held[sort].objects, (uintptr_t)number);
	if (!slot)
		return 0;
	slot->value |= TAKEN;
	return slot->value & ~TAKEN;
}

bool hs_held_next(enum hs_held sort, size_t *at, struct hs_handle_row *row)
{
	const struct hs_ptr_map *objects = &held[sort].objects;

	for (; objects->slots && *at <= objects->mask; ++*at) {
		const struct hs_ptr_slot *slot = &objects->slots[*at];

		if (!slot->key || slot->value & TAKEN)
			continue;
		*row = (struct hs_handle_row){.handle = (int32_t)slot->key, .object = slot->value};
		++*at;
		return true;
	}
	return false;
}

uint64_t hs_held_n_lost(void)
{
	return n_lost;
}
