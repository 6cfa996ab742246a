/* SPDX-License-Identifier: MIT */
/*
 * Tables of types, images, domains and threads.
 */
#include "config.h"

#include <string.h>

#include "profiler/types.h"

struct hs_type *hs_types_get(const struct hs_types *types, uint32_t id)
{
	if (id == 0 || id > types->n_types)
		return NULL;
	return (struct hs_type *)(void *)types->types.data + (id - 1);
}

uint32_t hs_types_renew(struct hs_types *types, uintptr_t klass)
{
	size_t offset = hs_area_add(&types->types, sizeof(struct hs_type));

	if (offset == SIZE_MAX)
		return 0;
	if (!hs_ptr_map_set(&types->by_class, klass, types->n_types + 1)) {
		types->types.used = offset;
		return 0;
	}
	types->n_types++;
	hs_types_get(types, types->n_types)->klass = klass;
	return types->n_types;
}

uint32_t hs_types_intern(struct hs_types *types, uintptr_t klass)
{
	uint32_t id;

	if (!klass)
		return 0;
	id = hs_ptr_map_get(&types->by_class, klass);
	return id ? id : hs_types_renew(types, klass);
}

/* Image and token in one key; what is found is checked against both. */
static uintptr_t definition_key(uintptr_t image, uint32_t token)
{
	return (image ^ ((uintptr_t)token << 20 | token)) | 1;
}

bool hs_types_define(struct hs_types *types, uint32_t id, uintptr_t image, uint32_t token)
{
	struct hs_type *type = hs_types_get(types, id);

	if (!type || !token)
		return type != NULL;
	type->image = image;
	type->token = token;
	return hs_ptr_map_set(&types->definitions, definition_key(image, token), id);
}

uint32_t hs_types_definition(const struct hs_types *types, uintptr_t image, uint32_t token)
{
	uint32_t id = token ? hs_ptr_map_get(&types->definitions, definition_key(image, token)) : 0;
	const struct hs_type *type = hs_types_get(types, id);

	return type && type->image == image && type->token == token ? id : 0;
}

static size_t keep(struct hs_types *types, const char *text, uint32_t bytes)
{
	size_t offset = hs_area_add(&types->text, (size_t)bytes + 1);

	if (offset != SIZE_MAX)
		memcpy(types->text.data + offset, text, bytes);
	return offset;
}

bool hs_types_set_name(struct hs_types *types, uint32_t id, const char *name, uint32_t bytes)
{
	struct hs_type *type = hs_types_get(types, id);
	size_t offset = keep(types, name, bytes);

	if (!type || offset == SIZE_MAX)
		return false;
	type->name = offset;
	type->name_bytes = bytes;
	return true;
}

bool hs_types_add_static(struct hs_types *types, uint32_t id, uint64_t offset, const char *name,
			 uint32_t bytes)
{
	struct hs_type *type = hs_types_get(types, id);
	struct hs_static_field *field;
	size_t text = keep(types, name, bytes), at;

	if (!type || text == SIZE_MAX)
		return false;
	at = hs_area_add(&types->statics, sizeof *field);
	if (at == SIZE_MAX)
		return false;
	field = (struct hs_static_field *)(void *)(types->statics.data + at);
	field->offset = offset;
	field->next = type->first_static;
	field->name = text;
	field->name_bytes = bytes;
	type->first_static = at + 1;
	return true;
}

const struct hs_static_field *hs_types_static_at(const struct hs_types *types, uint32_t id,
						 uint64_t offset)
{
	const struct hs_type *type = hs_types_get(types, id);
	const struct hs_static_field *field, *best = NULL;
	size_t at;

	/* A static struct holds several slots: the last field that starts at or before. */
	for (at = type ? type->first_static : 0; at; at = field->next) {
		field = (const struct hs_static_field *)(const void *)(types->statics.data + at -
								       1);
		if (field->offset <= offset && (!best || field->offset > best->offset))
			best = field;
	}
	return best;
}

static uint32_t intern(struct hs_ptr_map *map, uint32_t *n, uintptr_t key, bool *is_new)
{
	uint32_t id = key ? hs_ptr_map_get(map, key) : 0;

	*is_new = false;
	if (id || !key)
		return id;
	if (!hs_ptr_map_set(map, key, *n + 1))
		return 0;
	*is_new = true;
	return ++*n;
}

uint32_t hs_types_image(struct hs_types *types, uintptr_t image, bool *is_new)
{
	return intern(&types->images, &types->n_images, image, is_new);
}

uint32_t hs_types_domain(struct hs_types *types, uintptr_t domain, bool *is_new)
{
	return intern(&types->domains, &types->n_domains, domain, is_new);
}

bool hs_types_name_thread(struct hs_types *types, uint64_t thread, const char *name, uint32_t bytes)
{
	uint32_t index = hs_ptr_map_get(&types->threads, (uintptr_t)thread);
	struct hs_name *entry;
	size_t text, at;

	/* Threads come and go, and their ids come again: a name that fits takes the place of the old. */
	if (index) {
		entry = (struct hs_name *)(void *)types->names.data + (index - 1);
		if (bytes <= entry->room_bytes) {
			memcpy(types->text.data + entry->name, name, bytes);
			entry->name_bytes = bytes;
			return true;
		}
	}
	text = keep(types, name, bytes);
	if (text == SIZE_MAX)
		return false;
	if (!index) {
		at = hs_area_add(&types->names, sizeof *entry);
		if (at == SIZE_MAX ||
		    !hs_ptr_map_set(&types->threads, (uintptr_t)thread, types->n_names + 1))
			return false;
		index = ++types->n_names;
	}
	entry = (struct hs_name *)(void *)types->names.data + (index - 1);
	entry->name = text;
	entry->name_bytes = entry->room_bytes = bytes;
	return true;
}

const char *hs_types_thread_name(const struct hs_types *types, uint64_t thread, uint32_t *bytes)
{
	uint32_t index = hs_ptr_map_get(&types->threads, (uintptr_t)thread);
	const struct hs_name *entry;

	*bytes = 0;
	if (!index)
		return "";
	entry = (const struct hs_name *)(const void *)types->names.data + (index - 1);
	*bytes = entry->name_bytes;
	return hs_types_text(types, entry->name);
}

void hs_types_free(struct hs_types *types)
{
	hs_area_free(&types->types);
	hs_area_free(&types->statics);
	hs_area_free(&types->names);
	hs_area_free(&types->text);
	hs_ptr_map_free(&types->by_class);
	hs_ptr_map_free(&types->definitions);
	hs_ptr_map_free(&types->images);
	hs_ptr_map_free(&types->domains);
	hs_ptr_map_free(&types->threads);
	hs_ptr_map_free(&types->vtables);
	hs_ptr_map_free(&types->vtable_domains);
	memset(types, 0, sizeof *types);
}
