/* SPDX-License-Identifier: MIT */
/*
 * Heaps told object by object.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/data/heap.h"

static void *room(void *array, size_t n, size_t *have, size_t size)
{
	if (n < *have)
		return array;
	*have = *have ? 2 * *have : 64;
	array = realloc(array, *have * size);
	if (array == NULL)
		abort();
	return array;
}

void heap_free(struct heap *heap)
{
	free(heap->objects);
	free(heap->references);
	free(heap->roots);
	free(heap->ephemerons);
	*heap = (struct heap){0};
}

uint32_t heap_add_behind(struct heap *heap, uint32_t type, uint64_t size, uint64_t gap)
{
	heap->objects =
		room(heap->objects, heap->n_objects, &heap->rooms[0], sizeof(*heap->objects));
	if (heap->next_address == 0)
		heap->next_address = HEAP_BASE;
	heap->next_address += gap;
	heap->objects[heap->n_objects] = (struct heap_object){heap->next_address, size, type};
	heap->next_address += (size + 7) / 8 * 8;
	return (uint32_t)heap->n_objects++;
}

uint32_t heap_add(struct heap *heap, uint32_t type, uint64_t size)
{
	return heap_add_behind(heap, type, size, 0);
}

void heap_refer(struct heap *heap, uint32_t from, uint32_t slot, uint32_t to)
{
	uint64_t first = heap->objects[from].type == TYPE_ARRAY ? 32 : 16;

	heap->references = room(heap->references, heap->n_references, &heap->rooms[1],
				sizeof(*heap->references));
	heap->references[heap->n_references++] =
		(struct heap_reference){from, to, first + 8 * (uint64_t)slot};
}

void heap_root(struct heap *heap, uint32_t kind, const char *name, uint32_t object)
{
	heap->roots = room(heap->roots, heap->n_roots, &heap->rooms[2], sizeof(*heap->roots));
	heap->roots[heap->n_roots++] = (struct heap_root){kind, object, name};
}

void heap_ephemeron(struct heap *heap, uint32_t table, uint32_t key, uint32_t value)
{
	heap->ephemerons = room(heap->ephemerons, heap->n_ephemerons, &heap->rooms[3],
				sizeof(*heap->ephemerons));
	heap->ephemerons[heap->n_ephemerons++] = (struct heap_ephemeron){table, key, value};
}

/* Fields of T.Node and T.Pub; Object[] is an array. */
static void put_types(struct synthetic_writer *writer)
{
	static const struct {
		uint32_t type, offset;
		const char *name;
	} fields[] = {
		{TYPE_NODE, 16, "_next"},
		{TYPE_NODE, 24, "_value"},
		{TYPE_PUB, 16, "_items"},
	};
	Heapshot__Type type = HEAPSHOT__TYPE__INIT;
	size_t i;

	type.id = TYPE_ARRAY;
	type.name = (char *)(uintptr_t) "System.Object[]";
	type.name_space = (char *)(uintptr_t) "System";
	type.image = 1;
	type.kind = HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY;
	type.rank = 1;
	PUT(METADATA, TYPE, &type);
	synthetic_put_type(writer, TYPE_LATE, "T.Late", 2);
	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		Heapshot__TypeLayout layout = HEAPSHOT__TYPE_LAYOUT__INIT;
		Heapshot__Field field = HEAPSHOT__FIELD__INIT, *list = &field;

		layout.type = fields[i].type;
		layout.n_field = 1;
		layout.field = &list;
		field.name = (char *)(uintptr_t)fields[i].name;
		field.offset = fields[i].offset;
		PUT(METADATA, TYPE_LAYOUT, &layout);
	}
}

