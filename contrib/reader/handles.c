/* SPDX-License-Identifier: MIT */
/*
 * Handle tables of a snapshot: the parts of each joined, then the types of the
 * managed objects by a second pass.
 */
#include <string.h>

#include "contrib/reader/reader.h"
#include "contrib/reader/sort.h"
#include "schema/handle_table.h"

/* A bit for each object that is asked for, by a hash of its address: most rows
 * of the second pass need no search. */
#define FILTER_BITS_LOG 21
#define FILTER_BYTES    ((1u << FILTER_BITS_LOG) / 8)

static inline size_t filter_bit(uint64_t address)
{
	return (size_t)((address * 0x9E3779B97F4A7C15ull) >> (64 - FILTER_BITS_LOG));
}

/* Rows by object, for the search. */
struct hs_wanted_handle {
	uint64_t object;
	struct heapshot_handle *handle;
};

void hs_handles_free(struct heapshot_reader *reader)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_handles *handles = &reader->handles;

	for (size_t i = 0; i < handles->n_tables; i++)
		hs_memory_release(memory, handles->rows[i],
				  handles->room_rows[i] * sizeof(**handles->rows));
	hs_memory_release(memory, handles->tables, handles->room_tables * sizeof(*handles->tables));
	hs_memory_release(memory, handles->rows, handles->room_row_lists * sizeof(*handles->rows));
	hs_memory_release(memory, handles->room_rows,
			  handles->room_rooms * sizeof(*handles->room_rows));
	hs_memory_release(memory, handles->local, handles->room_local * sizeof(*handles->local));
	hs_memory_release(memory, handles->wanted, handles->room_wanted * sizeof(*handles->wanted));
	hs_memory_release(memory, handles->filter, FILTER_BYTES);
	hs_arena_free(memory, &handles->arena);
	*handles = (struct hs_handles){0};
}

static const char *text_of(struct heapshot_reader *reader, struct hs_slice slice)
{
	if (slice.data == slice.end)
		return "";
	return hs_arena_copy(&reader->memory, &reader->handles.arena, slice.data,
			     (size_t)(slice.end - slice.data));
}

static bool is_name(const char *name, struct hs_slice slice)
{
	const size_t bytes = (size_t)(slice.end - slice.data);

	return strlen(name) == bytes && (bytes == 0 || memcmp(name, slice.data, bytes) == 0);
}

/* The place of the table by that name, which is added if it is new; SIZE_MAX without memory.  A name
 * ends at a NUL: else two tables would have the same. */
static size_t get_table(struct heapshot_reader *reader, struct hs_slice name)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_handles *handles = &reader->handles;
	const size_t n = handles->n_tables;
	const uint8_t *nul =
		name.data != name.end ? memchr(name.data, 0, (size_t)(name.end - name.data)) : NULL;
	const char *copy;

	if (nul != NULL)
		name.end = nul;
	for (size_t i = 0; i < n; i++)
		if (is_name(handles->tables[i].name, name))
			return i;
	copy = text_of(reader, name);
	if (copy == NULL ||
	    !hs_memory_reserve(memory, &handles->tables, n, &handles->room_tables,
			       sizeof(*handles->tables)) ||
	    !hs_memory_reserve(memory, &handles->rows, n, &handles->room_row_lists,
			       sizeof(*handles->rows)) ||
	    !hs_memory_reserve(memory, &handles->room_rows, n, &handles->room_rooms,
			       sizeof(*handles->room_rows)))
		return SIZE_MAX;
	handles->tables[n] = (struct heapshot_handle_table){.name = copy, .note = ""};
	handles->rows[n] = NULL;
	handles->room_rows[n] = 0;
	handles->n_tables++;
	return n;
}

/* Copies of the record's texts, from place 1 on. */
static bool take_texts(struct heapshot_reader *reader, const struct hs_handle_decoder *decoder)
{
	struct hs_handles *handles = &reader->handles;
	struct hs_slice cursor = {NULL, NULL}, slice = {NULL, NULL};
	size_t n = 0;

	do {
		if (!hs_memory_reserve(&reader->memory, &handles->local, n, &handles->room_local,
				       sizeof(*handles->local)))
			return false;
		handles->local[n] = n == 0 ? "" : text_of(reader, slice);
		if (handles->local[n] == NULL)
			return false;
		n++;
	} while (hs_handle_next_text(decoder, &cursor, &slice) > 0);
	return true;
}

static enum heapshot_read_result add_record(struct heapshot_reader *reader,
					    const struct heapshot_record *record)
{
	struct hs_handles *handles = &reader->handles;
	struct heapshot_handle_table *table;
	struct hs_handle_decoder decoder;
	struct hs_handle_row row;
	const char *error = NULL;
	size_t at;
	int n;

	if (hs_handle_decode(&decoder, record->body, record->body_bytes, reader->header.word_bytes,
			     &error) != 0)
		return hs_bad_record(reader, error);
	at = get_table(reader, decoder.name);
	if (at == SIZE_MAX || !take_texts(reader, &decoder))
		return hs_fail_memory(reader);
	handles->n_records++;
	table = &handles->tables[at];
	table->escaped += decoder.escaped;
	table->released += decoder.released;
	table->collected += decoder.collected;
	if (*table->note == '\0')
		table->note = text_of(reader, decoder.note);
	if (table->note == NULL)
		return hs_fail_memory(reader);
	while ((n = hs_handle_next(&decoder, &row, &error)) > 0) {
		if (!hs_memory_reserve(&reader->memory, &handles->rows[at], table->n_handles,
				       &handles->room_rows[at], sizeof(**handles->rows)))
			return hs_fail_memory(reader);
		handles->rows[at][table->n_handles++] = (struct heapshot_handle){
			.handle = row.handle,
			.object = row.object,
			.js_type = handles->local[row.js_type],
			.js_name = handles->local[row.js_name],
		};
		handles->n_rows++;
	}
	return n == 0 ? HEAPSHOT_READ_OK : hs_bad_record(reader, error);
}

