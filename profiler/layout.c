/* SPDX-License-Identifier: MIT */
/*
 * Reading fields from the runtime.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

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
	case MONO_TYPE_STRING:
	case MONO_TYPE_OBJECT:
		return mono_class_from_mono_type(type);
	default:
		/* Others may have to be built first; only structs are worth that. */
		return mono_type_is_struct(type) ? mono_class_from_mono_type(type) : NULL;
	}
}

static size_t name_bytes_of(MonoClassField *field)
{
	size_t bytes = strlen(mono_field_get_name(field));

	return bytes < FIELD_NAME_MAX ? bytes : FIELD_NAME_MAX;
}

static size_t entry_bytes(MonoClassField *field)
{
	return (sizeof(struct hs_field_entry) + name_bytes_of(field) + 1 + 7) & ~(size_t)7;
}

static bool is_recorded(MonoClassField *field)
{
	return !(mono_field_get_flags(field) & MONO_FIELD_ATTR_LITERAL);
}

static char *write_field(char *at, MonoClassField *field)
{
	struct hs_field_entry *out = (struct hs_field_entry *)(void *)at;
	MonoType *type = mono_field_get_type(field);
	const uint32_t offset = mono_field_get_offset(field);
	struct hs_text name = hs_text_copy(mono_field_get_name(field), FIELD_NAME_MAX);
	size_t room = name_bytes_of(field);

	memset(out, 0, entry_bytes(field));
	out->type = (uintptr_t)class_of(type);
	out->is_static = (mono_field_get_flags(field) & MONO_FIELD_ATTR_STATIC) != 0;
	out->is_thread_static = out->is_static && offset == THREAD_STATIC_OFFSET;
	out->offset = out->is_thread_static ? 0 : offset;
	out->is_inline = mono_type_is_struct(type) != 0;
	/* Where bad bytes grew into replacement characters, the end is left out. */
	if (name.text && name.bytes <= room)
		room = name.bytes;
	while (name.text && room && (name.text[room] & 0xC0) == 0x80)
		room--;
	out->name_bytes = (uint32_t)(name.text ? room : 0);
	if (name.text)
		memcpy(out->name, name.text, out->name_bytes);
	free(name.text);
	return at + entry_bytes(field);
}

static void push_one(MonoClass *klass)
{
	const size_t max = hs_log_payload_max(&hs_recorder.log);
	struct hs_log_entry *entry;
	struct hs_layout_entry *layout;
	MonoClassField *field;
	void *iterator = NULL, *ahead = NULL;
	bool is_first = true;
	char *at;

	/* A class with very many fields is told in several entries. */
	for (;;) {
		size_t bytes = sizeof *layout;
		uint32_t n = 0;
		while ((field = mono_class_get_fields(klass, &ahead)) && bytes < max / 2) {
			if (is_recorded(field)) {
				bytes += entry_bytes(field);
				n++;
			}
		}
		if (!n && !is_first)
			return;
		is_first = false;
		entry = hs_push_begin(HS_ENTRY_LAYOUT, bytes,
				      HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS);
		if (!entry)
			return;
		layout = hs_log_payload(entry);
		layout->klass = (uintptr_t)klass;
		layout->n_fields = n;
		/* Known now; asking earlier would make the runtime begin what it is in the middle of. */
		layout->instance_bytes = (uint32_t)mono_class_instance_size(klass);
		at = (char *)(layout + 1);
		while (n) {
			field = mono_class_get_fields(klass, &iterator);
			if (is_recorded(field)) {
				at = write_field(at, field);
				n--;
			}
		}
		hs_push_end(entry);
		/* Back to the first field that did not fit; behind the last one the loop ends. */
		ahead = iterator;
	}
}

static void push_inside(MonoClass *klass, unsigned depth)
{
	MonoClassField *field;
	void *iterator = NULL;

	if (!klass || depth > DEPTH_MAX || !hs_seen_add((uintptr_t)klass))
		return;
	push_one(klass);
	while ((field = mono_class_get_fields(klass, &iterator)))
		if (is_recorded(field) && mono_type_is_struct(mono_field_get_type(field)))
			push_inside(mono_class_from_mono_type(mono_field_get_type(field)),
				    depth + 1);
}

void hs_layout_push(MonoClass *klass)
{
	if (mono_class_get_rank(klass)) {
		MonoClass *element = mono_class_get_element_class(klass);
		if (mono_class_is_valuetype(element))
			push_inside(element, 0);
		return;
	}
	for (; klass; klass = mono_class_get_parent(klass))
		push_inside(klass, 0);
}
