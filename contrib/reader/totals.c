/* SPDX-License-Identifier: MIT */
/*
 * Objects of a snapshot counted by type, in one pass and O(types) memory.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/reader.h"

void hs_totals_free(struct heapshot_reader *reader)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_type_totals *totals = &reader->totals;

	hs_memory_release(memory, totals->direct, totals->n_direct * sizeof(*totals->direct));
	hs_memory_release(memory, totals->others, totals->room_others * sizeof(*totals->others));
	hs_idmap_free(memory, &totals->index);
	hs_memory_release(memory, totals->result, totals->n_result * sizeof(*totals->result));
	hs_memory_release(memory, totals->shapes, HS_BATCH_SHAPES_MAX * sizeof(*totals->shapes));
	*totals = (struct hs_type_totals){0};
}

/* The entry of a type whose number is not in the direct array yet. */
static struct heapshot_type_total *get_slowly(struct heapshot_reader *reader, uint32_t type)
{
	struct hs_type_totals *totals = &reader->totals;
	uint32_t *index;

	if (type < HS_DIRECT_TYPES) {
		uint32_t n = totals->n_direct ? totals->n_direct : 1024;
		void *direct;

		while (n <= type)
			n *= 2;
		direct = hs_memory_grow(&reader->memory, totals->direct,
					totals->n_direct * sizeof(*totals->direct),
					n * sizeof(*totals->direct));
		if (direct == NULL)
			return NULL;
		totals->direct = direct;
		totals->n_direct = n;
		return &totals->direct[type];
	}
	index = hs_idmap_find(&totals->index, type);
	if (index != NULL)
		return &totals->others[*index];
	if (!hs_memory_reserve(&reader->memory, &totals->others, totals->n_others,
			       &totals->room_others, sizeof(*totals->others)) ||
	    !hs_idmap_put(&reader->memory, &totals->index, type, (uint32_t)totals->n_others))
		return NULL;
	totals->others[totals->n_others].type = type;
	return &totals->others[totals->n_others++];
}

static inline struct heapshot_type_total *get(struct heapshot_reader *reader, uint32_t type)
{
	if (type < reader->totals.n_direct)
		return &reader->totals.direct[type];
	return get_slowly(reader, type);
}

static enum heapshot_read_result overflow(struct heapshot_reader *reader)
{
	return hs_fail(reader, HEAPSHOT_READ_DAMAGED, "a sum of sizes or counts passes 2^64");
}

static enum heapshot_read_result add_batch(struct heapshot_reader *reader,
					   const struct heapshot_record *record, bool *is_overflow)
{
	enum heapshot_read_result result =
		heapshot_reader_begin_objects(reader, record, false, NULL);
	const char *error = NULL;
	bool wraps = false;
	int n, i;

	if (result != HEAPSHOT_READ_OK)
		return result;
	n = hs_batch_totals(reader->batch, reader->totals.shapes, &error);
	if (n < 0)
		return hs_bad_record(reader, error);
	for (i = 0; i < n; i++) {
		const struct hs_shape_total *shape = &reader->totals.shapes[i];
		struct heapshot_type_total *total = get(reader, shape->type);

		if (total == NULL)
			return hs_fail_memory(reader);
		total->objects += shape->objects;
		wraps |= shape->has_wrapped;
		wraps |= __builtin_add_overflow(total->bytes, shape->bytes, &total->bytes);
		wraps |= __builtin_add_overflow(total->slot_bytes, shape->slot_bytes,
						&total->slot_bytes);
		wraps |= __builtin_add_overflow(total->references, shape->references,
						&total->references);
	}
	if (!wraps)
		return HEAPSHOT_READ_OK;
	*is_overflow = true;
	return overflow(reader);
}

