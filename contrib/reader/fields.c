/* SPDX-License-Identifier: MIT */
/*
 * Fields of types, sorted by type and place, and names of slots made of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/heapshot-reader-fields.h"
#include "contrib/reader/reader.h"
#include "contrib/reader/take.h"

/* Base classes, and structs inside structs, that are followed: files may have rings of them. */
#define PARENTS_MAX 256
#define INNER_MAX   32

void hs_fields_free(struct heapshot_reader *reader)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_fields *fields = &reader->fields;

	hs_memory_release(memory, fields->list, fields->room * sizeof(*fields->list));
	hs_memory_release(memory, fields->layouts, fields->room_layouts * sizeof(*fields->layouts));
	hs_idmap_free(memory, &fields->layout_index);
	hs_arena_free(memory, &fields->arena);
	*fields = (struct hs_fields){0};
}

static bool add_field(struct heapshot_reader *reader, uint32_t owner, const Heapshot__Field *from)
{
	struct hs_fields *fields = &reader->fields;
	const char *name = hs_arena_text(&reader->memory, &fields->arena, from->name);

	if (name == NULL || !hs_memory_reserve(&reader->memory, &fields->list, fields->n,
					       &fields->room, sizeof(*fields->list)))
		return false;
	fields->list[fields->n++] = (struct heapshot_type_field){
		.owner = owner,
		.type = from->type,
		.offset = from->offset,
		.name = name,
		.is_static = from->is_static,
		.is_thread_static = from->is_thread_static,
		.is_inline = from->is_inline,
	};
	return true;
}

/* The layout of TYPE, added when it is new; NULL without memory. */
static struct hs_layout *get_layout(struct heapshot_reader *reader, uint32_t type)
{
	struct hs_fields *fields = &reader->fields;
	const uint32_t *found = hs_idmap_find(&fields->layout_index, type);

	if (found != NULL)
		return &fields->layouts[*found];
	if (fields->n_layouts >= UINT32_MAX ||
	    !hs_memory_reserve(&reader->memory, &fields->layouts, fields->n_layouts,
			       &fields->room_layouts, sizeof(*fields->layouts)) ||
	    !hs_idmap_put(&reader->memory, &fields->layout_index, type,
			  (uint32_t)fields->n_layouts))
		return NULL;
	fields->layouts[fields->n_layouts] = (struct hs_layout){0};
	return &fields->layouts[fields->n_layouts++];
}

static bool take_layout(struct heapshot_reader *reader, const Heapshot__TypeLayout *from)
{
	struct hs_layout *layout = get_layout(reader, from->type);
	size_t i;

	if (layout == NULL)
		return false;
	if (from->instance_size_bytes != 0)
		layout->instance_bytes = from->instance_size_bytes;
	for (i = 0; i < from->n_field; i++)
		if (!add_field(reader, from->type, from->field[i]))
			return false;
	return true;
}

static enum heapshot_read_result take_record(struct heapshot_reader *reader,
					     const struct heapshot_record *record)
{
	if (record->field != HEAPSHOT__RECORD__BODY_TYPE_LAYOUT)
		return HEAPSHOT_READ_OK;
	HS_TAKE(type_layout, take_layout(reader, unpacked));
}

static int by_place(const void *left, const void *right)
{
	const struct heapshot_type_field *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->is_static != b->is_static)
		return a->is_static ? 1 : -1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	/* Fields that share a place: structs first, so that what a slot is found by comes last. */
	if (a->is_inline != b->is_inline)
		return a->is_inline ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Sorts, drops what was told twice, and notes where each type's fields begin. */
static void arrange(struct hs_fields *fields)
{
	size_t n = 0, i;

	if (fields->n > 0)
		qsort(fields->list, fields->n, sizeof(*fields->list), by_place);
	for (i = 0; i < fields->n; i++)
		if (n == 0 || by_place(&fields->list[n - 1], &fields->list[i]) != 0)
			fields->list[n++] = fields->list[i];
	fields->n = n;
	for (i = 0; i < n; i++) {
		const uint32_t *found = hs_idmap_find(&fields->layout_index, fields->list[i].owner);
		struct hs_layout *layout = &fields->layouts[*found];

		if (layout->n_fields++ == 0)
			layout->first = i;
		layout->n_instance += !fields->list[i].is_static;
	}
}

enum heapshot_read_result heapshot_reader_load_fields(struct heapshot_reader *reader)
{
	enum heapshot_read_result result = heapshot_reader_load_names(reader);

	if (result != HEAPSHOT_READ_OK && result != HEAPSHOT_READ_DAMAGED)
		return result;
	if (reader->fields.is_loaded)
		return reader->fields.result;
	result = hs_read_all(reader, HEAPSHOT_FRAME_METADATA, take_record);
	if (result != HEAPSHOT_READ_OK && result != HEAPSHOT_READ_DAMAGED) {
		hs_fields_free(reader);
		return result;
	}
	arrange(&reader->fields);
	reader->fields.is_loaded = true;
	reader->fields.result = result;
	return result;
}

static const struct hs_layout *find_layout(const struct heapshot_reader *reader, uint32_t type)
{
	const uint32_t *found = hs_idmap_find(&reader->fields.layout_index, type);

	return found == NULL ? NULL : &reader->fields.layouts[*found];
}

