/* SPDX-License-Identifier: MIT */
/*
 * Types of a mono-heap file and their assemblies.  Viewers put the name together:
 * namespace, name, and brackets for an array, whose record has the element's
 * name.  Names here have their generic arguments and outer types in them, as the
 * recorder was told them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/export/mono_heap.h"
#include "schema/heapshot.pb-c.h"

/*
 * The place of a class, added when it is new; NO_NAME without memory.  What tells
 * classes apart is what does so in types.h.
 */
static uint32_t get_class(struct mono_heap *heap, const struct heapshot_type *type,
			  const char *name, const char *assembly, uint64_t hash)
{
	const size_t bytes = strlen(name) + strlen(assembly) + 64;
	char *key = malloc(bytes);
	uint32_t place = EXPORT_NO_NAME;

	if (key != NULL) {
		/* The length: a name may hold whatever stands between the two. */
		snprintf(key, bytes, "%zu\n%s\n%s\n%" PRIx64, strlen(name), name, assembly, hash);
		place = export_name(&heap->class_keys, key);
	}
	free(key);
	if (place == EXPORT_NO_NAME || place < heap->n_classes)
		return place;
	if (heap->n_classes == heap->room_classes) {
		const size_t room = heap->room_classes != 0 ? heap->room_classes * 2 : 256;
		void *classes = reallocarray(heap->classes, room, sizeof(*heap->classes));

		if (classes == NULL)
			return EXPORT_NO_NAME;
		heap->classes = classes;
		heap->room_classes = room;
	}
	heap->classes[heap->n_classes++] = (struct mono_heap_class){
		.type = type,
		.name = export_name(&heap->names, name),
		.assembly = export_name(&heap->assemblies, assembly),
	};
	return place;
}

/* The id of the class that TYPE is; 0 without memory. */
static uint32_t get_type(struct mono_heap *heap, const struct heapshot_type *type)
{
	char unnamed[32];

	snprintf(unnamed, sizeof(unnamed), "type#%" PRIu32, type->id);
	return get_class(heap, type, *type->name != '\0' ? type->name : unnamed, type->assembly,
			 type->name_hash) +
	       1; /* of NO_NAME: 0 */
}

/* Whether NAME ends with the brackets of an array of RANK dimensions. */
static bool has_brackets(const char *name, uint32_t rank)
{
	const size_t n = strlen(name);
	size_t i;

	if (n <= rank || name[n - 1] != ']' || name[n - 1 - rank] != '[')
		return false;
	for (i = n - rank; i < n - 1; i++)
		if (name[i] != ',')
			return false;
	return true;
}

/* Takes namespace and brackets out of the name of CLASS. */
static bool split_name(struct mono_heap *heap, struct mono_heap_class *class)
{
	const char *name = heap->names.texts[class->name];
	const char *space = class->type->name_space;
	const size_t brackets = class->rank > 0 ? (size_t) class->rank + 1 : 0;
	const size_t n = strlen(name) - brackets;
	size_t from = strlen(space);
	char *own;

	from = from > 0 && from + 1 < n && strncmp(name, space, from) == 0 && name[from] == '.'
		       ? from + 1
		       : 0;
	own = strndup(name + from, n - from);
	if (own == NULL)
		return false;
	class->name = export_name(&heap->names, own);
	class->space = export_name(&heap->names, from > 0 ? space : "");
	free(own);
	return class->name != EXPORT_NO_NAME && class->space != EXPORT_NO_NAME;
}

/* In the words of the runtime. */
static const char *kind_of(const struct mono_heap_class *class)
{
	if (class->type == NULL)
		return "unknown";
	if (class->rank > 0)
		return "array";
	if (class->type->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY)
		return "unknown"; /* as "T[*]", of another lower bound: the name stands for itself */
	if (class->type->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_POINTER)
		return "pointer";
	return class->type->generic_definition != 0 ? "ginst" : "def";
}

/* Sets what an array has more than others; its element may become a class behind all. */
static bool fill_array(struct mono_heap *heap, struct mono_heap_class *class)
{
	const uint32_t rank = class->type->rank != 0 ? class->type->rank : 1;
	const struct heapshot_type *element;

	if (class->type->kind != HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY)
		return true;
	if (has_brackets(heap->names.texts[class->name], rank))
		class->rank = rank;
	element = heapshot_reader_type(heap->export->reader, class->type->element);
	if (element != NULL)
		class->element = get_type(heap, element);
	return element == NULL || class->element != 0;
}

/* Fills the class at PLACE by what is known of its type. */
static bool fill(struct mono_heap *heap, size_t place)
{
	struct mono_heap_class class = heap->classes[place];

	if (class.name == EXPORT_NO_NAME || class.assembly == EXPORT_NO_NAME)
		return false;
	if (class.type != NULL && !(fill_array(heap, &class) && split_name(heap, &class)))
		return false;
	class.kind = export_name(&heap->names, kind_of(&class));
	heap->classes[place] = class; /* the list may have moved */
	return class.kind != EXPORT_NO_NAME;
}

bool mono_heap_make_classes(struct mono_heap *heap)
{
	size_t i;

	if (export_name(&heap->assemblies, "") != 0)
		return false;
	for (i = 0; i < heap->types.n; i++) {
		const struct export_type *type = &heap->types.list[i];

		if (get_class(heap, heapshot_reader_type(heap->export->reader, type->type),
			      heap->names.texts[type->name], heap->names.texts[type->assembly],
			      type->hash) != i)
			return false;
	}
	for (i = 0; i < heap->n_classes; i++)
		if (!fill(heap, i))
			return false;
	return true;
}

void mono_heap_put_assemblies(struct mono_heap *heap, struct mono_heap_out *out)
{
	size_t i;

	for (i = 1; i < heap->assemblies.n; i++) {
		mono_heap_put_u32(out, (uint32_t)i);
		mono_heap_put_text(out, heap->assemblies.texts[i]);
	}
}

void mono_heap_put_classes(struct mono_heap *heap, struct mono_heap_out *out)
{
	size_t i;

	for (i = 0; i < heap->n_classes; i++) {
		const struct mono_heap_class *class = &heap->classes[i];

		mono_heap_put_u32(out, (uint32_t)i + 1);
		mono_heap_put_u32(out, class->element);
		mono_heap_put_u32(out, 0); /* the class it is nested in: part of the name */
		mono_heap_put_u32(out, class->assembly);
		mono_heap_put_number(out, class->rank);
		mono_heap_put_number(out, class->kind);
		mono_heap_put_number(out, class->space);
		mono_heap_put_number(out, class->name);
		mono_heap_put_number(out, 0); /* generic arguments: part of the name */
	}
}
