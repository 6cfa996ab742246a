/* SPDX-License-Identifier: MIT */
/*
 * Types, images, domains, threads: the tables of names.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/reader.h"
#include "contrib/reader/take.h"

void hs_names_free(struct heapshot_reader *reader)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_names *names = &reader->names;

	hs_memory_release(memory, names->types, names->room_types * sizeof(*names->types));
	hs_memory_release(memory, names->domains, names->room_domains * sizeof(*names->domains));
	hs_memory_release(memory, names->threads, names->room_threads * sizeof(*names->threads));
	hs_memory_release(memory, names->images, names->room_images * sizeof(*names->images));
	hs_idmap_free(memory, &names->type_index);
	hs_idmap_free(memory, &names->domain_index);
	hs_idmap_free(memory, &names->thread_index);
	hs_idmap_free(memory, &names->image_index);
	hs_arena_free(memory, &names->arena);
	*names = (struct hs_names){0};
}

/*
 * The element of KEY in *ARRAY, appended (zeroed) when it is new; NULL over the
 * limit of memory.
 */
static void *get_element(struct hs_memory *memory, struct hs_idmap *index, void *array, size_t *n,
			 size_t *room, size_t size, uint64_t key)
{
	uint32_t *found = hs_idmap_find(index, key);
	size_t at = found != NULL ? *found : *n;
	char *elements;

	if (found == NULL) {
		if (!hs_memory_reserve(memory, array, *n, room, size) ||
		    !hs_idmap_put(memory, index, key, (uint32_t)*n))
			return NULL;
		(*n)++;
	}
	memcpy(&elements, array, sizeof(elements));
	return elements + at * size;
}

static bool take_type(struct heapshot_reader *reader, const Heapshot__Type *from)
{
	struct hs_names *names = &reader->names;
	struct heapshot_type *type =
		get_element(&reader->memory, &names->type_index, &names->types, &names->n_types,
			    &names->room_types, sizeof(*names->types), from->id);

	if (type == NULL)
		return false;
	*type = (struct heapshot_type){
		.id = from->id,
		.image = from->image,
		.kind = (uint32_t)from->kind,
		.element = from->element,
		.rank = from->rank,
		.parent = from->parent,
		.generic_definition = from->generic_definition,
		.instance_size_bytes = from->instance_size_bytes,
		.name_bytes = from->name_bytes,
		.name_hash = from->name_hash,
		.assembly = "",
	};
	type->name = hs_arena_text(&reader->memory, &names->arena, from->name);
	/* Most types share their name space with the one before. */
	if (names->n_types > 1 && type != names->types && type[-1].name_space != NULL &&
	    strcmp(type[-1].name_space, from->name_space) == 0)
		type->name_space = type[-1].name_space;
	else
		type->name_space = hs_arena_text(&reader->memory, &names->arena, from->name_space);
	if (type->name != NULL && type->name_space != NULL)
		return true;
	type->name = type->name_space = "";
	return false;
}

/* A record that only says "unloaded", or that came before the file was known, keeps what is there. */
static bool keep_text(struct heapshot_reader *reader, const char **text, const char *from)
{
	if (*text == NULL || *from != '\0')
		*text = hs_arena_text(&reader->memory, &reader->names.arena, from);
	return *text != NULL;
}

static bool take_image(struct heapshot_reader *reader, const Heapshot__Image *from)
{
	struct hs_names *names = &reader->names;
	struct heapshot_image *image =
		get_element(&reader->memory, &names->image_index, &names->images, &names->n_images,
			    &names->room_images, sizeof(*names->images), from->id);

	if (image == NULL)
		return false;
	image->id = from->id;
	image->is_unloaded = image->is_unloaded || from->is_unloaded;
	return keep_text(reader, &image->name, from->name) &&
	       keep_text(reader, &image->file, from->file) &&
	       keep_text(reader, &image->mvid, from->mvid);
}