const struct heapshot_type_field *heapshot_reader_fields(const struct heapshot_reader *reader,
							 uint32_t type, size_t *n_fields)
{
	const struct hs_layout *layout = find_layout(reader, type);

	*n_fields = layout != NULL ? layout->n_fields : 0;
	return *n_fields > 0 ? &reader->fields.list[layout->first] : NULL;
}

uint64_t heapshot_reader_instance_bytes(const struct heapshot_reader *reader, uint32_t type)
{
	const struct hs_layout *layout = find_layout(reader, type);
	const struct heapshot_type *named;

	if (layout != NULL && layout->instance_bytes != 0)
		return layout->instance_bytes;
	named = heapshot_reader_type(reader, type);
	return named != NULL ? named->instance_size_bytes : 0;
}

/* ---- Slots ---- */

/* The last instance field of TYPE itself that begins at OFFSET or before it; NULL. */
static const struct heapshot_type_field *field_before(const struct heapshot_reader *reader,
						      uint32_t type, uint64_t offset)
{
	const struct hs_layout *layout = find_layout(reader, type);
	const struct heapshot_type_field *fields;
	size_t low = 0, high;

	if (layout == NULL || layout->n_instance == 0)
		return NULL;
	fields = &reader->fields.list[layout->first];
	high = layout->n_instance;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fields[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &fields[low - 1] : NULL;
}

/* The same among the base classes too. */
static const struct heapshot_type_field *find_field(const struct heapshot_reader *reader,
						    uint32_t type, uint64_t offset)
{
	const struct heapshot_type_field *best = NULL;
	unsigned depth;

	for (depth = 0; type != 0 && depth < PARENTS_MAX; depth++) {
		const struct heapshot_type_field *field = field_before(reader, type, offset);
		const struct heapshot_type *named = heapshot_reader_type(reader, type);

		if (field != NULL && (best == NULL || field->offset > best->offset))
			best = field;
		type = named != NULL ? named->parent : 0;
	}
	return best;
}

static bool is_value_type(const struct heapshot_type *type)
{
	return type != NULL && (type->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_STRUCT ||
				type->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_ENUM);
}

bool heapshot_reader_element(const struct heapshot_reader *reader, uint32_t type, uint64_t offset,
			     uint64_t *index, uint64_t *inner_offset)
{
	const struct heapshot_type *named = heapshot_reader_type(reader, type);
	uint64_t word = reader->header.word_bytes, bytes = word;

	if (named == NULL || named->kind != HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY ||
	    offset < 4 * word)
		return false;
	if (is_value_type(heapshot_reader_type(reader, named->element))) {
		bytes = heapshot_reader_instance_bytes(reader, named->element);
		if (bytes <= 2 * word)
			return false;
		bytes -= 2 * word;
	}
	*index = (offset - 4 * word) / bytes;
	*inner_offset = (offset - 4 * word) % bytes;
	return true;
}

/* Appends the name of the slot at OFFSET of an object, or boxed struct, of TYPE. */
static bool append_fields(const struct heapshot_reader *reader, uint32_t type, uint64_t offset,
			  char *name, size_t length)
{
	unsigned depth;

	for (depth = 0; depth < INNER_MAX; depth++) {
		const struct heapshot_type_field *field = find_field(reader, type, offset);
		int n;

		if (field == NULL || (field->offset != offset && !field->is_inline))
			return false;
		n = snprintf(name + length, HEAPSHOT_SLOT_NAME_BYTES - length, "%s%s",
			     length > 0 ? "." : "", field->name);
		if (n < 0 || (size_t)n >= HEAPSHOT_SLOT_NAME_BYTES - length)
			return true; /* cut */
		length += (size_t)n;
		if (!field->is_inline)
			return true;
		offset = offset - field->offset + 2 * reader->header.word_bytes;
		type = field->type;
	}
	return false;
}

/* Text that was cut inside of a character of UTF-8 loses the piece. */
static void mend_end(char *name)
{
	size_t n = strlen(name), k = n;

	if (n + 1 < HEAPSHOT_SLOT_NAME_BYTES)
		return;
	while (k > 0 && n - k < 4 && (name[k - 1] & 0xC0) == 0x80)
		k--;
	if (k > 0 && (name[k - 1] & 0xC0) == 0xC0)
		name[k - 1] = '\0';
}

bool heapshot_reader_slot_name(const struct heapshot_reader *reader, uint32_t type, uint64_t offset,
			       char name[HEAPSHOT_SLOT_NAME_BYTES])
{
	const struct heapshot_type *named = heapshot_reader_type(reader, type);
	uint64_t index, inner;
	bool is_known = true;
	int length = 0;

	if (heapshot_reader_element(reader, type, offset, &index, &inner)) {
		length = snprintf(name, HEAPSHOT_SLOT_NAME_BYTES, "[%" PRIu64 "]", index);
		if (is_value_type(heapshot_reader_type(reader, named->element)))
			is_known = append_fields(reader, named->element,
						 inner + 2 * reader->header.word_bytes, name,
						 (size_t)length);
		else
			is_known = inner == 0;
	} else {
		is_known = append_fields(reader, type, offset, name, 0);
	}
	if (!is_known)
		snprintf(name, HEAPSHOT_SLOT_NAME_BYTES, "+%" PRIu64, offset);
	mend_end(name);
	return is_known;
}