/* Totals that the recorder counted itself (statistics only). */
static enum heapshot_read_result add_type_totals(struct heapshot_reader *reader,
						 const struct heapshot_record *record,
						 bool *is_overflow)
{
	Heapshot__TypeTotals *from =
		heapshot__type_totals__unpack(NULL, record->body_bytes, record->body);
	enum heapshot_read_result result = HEAPSHOT_READ_OK;
	bool wraps = false;
	size_t i;

	if (from == NULL)
		return hs_bad_record(reader, "TypeTotals");
	for (i = 0; i < from->n_total && result == HEAPSHOT_READ_OK; i++) {
		struct heapshot_type_total *total = get(reader, from->total[i]->type);

		if (total == NULL) {
			result = hs_fail_memory(reader);
			break;
		}
		wraps |= __builtin_add_overflow(total->objects, from->total[i]->objects,
						&total->objects);
		wraps |= __builtin_add_overflow(total->bytes, from->total[i]->bytes, &total->bytes);
		wraps |= __builtin_add_overflow(total->references, from->total[i]->references,
						&total->references);
	}
	heapshot__type_totals__free_unpacked(from, NULL);
	if (wraps) {
		*is_overflow = true;
		return overflow(reader);
	}
	return result;
}

static bool count_root(void *totals, const struct heapshot_root *root)
{
	(void)root;
	((struct heapshot_totals *)totals)->roots++;
	return true;
}

static bool count_edge(void *totals, const struct heapshot_ephemeron *edge)
{
	(void)edge;
	((struct heapshot_totals *)totals)->ephemeron_edges++;
	return true;
}

static enum heapshot_read_result add_frame(struct heapshot_reader *reader,
					   struct heapshot_totals *totals, bool *is_overflow)
{
	enum heapshot_read_result result, all = HEAPSHOT_READ_OK;
	struct heapshot_record record;

	while ((result = heapshot_reader_next_record(reader, &record)) == HEAPSHOT_READ_OK) {
		switch (record.field) {
		case HEAPSHOT__RECORD__BODY_OBJECT_BATCH:
			totals->object_batches++;
			result = add_batch(reader, &record, is_overflow);
			break;
		case HEAPSHOT__RECORD__BODY_TYPE_TOTALS:
			result = add_type_totals(reader, &record, is_overflow);
			break;
		case HEAPSHOT__RECORD__BODY_ROOT_BATCH:
			totals->root_batches++;
			result = heapshot_reader_each_root(reader, &record, count_root, totals);
			break;
		case HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH:
			totals->ephemeron_batches++;
			result =
				heapshot_reader_each_ephemeron(reader, &record, count_edge, totals);
			break;
		default:
			break;
		}
		if (*is_overflow || result == HEAPSHOT_READ_MEMORY)
			return result;
		if (result == HEAPSHOT_READ_DAMAGED)
			all = result;
	}
	return result == HEAPSHOT_READ_END ? all : result;
}

/* Gathers the entries that are in use, and their sums. */
static enum heapshot_read_result gather(struct heapshot_reader *reader, struct heapshot_totals *out)
{
	struct hs_type_totals *totals = &reader->totals;
	size_t n = totals->n_direct + totals->n_others, i, used = 0;
	bool wraps = false;

	for (i = 0; i < n; i++) {
		struct heapshot_type_total *total = i < totals->n_direct
							    ? &totals->direct[i]
							    : &totals->others[i - totals->n_direct];

		used += (total->objects | total->references | total->bytes) != 0;
	}
	totals->result =
		hs_memory_array(&reader->memory, (used ? used : 1), sizeof(*totals->result));
	if (totals->result == NULL)
		return hs_fail_memory(reader);
	totals->n_result = used ? used : 1;
	for (i = 0, used = 0; i < n; i++) {
		struct heapshot_type_total *total = i < totals->n_direct
							    ? &totals->direct[i]
							    : &totals->others[i - totals->n_direct];

		if ((total->objects | total->references | total->bytes) == 0)
			continue;
		if (i < totals->n_direct)
			total->type = (uint32_t)i;
		totals->result[used++] = *total;
		wraps |= __builtin_add_overflow(out->objects, total->objects, &out->objects);
		wraps |= __builtin_add_overflow(out->bytes, total->bytes, &out->bytes);
		wraps |= __builtin_add_overflow(out->slot_bytes, total->slot_bytes,
						&out->slot_bytes);
		wraps |= __builtin_add_overflow(out->references, total->references,
						&out->references);
	}
	if (wraps)
		return overflow(reader);
	out->types = totals->result;
	out->n_types = used;
	return HEAPSHOT_READ_OK;
}

