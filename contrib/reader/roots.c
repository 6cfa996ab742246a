/* SPDX-License-Identifier: MIT */
/*
 * Roots of a snapshot: the sources of all batches joined, then the types of
 * the objects they hold by a second pass.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/reader.h"
#include "contrib/reader/sort.h"
#include "schema/root_kind.h"

const char *heapshot_root_kind_name(uint32_t kind)
{
	return hs_root_kind_name(kind);
}

/* A bit for each object that is asked for, by a hash of its address: most rows
 * of the second pass need no search. */
#define FILTER_BITS_LOG 21
#define FILTER_BYTES    ((1u << FILTER_BITS_LOG) / 8)

static inline size_t filter_bit(uint64_t address)
{
	return (size_t)((address * 0x9E3779B97F4A7C15ull) >> (64 - FILTER_BITS_LOG));
}

void hs_root_table_free(struct hs_memory *memory, struct hs_root_table *table)
{
	hs_memory_release(memory, table->roots, table->room_roots * sizeof(*table->roots));
	hs_memory_release(memory, table->sources, table->room_sources * sizeof(*table->sources));
	hs_memory_release(memory, table->encoded, table->room_encoded * sizeof(*table->encoded));
	hs_memory_release(memory, table->local, table->room_local * sizeof(*table->local));
	hs_idmap_free(memory, &table->source_index);
	hs_memory_release(memory, table->filter, FILTER_BYTES);
	hs_arena_free(memory, &table->arena);
	*table = (struct hs_root_table){0};
}

void hs_roots_free(struct heapshot_reader *reader)
{
	hs_root_table_free(&reader->memory, &reader->roots);
}

static uint64_t hash_bytes(const struct hs_slice *slice)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	const uint8_t *p;

	for (p = slice->data; p < slice->end; p++)
		hash = (hash ^ *p) * 0x100000001b3ull;
	return hash;
}

static bool is_same(const struct hs_slice *a, const struct hs_slice *b)
{
	size_t size = (size_t)(a->end - a->data);

	return size == (size_t)(b->end - b->data) && memcmp(a->data, b->data, size) == 0;
}

/* Adds what SLICE encodes as the last source. */
static enum heapshot_read_result append_source(struct heapshot_reader *reader,
					       const struct hs_slice *slice)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_root_table *table = &reader->roots;
	size_t size = (size_t)(slice->end - slice->data);
	Heapshot__RootSource *from = heapshot__root_source__unpack(NULL, size, slice->data);
	struct heapshot_root_source *source;
	char *copy;

	if (from == NULL)
		return hs_bad_record(reader, "RootSource");
	copy = hs_arena_copy(memory, &table->arena, slice->data, size);
	if (copy == NULL ||
	    !hs_memory_reserve(memory, &table->sources, table->n_sources, &table->room_sources,
			       sizeof(*table->sources)) ||
	    !hs_memory_reserve(memory, &table->encoded, table->n_sources, &table->room_encoded,
			       sizeof(*table->encoded))) {
		heapshot__root_source__free_unpacked(from, NULL);
		return hs_fail_memory(reader);
	}
	table->encoded[table->n_sources] =
		(struct hs_slice){(uint8_t *)copy, (uint8_t *)copy + size};
	source = &table->sources[table->n_sources];
	*source = (struct heapshot_root_source){
		.kind = (uint32_t)from->kind,
		.kind_text = hs_arena_text(memory, &table->arena, from->kind_text),
		.name = hs_arena_text(memory, &table->arena, from->name),
		.handle_type = hs_arena_text(memory, &table->arena, from->handle_type),
		.type = from->type,
		.domain = from->domain,
		.thread = from->thread,
	};
	heapshot__root_source__free_unpacked(from, NULL);
	if (source->kind_text == NULL || source->name == NULL || source->handle_type == NULL)
		return hs_fail_memory(reader);
	table->n_sources++;
	return HEAPSHOT_READ_OK;
}

/* Finds or adds a source; *index is its place. */
static enum heapshot_read_result get_source(struct heapshot_reader *reader,
					    const struct hs_slice *slice, uint32_t *index)
{
	struct hs_root_table *table = &reader->roots;
	uint64_t hash = hash_bytes(slice);
	enum heapshot_read_result result;
	uint32_t *found;

	while ((found = hs_idmap_find(&table->source_index, hash)) != NULL) {
		*index = *found;
		if (is_same(slice, &table->encoded[*found]))
			return HEAPSHOT_READ_OK;
		hash++;
	}
	*index = (uint32_t)table->n_sources;
	result = append_source(reader, slice);
	if (result != HEAPSHOT_READ_OK)
		return result;
	return hs_idmap_put(&reader->memory, &table->source_index, hash, *index)
		       ? HEAPSHOT_READ_OK
		       : hs_fail_memory(reader);
}

static enum heapshot_read_result get_batch_sources(struct heapshot_reader *reader,
						   const struct hs_root_decoder *decoder)
{
	struct hs_root_table *table = &reader->roots;
	struct hs_slice cursor = {NULL, NULL}, slice;
	enum heapshot_read_result result;
	size_t n = 0;

	while (hs_root_next_source(decoder, &cursor, &slice) > 0) {
		if (!hs_memory_reserve(&reader->memory, &table->local, n, &table->room_local,
				       sizeof(*table->local)))
			return hs_fail_memory(reader);
		result = get_source(reader, &slice, &table->local[n]);
		if (result != HEAPSHOT_READ_OK)
			return result;
		n++;
	}
	return n == decoder->n_sources ? HEAPSHOT_READ_OK
				       : hs_bad_record(reader, "sources of a root batch");
}