static bool take_domain(struct heapshot_reader *reader, const Heapshot__Domain *from)
{
	struct hs_names *names = &reader->names;
	struct heapshot_domain *domain = get_element(
		&reader->memory, &names->domain_index, &names->domains, &names->n_domains,
		&names->room_domains, sizeof(*names->domains), from->id);

	if (domain == NULL)
		return false;
	domain->id = from->id;
	domain->is_unloaded = domain->is_unloaded || from->is_unloaded;
	if (domain->name == NULL || *from->name != '\0')
		domain->name = hs_arena_text(&reader->memory, &names->arena, from->name);
	return domain->name != NULL;
}

static bool take_thread(struct heapshot_reader *reader, const Heapshot__Thread *from)
{
	struct hs_names *names = &reader->names;
	struct heapshot_thread *thread = get_element(
		&reader->memory, &names->thread_index, &names->threads, &names->n_threads,
		&names->room_threads, sizeof(*names->threads), from->id);

	if (thread == NULL)
		return false;
	thread->id = from->id;
	thread->state = (uint32_t)from->state;
	if (thread->name == NULL || *from->name != '\0')
		thread->name = hs_arena_text(&reader->memory, &names->arena, from->name);
	return thread->name != NULL;
}

static enum heapshot_read_result take_record(struct heapshot_reader *reader,
					     const struct heapshot_record *record)
{
	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_TYPE:
		HS_TAKE(type, take_type(reader, unpacked));
	case HEAPSHOT__RECORD__BODY_IMAGE:
		HS_TAKE(image, take_image(reader, unpacked));
	case HEAPSHOT__RECORD__BODY_DOMAIN:
		HS_TAKE(domain, take_domain(reader, unpacked));
	case HEAPSHOT__RECORD__BODY_THREAD:
		HS_TAKE(thread, take_thread(reader, unpacked));
	default:
		return HEAPSHOT_READ_OK;
	}
}

static void join_assemblies(struct hs_names *names)
{
	size_t i;

	for (i = 0; i < names->n_types; i++) {
		uint32_t *image = hs_idmap_find(&names->image_index, names->types[i].image);
		const char *name = image != NULL ? names->images[*image].name : NULL;

		names->types[i].assembly = name != NULL ? name : "";
	}
}

enum heapshot_read_result heapshot_reader_load_names(struct heapshot_reader *reader)
{
	enum heapshot_read_result result;

	if (reader->names.is_loaded)
		return reader->names.result;
	result = hs_read_all(reader, HEAPSHOT_FRAME_METADATA, take_record);
	join_assemblies(&reader->names);
	if (result != HEAPSHOT_READ_OK && result != HEAPSHOT_READ_DAMAGED)
		return result;
	reader->names.is_loaded = true;
	reader->names.result = result;
	return result;
}

const struct heapshot_type *heapshot_reader_type(const struct heapshot_reader *reader, uint32_t id)
{
	const uint32_t *index = hs_idmap_find(&reader->names.type_index, id);

	return index == NULL ? NULL : &reader->names.types[*index];
}

const struct heapshot_image *heapshot_reader_image(const struct heapshot_reader *reader,
						   uint32_t id)
{
	const uint32_t *index = hs_idmap_find(&reader->names.image_index, id);

	return index == NULL ? NULL : &reader->names.images[*index];
}

const struct heapshot_domain *heapshot_reader_domain(const struct heapshot_reader *reader,
						     uint32_t id)
{
	const uint32_t *index = hs_idmap_find(&reader->names.domain_index, id);

	return index == NULL ? NULL : &reader->names.domains[*index];
}

const struct heapshot_thread *heapshot_reader_thread(const struct heapshot_reader *reader,
						     uint64_t id)
{
	const uint32_t *index = hs_idmap_find(&reader->names.thread_index, id);

	return index == NULL ? NULL : &reader->names.threads[*index];
}

const struct heapshot_type *heapshot_reader_types(const struct heapshot_reader *reader,
						  size_t *n_types)
{
	*n_types = reader->names.n_types;
	return reader->names.types;
}
