/* SPDX-License-Identifier: MIT */
/*
 * Reading fields from the runtime.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include <mono/metadata/appdomain.h>
#include <mono/metadata/attrdefs.h>
#include <mono/metadata/class.h>

#include "profiler/layout.h"
#include "profiler/recorder.h"
#include "profiler/seen.h"
#include "profiler/text.h"

/* Structs inside structs are followed to this depth. */
#define DEPTH_MAX      16u
#define FIELD_NAME_MAX 1024u
/* Offset of a thread-static field, as the runtime gives it here. */
#define THREAD_STATIC_OFFSET UINT32_MAX

static MonoClass *class_of(MonoType *type)
{
	switch (mono_type_get_type(type)) {
	case MONO_TYPE_CLASS:
	case MONO_TYPE_VALUETYPE:
		/* As mono_class_from_mono_type(), which does much else. */
		return mono_type_get_class(type);
	case MONO_TYPE_STRING:
		return mono_get_string_class();
	case MONO_TYPE_OBJECT:
		return mono_get_object_class();
	default:
		/* Others may have to be built first; only structs are worth that. */
		return mono_type_is_struct(type) ? mono_class_from_mono_type(type) : NULL;
	}
}

/* What is asked of the runtime once. */
struct found {
	MonoClassField *field;
	MonoType *type;
	const char *name;
	uint32_t name_bytes;
	uint32_t flags;
};

static size_t entry_bytes(const struct found *found)
{
	return (sizeof(struct hs_field_entry) + found->name_bytes + 1 + 7) & ~(size_t)7;
}

/* Constants have no place in memory. */
static MonoClassField *next_field(MonoClass *klass, void **iterator, uint32_t *flags)
{
	MonoClassField *field;

	while ((field = mono_class_get_fields(klass, iterator))) {
		*flags = mono_field_get_flags(field);
		if (!(*flags & MONO_FIELD_ATTR_LITERAL))
			break;
	}
	return field;
}

static char *write_field(char *at, const struct found *found)
{
	struct hs_field_entry *out = (struct hs_field_entry *)(void *)at;
	const uint32_t offset = mono_field_get_offset(found->field);
	struct hs_text name = hs_text_of(found->name, FIELD_NAME_MAX);
	size_t room = found->name_bytes;

	memset(out, 0, entry_bytes(found));
	out->type = (uintptr_t)class_of(found->type);
	out->is_static = (found->flags & MONO_FIELD_ATTR_STATIC) != 0;
	out->is_thread_static = out->is_static && offset == THREAD_STATIC_OFFSET;
	out->offset = out->is_thread_static ? 0 : offset;
	out->is_inline = mono_type_is_struct(found->type) != 0;
	/* Where bad bytes grew into replacement characters, the end is left out. */
	if (name.text && name.bytes <= room)
		room = name.bytes;
	while (name.text && room && (name.text[room] & 0xC0) == 0x80)
		room--;
	out->name_bytes = (uint32_t)(name.text ? room : 0);
	if (name.text)
		memcpy(out->name, name.text, out->name_bytes);
	hs_text_free(&name);
	return at + entry_bytes(found);
}

/* A class with more fields is told in several entries. */
#define FIELDS_AT_ONCE 48

static void push_some(MonoClass *klass, const struct found *found, uint32_t n, size_t bytes)
{
	struct hs_log_entry *entry =
		hs_push_begin(HS_ENTRY_LAYOUT, bytes, HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS);
	struct hs_layout_entry *layout;
	uint32_t i;
	char *at;

	if (!entry)
		return;
	layout = hs_log_payload(entry);
	layout->klass = (uintptr_t)klass;
	layout->n_fields = n;
	/* Known now; asking earlier would make the runtime begin what it is in the middle of. */
	layout->instance_bytes = (uint32_t)mono_class_instance_size(klass);
	at = (char *)(layout + 1);
	for (i = 0; i < n; i++)
		at = write_field(at, &found[i]);
	hs_push_end(entry);
}

/* Returns whether there are structs among the fields. */
static bool push_one(MonoClass *klass)
{
	struct found found[FIELDS_AT_ONCE];
	void *iterator = NULL;
	bool is_first = true, has_structs = false;
	uint32_t n = 0;
	size_t bytes = sizeof(struct hs_layout_entry);
	MonoClassField *field;

	do {
		struct found *next = &found[n];
		field = next_field(klass, &iterator, &next->flags);
		if (field) {
			next->field = field;
			next->type = mono_field_get_type(field);
			next->name = mono_field_get_name(field);
			next->name_bytes = (uint32_t)strnlen(next->name, FIELD_NAME_MAX);
			bytes += entry_bytes(next);
			has_structs |= mono_type_is_struct(next->type) != 0;
			n++;
		}
		if (n == FIELDS_AT_ONCE || (!field && (n || is_first))) {
			push_some(klass, found, n, bytes);
			is_first = false;
			bytes = sizeof(struct hs_layout_entry);
			n = 0;
		}
	} while (field);
	return has_structs;
}

/* False where it was told before, and all that is behind it. */
static bool push_inside(MonoClass *klass, unsigned depth)
{
	MonoClassField *field;
	void *iterator = NULL;
	uint32_t flags;

	if (!klass || depth > DEPTH_MAX || !hs_seen_add((uintptr_t)klass))
		return false;
	if (!push_one(klass))
		return true;
	while ((field = next_field(klass, &iterator, &flags)))
		if (mono_type_is_struct(mono_field_get_type(field)))
			push_inside(mono_class_from_mono_type(mono_field_get_type(field)),
				    depth + 1);
	return true;
}

void hs_layout_push(MonoClass *klass)
{
	if (mono_class_get_rank(klass)) {
		MonoClass *element = mono_class_get_element_class(klass);
		if (mono_class_is_valuetype(element))
			push_inside(element, 0);
		return;
	}
	/* Base classes of one that was told were told with it; a struct's are told with others. */
	while (push_inside(klass, 0))
		klass = mono_class_get_parent(klass);
}