enum heapshot_read_result hs_roots_add(struct heapshot_reader *reader,
				       const struct heapshot_record *record)
{
	struct hs_root_table *table = &reader->roots;
	struct hs_root_decoder decoder;
	struct hs_decoded_root root;
	enum heapshot_read_result result;
	const char *error = NULL;
	int n;

	if (hs_root_decode(&decoder, record->body, record->body_bytes, reader->header.word_bytes,
			   &error) != 0)
		return hs_bad_record(reader, error);
	result = get_batch_sources(reader, &decoder);
	if (result != HEAPSHOT_READ_OK)
		return result;
	while ((n = hs_root_next(&decoder, &root, &error)) > 0) {
		if (!hs_memory_reserve(&reader->memory, &table->roots, table->n_roots,
				       &table->room_roots, sizeof(*table->roots)))
			return hs_fail_memory(reader);
		table->roots[table->n_roots++] = (struct heapshot_root){
			.address = root.address,
			.object = root.object,
			.source = table->local[root.source - 1],
		};
	}
	return n == 0 ? HEAPSHOT_READ_OK : hs_bad_record(reader, error);
}

static inline bool is_before(const struct heapshot_root *a, const struct heapshot_root *b)
{
	return a->object != b->object ? a->object < b->object : a->address < b->address;
}

HS_DEFINE_SORT(sort_roots, struct heapshot_root, is_before)

void hs_roots_sort(struct hs_root_table *table)
{
	sort_roots(table->roots, table->n_roots);
}

static bool prepare_search(struct heapshot_reader *reader)
{
	struct hs_root_table *table = &reader->roots;
	size_t i;

	table->filter = hs_memory_grow(&reader->memory, NULL, 0, FILTER_BYTES);
	if (table->filter == NULL)
		return false;
	hs_roots_sort(table);
	for (i = 0; i < table->n_roots; i++) {
		size_t bit = filter_bit(table->roots[i].object);

		table->filter[bit / 8] |= (uint8_t)(1u << bit % 8);
	}
	return true;
}

/* Gives TYPE to the roots that hold the object at ADDRESS. */
static void set_type(struct hs_root_table *table, uint64_t address, uint32_t type)
{
	size_t low = 0, high = table->n_roots;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->roots[middle].object < address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < table->n_roots && table->roots[low].object == address; low++)
		table->roots[low].type = type;
}

/* Gives the types of a batch's objects to the roots that hold them. */
static enum heapshot_read_result resolve_batch(struct heapshot_reader *reader,
					       const struct heapshot_record *record)
{
	enum heapshot_read_result result =
		heapshot_reader_begin_objects(reader, record, false, NULL);
	const uint8_t *filter = reader->roots.filter;
	struct hs_decoded_row row;
	const char *error = NULL;
	int n;

	if (result != HEAPSHOT_READ_OK)
		return result;
	while ((n = hs_batch_next(reader->batch, &row, &error)) > 0) {
		size_t bit = filter_bit(row.address);

		if ((filter[bit / 8] >> bit % 8 & 1) && !row.is_continuation)
			set_type(&reader->roots, row.address, row.type);
	}
	return n == 0 ? HEAPSHOT_READ_OK : hs_bad_record(reader, error);
}

static enum heapshot_read_result take_roots(void *reader, const struct heapshot_record *record)
{
	return record->field == HEAPSHOT__RECORD__BODY_ROOT_BATCH ? hs_roots_add(reader, record)
								  : HEAPSHOT_READ_OK;
}

static enum heapshot_read_result take_objects(void *reader, const struct heapshot_record *record)
{
	return record->field == HEAPSHOT__RECORD__BODY_OBJECT_BATCH ? resolve_batch(reader, record)
								    : HEAPSHOT_READ_OK;
}

enum heapshot_read_result heapshot_reader_roots(struct heapshot_reader *reader,
						const struct heapshot_snapshot *snapshot,
						struct heapshot_roots *roots)
{
	struct hs_root_table *table = &reader->roots;
	enum heapshot_read_result result;
	bool is_damaged = false;

	*roots = (struct heapshot_roots){0};
	hs_roots_free(reader);
	result = hs_read_body(reader, snapshot, take_roots, reader, &is_damaged);
	if (result == HEAPSHOT_READ_OK && !prepare_search(reader))
		result = hs_fail_memory(reader);
	if (result == HEAPSHOT_READ_OK && table->n_roots > 0)
		result = hs_read_body(reader, snapshot, take_objects, reader, &is_damaged);
	if (result != HEAPSHOT_READ_OK)
		return result;
	*roots = (struct heapshot_roots){
		.roots = table->roots,
		.n_roots = table->n_roots,
		.sources = table->sources,
		.n_sources = table->n_sources,
	};
	if (is_damaged)
		return HEAPSHOT_READ_DAMAGED;
	if (!snapshot->has_end || snapshot->status != 0 || snapshot->frames_lost != 0)
		return hs_fail(reader, HEAPSHOT_READ_INCOMPLETE, "snapshot %llu has no good end",
			       (unsigned long long)snapshot->id);
	if (table->n_roots != snapshot->roots)
		return hs_fail(reader, HEAPSHOT_READ_INCOMPLETE,
			       "snapshot %llu has %zu roots, its end says %llu",
			       (unsigned long long)snapshot->id, table->n_roots,
			       (unsigned long long)snapshot->roots);
	return HEAPSHOT_READ_OK;
}