static void put_object(struct synthetic_writer *writer, const struct heap *heap, uint32_t number,
		       const struct heap_reference *references, size_t n)
{
	const struct heap_object *object = &heap->objects[number];
	uintptr_t offsets[HS_ROW_REFS_MAX];
	void *refs[HS_ROW_REFS_MAX];
	bool varies = object->type == TYPE_ARRAY || object->type == TYPE_STRING;
	struct hs_row row = {
		.address = object->address,
		.size = object->size,
		.slot_size = (object->size + 7) / 8 * 8,
		.type = object->type,
		.domain = object->type == TYPE_COPY ? 2 : 1,
		.size_varies = varies,
		.is_array = object->type == TYPE_ARRAY,
		.offsets = offsets,
		.refs = refs,
	};
	size_t done = 0;

	do {
		for (row.n_refs = 0; row.n_refs < HS_ROW_REFS_MAX && done < n;
		     row.n_refs++, done++) {
			uint32_t to = references[done].to;

			offsets[row.n_refs] = (uintptr_t)references[done].offset;
			refs[row.n_refs] =
				(void *)(uintptr_t)(to == HEAP_NOWHERE
							    ? HEAP_BASE + ((uint64_t)1 << 40)
						    : to == HEAP_BESIDE
							    ? HEAP_BASE - 64
							    : heap->objects[to].address);
		}
		synthetic_put_row(writer, &row);
		row.is_continuation = true;
		row.size = row.slot_size = 0;
		row.size_varies = false;
	} while (done < n);
}

static uint64_t shuffled(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A source for each root: readers join those that are alike. */
static void put_roots(struct synthetic_writer *writer, const struct heap *heap)
{
	size_t i;

	for (i = 0; i < heap->n_roots; i++) {
		const struct heap_root *root = &heap->roots[i];
		uint32_t source = synthetic_put_source(writer, root->kind, "", root->name);

		synthetic_put_root(writer, source, root->kind,
				   root->object == HEAP_NOWHERE
					   ? HEAP_BASE + ((uint64_t)1 << 41)
					   : heap->objects[root->object].address);
	}
	synthetic_flush_roots(writer);
}

void heap_record(const struct heap *heap, uint64_t seed, struct synthetic_bytes *bytes)
{
	size_t n = heap->n_objects, *first = calloc(n + 1, sizeof(*first)), i;
	struct heap_reference *sorted = calloc(heap->n_references + 1, sizeof(*sorted));
	uint32_t *order = calloc(n + 1, sizeof(*order));
	struct hs_decoded_ephemeron *edges = calloc(heap->n_ephemerons + 1, sizeof(*edges));
	struct synthetic_writer writer;

	if (first == NULL || sorted == NULL || order == NULL || edges == NULL)
		abort();
	for (i = 0; i < heap->n_references; i++)
		first[heap->references[i].from + 1]++;
	for (i = 0; i < n; i++)
		first[i + 1] += first[i];
	for (i = 0; i < heap->n_references; i++)
		sorted[first[heap->references[i].from]++] = heap->references[i];
	for (i = n; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
	for (i = 0; i < n; i++) {
		size_t at = seed != 0 ? shuffled(&seed) % (i + 1) : i;

		order[i] = order[at];
		order[at] = (uint32_t)i;
	}
	memset(bytes, 0, sizeof(*bytes));
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	put_types(&writer);
	synthetic_begin_snapshot(&writer, "heap", "gc");
	for (i = 0; i < n; i++)
		put_object(&writer, heap, order[i], sorted + first[order[i]],
			   first[order[i] + 1] - first[order[i]]);
	synthetic_flush_batch(&writer);
	put_roots(&writer, heap);
	for (i = 0; i < heap->n_ephemerons; i++)
		edges[i] = (struct hs_decoded_ephemeron){
			heap->objects[heap->ephemerons[i].table].address,
			heap->objects[heap->ephemerons[i].key].address,
			heap->objects[heap->ephemerons[i].value].address,
		};
	if (heap->n_ephemerons > 0)
		synthetic_put_ephemerons(&writer, edges, heap->n_ephemerons);
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
	free(first);
	free(sorted);
	free(order);
	free(edges);
}