static inline bool is_before(const struct hs_wanted_handle *a, const struct hs_wanted_handle *b)
{
	return a->object < b->object;
}

HS_DEFINE_SORT(sort_wanted, struct hs_wanted_handle, is_before)

static bool prepare_search(struct heapshot_reader *reader)
{
	struct hs_handles *handles = &reader->handles;
	size_t n = 0;

	handles->filter = hs_memory_grow(&reader->memory, NULL, 0, FILTER_BYTES);
	handles->wanted =
		hs_memory_array(&reader->memory, handles->n_rows + 1, sizeof(*handles->wanted));
	if (handles->wanted != NULL)
		handles->room_wanted = (size_t)handles->n_rows + 1;
	if (handles->filter == NULL || handles->wanted == NULL)
		return false;
	for (size_t i = 0; i < handles->n_tables; i++)
		for (size_t k = 0; k < handles->tables[i].n_handles; k++) {
			struct heapshot_handle *handle = &handles->rows[i][k];
			const size_t bit = filter_bit(handle->object);

			if (handle->object == 0)
				continue;
			handles->filter[bit / 8] |= (uint8_t)(1u << bit % 8);
			handles->wanted[n++] = (struct hs_wanted_handle){handle->object, handle};
		}
	sort_wanted(handles->wanted, n);
	handles->n_wanted = n;
	return true;
}

static void set_type(const struct hs_handles *handles, uint64_t address, uint32_t type)
{
	size_t low = 0, high = handles->n_wanted;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (handles->wanted[middle].object < address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < handles->n_wanted && handles->wanted[low].object == address; low++)
		handles->wanted[low].handle->type = type;
}

static enum heapshot_read_result take_tables(void *reader, const struct heapshot_record *record)
{
	return record->field == HEAPSHOT__RECORD__BODY_HANDLE_TABLE ? add_record(reader, record)
								    : HEAPSHOT_READ_OK;
}

static enum heapshot_read_result take_objects(void *user_data, const struct heapshot_record *record)
{
	struct heapshot_reader *reader = user_data;
	const uint8_t *filter = reader->handles.filter;
	enum heapshot_read_result result;
	struct hs_decoded_row row;
	const char *error = NULL;
	int n;

	if (record->field != HEAPSHOT__RECORD__BODY_OBJECT_BATCH)
		return HEAPSHOT_READ_OK;
	result = heapshot_reader_begin_objects(reader, record, false, NULL);
	if (result != HEAPSHOT_READ_OK)
		return result;
	while ((n = hs_batch_next(reader->batch, &row, &error)) > 0) {
		const size_t bit = filter_bit(row.address);

		if ((filter[bit / 8] >> bit % 8 & 1) && !row.is_continuation)
			set_type(&reader->handles, row.address, row.type);
	}
	return n == 0 ? HEAPSHOT_READ_OK : hs_bad_record(reader, error);
}

enum heapshot_read_result heapshot_reader_handles(struct heapshot_reader *reader,
						  const struct heapshot_snapshot *snapshot,
						  struct heapshot_handles *out)
{
	struct hs_handles *handles = &reader->handles;
	enum heapshot_read_result result = HEAPSHOT_READ_OK;
	bool is_damaged = false;

	*out = (struct heapshot_handles){0};
	hs_handles_free(reader);
	result = hs_read_body(reader, snapshot, take_tables, reader, &is_damaged);
	for (size_t i = 0; i < handles->n_tables; i++)
		handles->tables[i].handles = handles->rows[i];
	if (result == HEAPSHOT_READ_OK && handles->n_rows > 0) {
		result = prepare_search(reader)
				 ? hs_read_body(reader, snapshot, take_objects, reader, &is_damaged)
				 : hs_fail_memory(reader);
	}
	if (result != HEAPSHOT_READ_OK)
		return result;
	*out = (struct heapshot_handles){
		.tables = handles->tables,
		.n_tables = handles->n_tables,
		.n_handles = handles->n_rows,
	};
	if (is_damaged)
		return HEAPSHOT_READ_DAMAGED;
	if (!snapshot->has_end || snapshot->status != 0 || snapshot->frames_lost != 0)
		return hs_fail(reader, HEAPSHOT_READ_INCOMPLETE, "snapshot %llu has no good end",
			       (unsigned long long)snapshot->id);
	if (handles->n_rows != snapshot->handles || handles->n_records != snapshot->handle_tables)
		return hs_fail(reader, HEAPSHOT_READ_INCOMPLETE,
			       "snapshot %llu has %llu handles, its end says %llu",
			       (unsigned long long)snapshot->id,
			       (unsigned long long)handles->n_rows,
			       (unsigned long long)snapshot->handles);
	return HEAPSHOT_READ_OK;
}