static enum heapshot_read_result compare(struct heapshot_reader *reader,
					 const struct heapshot_snapshot *snapshot,
					 const struct heapshot_totals *totals)
{
	/* All that this pass reads; addresses and kinds of roots are left to `verify`. */
	const struct {
		const char *name;
		uint64_t found, stated;
	} sums[] = {
		{"objects", totals->objects, snapshot->objects},
		{"references", totals->references, snapshot->references},
		{"bytes", totals->bytes, snapshot->bytes},
		{"bytes with slack", totals->slot_bytes, snapshot->slot_bytes},
		{"object batches", totals->object_batches, snapshot->object_batches},
		{"roots", totals->roots, snapshot->roots},
		{"root batches", totals->root_batches, snapshot->root_batches},
		{"ephemeron edges", totals->ephemeron_edges, snapshot->ephemeron_edges},
		{"ephemeron batches", totals->ephemeron_batches, snapshot->ephemeron_batches},
	};
	size_t i;

	if (!snapshot->has_end)
		return hs_fail(reader, HEAPSHOT_READ_INCOMPLETE, "snapshot %llu has no end",
			       (unsigned long long)snapshot->id);
	if (snapshot->status != 0 || snapshot->frames_lost != 0)
		return hs_fail(reader, HEAPSHOT_READ_INCOMPLETE,
			       "snapshot %llu was not recorded whole",
			       (unsigned long long)snapshot->id);
	for (i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		if (sums[i].found != sums[i].stated)
			return hs_fail(reader, HEAPSHOT_READ_INCOMPLETE,
				       "snapshot %llu has %llu %s, its end says %llu",
				       (unsigned long long)snapshot->id,
				       (unsigned long long)sums[i].found, sums[i].name,
				       (unsigned long long)sums[i].stated);
	return HEAPSHOT_READ_OK;
}

enum heapshot_read_result heapshot_reader_totals(struct heapshot_reader *reader,
						 const struct heapshot_snapshot *snapshot,
						 struct heapshot_totals *totals)
{
	enum heapshot_read_result result, damage = HEAPSHOT_READ_OK;
	struct heapshot_frame frame;
	bool is_overflow = false;
	char saved[sizeof(reader->error)];

	*totals = (struct heapshot_totals){0};
	hs_totals_free(reader);
	reader->totals.shapes = hs_memory_array(&reader->memory, HS_BATCH_SHAPES_MAX,
						sizeof(struct hs_shape_total));
	if (reader->totals.shapes == NULL)
		return hs_fail_memory(reader);
	heapshot_reader_rewind(reader, snapshot);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		if (!hs_is_body(&frame, snapshot))
			continue;
		result = heapshot_reader_load_frame(reader, &frame);
		if (result == HEAPSHOT_READ_OK)
			result = add_frame(reader, totals, &is_overflow);
		if (is_overflow)
			return result;
		if (result == HEAPSHOT_READ_DAMAGED) {
			memcpy(saved, reader->error, sizeof(saved));
			damage = result;
		} else if (result != HEAPSHOT_READ_OK)
			return result;
	}
	if (result != HEAPSHOT_READ_END)
		return result;
	result = gather(reader, totals);
	if (result != HEAPSHOT_READ_OK)
		return result;
	if (damage != HEAPSHOT_READ_OK) {
		memcpy(reader->error, saved, sizeof(saved));
		return damage;
	}
	return compare(reader, snapshot, totals);
}
