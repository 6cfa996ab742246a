/* SPDX-License-Identifier: MIT */
/*
 * Slots of an object: what its type says it has, and what was recorded.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/object.h"
#include "schema/heapshot.pb-c.h"

/* Structs in structs, and base classes, that are followed: files may lie. */
#define INNER_MAX 16
#define BASES_MAX 256
/* Fields of one object that are looked at; more are those of a file that lies. */
#define FIELDS_MAX 100000

struct slots {
	const struct recording *recording;
	struct object_slot *list;
	size_t n, room;
	size_t n_looked_at;
};

static struct object_slot *add(struct slots *slots)
{
	size_t room = slots->room != 0 ? slots->room * 2 : 16;
	struct object_slot *list;

	if (slots->n == slots->room) {
		list = reallocarray(slots->list, room, sizeof(*list));
		if (list == NULL)
			return NULL;
		slots->list = list;
		slots->room = room;
	}
	slots->list[slots->n] = (struct object_slot){.target = HEAPSHOT_GRAPH_NONE};
	return &slots->list[slots->n++];
}

/*
 * Adds the fields that TYPE itself declares; MOVED is what to add to their offsets.
 * WHOLE is the type of the object, which the slots are named after.
 */
static bool add_fields(struct slots *slots, uint32_t whole, uint32_t type, uint64_t moved,
		       unsigned depth)
{
	const struct heapshot_reader *reader = slots->recording->reader;
	const uint64_t header = 2 * (uint64_t)heapshot_reader_header(reader)->word_bytes;
	size_t n, i;
	const struct heapshot_type_field *fields = heapshot_reader_fields(reader, type, &n);

	for (i = 0; i < n && slots->n_looked_at++ < FIELDS_MAX; i++) {
		const struct heapshot_type_field *field = &fields[i];
		struct object_slot *slot;
		size_t n_inner = 0;

		if (field->is_static)
			break; /* they stand behind the others */
		if (field->is_inline && field->type != 0 && depth < INNER_MAX)
			heapshot_reader_fields(reader, field->type, &n_inner);
		if (n_inner > 0) {
			if (!add_fields(slots, whole, field->type, moved + field->offset - header,
					depth + 1))
				return false;
			continue;
		}
		slot = add(slots);
		if (slot == NULL)
			return false;
		slot->offset = moved + field->offset;
		slot->type = field->type;
		heapshot_reader_slot_name(reader, whole, slot->offset, slot->name);
	}
	return true;
}

static bool add_type(struct slots *slots, uint32_t type)
{
	const uint32_t whole = type;
	unsigned i;

	for (i = 0; type != 0 && i < BASES_MAX; i++) {
		const struct heapshot_type *named =
			heapshot_reader_type(slots->recording->reader, type);

		if (!add_fields(slots, whole, type, 0, 0))
			return false;
		type = named != NULL ? named->parent : 0;
	}
	return true;
}

static int by_offset(const void *left, const void *right)
{
	const struct object_slot *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	/* What refers to something stands first, and the other one goes. */
	return (a->target == HEAPSHOT_GRAPH_NONE) - (b->target == HEAPSHOT_GRAPH_NONE);
}

/* Of slots at one offset the one with the reference is left, with the field's type. */
static void join(struct slots *slots)
{
	size_t n = 0, i;

	if (slots->n > 0)
		qsort(slots->list, slots->n, sizeof(*slots->list), by_offset);
	for (i = 0; i < slots->n; i++) {
		if (n == 0 || slots->list[n - 1].offset != slots->list[i].offset)
			slots->list[n++] = slots->list[i];
		else if (slots->list[n - 1].type == 0)
			slots->list[n - 1].type = slots->list[i].type;
	}
	slots->n = n;
}

struct object_slot *object_slots(const struct recording *recording,
				 const struct heapshot_graph *graph, uint32_t object, size_t max,
				 size_t *n)
{
	struct slots slots = {.recording = recording};
	struct heapshot_graph_object facts;
	const struct heapshot_type *type;
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	bool is_array;

	heapshot_graph_object(graph, object, &facts);
	type = heapshot_reader_type(recording->reader, facts.type);
	is_array = type != NULL && type->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY;
	if (!is_array && !add_type(&slots, facts.type))
		goto no_memory;
	heapshot_graph_walk_begin(graph, object, &walk);
	while ((!is_array || slots.n < max) && heapshot_graph_walk_next(&walk, &edge)) {
		struct object_slot *slot = edge.is_ephemeron ? NULL : add(&slots);

		if (edge.is_ephemeron)
			continue;
		if (slot == NULL)
			goto no_memory;
		slot->offset = edge.offset;
		slot->target = edge.target;
		heapshot_reader_slot_name(recording->reader, facts.type, edge.offset, slot->name);
	}
	join(&slots);
	*n = slots.n;
	return slots.list != NULL ? slots.list : calloc(1, sizeof(*slots.list));

no_memory:
	free(slots.list);
	return NULL;
}
