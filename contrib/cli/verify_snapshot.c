/* SPDX-License-Identifier: MIT */
/*
 * A snapshot under the lens: sums in the first pass, references in the second.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/verify.h"
#include "schema/columns.h"
#include "schema/handle_table.h"
#include "schema/heapshot.pb-c.h"

static void add(struct verify_sum *sum, uint64_t value)
{
	sum->has_wrapped |= __builtin_add_overflow(sum->value, value, &sum->value);
}

static void add_address(struct verify_addresses *addresses, uint64_t address)
{
	if (addresses->is_over)
		return;
	if (addresses->n == addresses->room) {
		size_t room = addresses->room ? addresses->room * 2 : 4096;
		size_t limit = addresses->limit_bytes / sizeof(address);
		uint64_t *list;

		if (room > limit)
			room = limit;
		list = room > addresses->n ? reallocarray(addresses->list, room, sizeof(address))
					   : NULL;
		if (list == NULL) {
			addresses->is_over = true;
			return;
		}
		addresses->list = list;
		addresses->room = room;
	}
	addresses->list[addresses->n++] = address;
}

/*
 * Sorts by BIT and those below it, in place: qsort may take as much memory again,
 * of which --memory would not know.
 */
static void sort_from(uint64_t *list, size_t n, uint64_t bit)
{
	while (n > 1 && bit != 0) {
		size_t low = 0, high = n;

		while (low < high) {
			const uint64_t address = list[low];

			if (address & bit) {
				list[low] = list[--high];
				list[high] = address;
			} else {
				low++;
			}
		}
		bit >>= 1;
		sort_from(list, low, bit);
		list += low;
		n -= low;
	}
}

static bool has_address(const struct verify_addresses *addresses, uint64_t address)
{
	size_t low = 0, high = addresses->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses->list[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < addresses->n && addresses->list[low] == address;
}

static void sort_addresses(struct verify_snapshot *out)
{
	struct verify_addresses *addresses = &out->addresses;
	size_t i;

	if (addresses->is_over)
		return;
	/* Walks come mostly in order; do not sort what is sorted. */
	for (i = 1; i < addresses->n; i++)
		if (addresses->list[i - 1] > addresses->list[i])
			break;
	if (i < addresses->n)
		sort_from(addresses->list, addresses->n, UINT64_C(1) << 63);
	for (i = 1; i < addresses->n; i++)
		if (addresses->list[i - 1] == addresses->list[i] && out->duplicates++ == 0)
			out->first_duplicate = addresses->list[i];
}

static void sum_objects(struct recording *recording, const struct heapshot_record *record,
			struct verify_snapshot *out)
{
	struct heapshot_reader *reader = recording->reader;
	enum heapshot_read_result result;
	struct heapshot_object object;
	struct heapshot_batch batch;

	out->object_batches++;
	result = heapshot_reader_begin_objects(reader, record, true, &batch);
	if (result == HEAPSHOT_READ_OK && batch.snapshot != out->snapshot->id)
		out->wrong_snapshot++;
	while (result == HEAPSHOT_READ_OK &&
	       (result = heapshot_reader_next_object(reader, &object)) == HEAPSHOT_READ_OK) {
		add(&out->references, object.n_references);
		if (heapshot_reader_type(reader, object.type) == NULL &&
		    out->undefined_types++ == 0)
			out->first_undefined_type = object.type;
		if (object.is_continuation)
			continue;
		add(&out->objects, 1);
		add(&out->bytes, object.size);
		add(&out->slot_bytes, object.slot_size);
		out->object_hash += hs_object_mix(object.address);
		add_address(&out->addresses, object.address);
	}
	if (result == HEAPSHOT_READ_DAMAGED)
		out->is_damaged = true;
}

static void sum_roots(const struct heapshot_record *record, struct verify_snapshot *out)
{
	Heapshot__RootBatch *batch =
		heapshot__root_batch__unpack(NULL, record->body_bytes, record->body);
	size_t i;

	out->root_batches++;
	if (batch == NULL)
		return; /* the pass over all records says so */
	if (batch->snapshot != out->snapshot->id)
		out->wrong_snapshot++;
	out->roots += batch->n_source_index;
	for (i = 0; i < batch->n_source_index; i++) {
		uint32_t source = batch->source_index[i] - 1;

		if (source < batch->n_source &&
		    (uint32_t)batch->source[source]->kind < HEAPSHOT_ROOT_KINDS_MAX)
			out->roots_by_kind[batch->source[source]->kind]++;
	}
	heapshot__root_batch__free_unpacked(batch, NULL);
}

static bool count_ephemeron(void *user_data, const struct heapshot_ephemeron *edge)
{
	struct verify_snapshot *out = user_data;

	(void)edge;
	out->ephemerons++;
	return true;
}

static void sum_handles(const struct recording *recording, const struct heapshot_record *record,
			struct verify_snapshot *out)
{
	const uint32_t word_bytes = heapshot_reader_header(recording->reader)->word_bytes;
	struct hs_handle_decoder decoder;
	struct hs_handle_row row;
	const char *error;
	int n = -1;

	out->handle_tables++;
	if (hs_handle_decode(&decoder, record->body, record->body_bytes, word_bytes, &error) == 0) {
		out->wrong_snapshot += decoder.snapshot != out->snapshot->id;
		while ((n = hs_handle_next(&decoder, &row, &error)) > 0)
			out->handles++;
	}
	if (n < 0)
		out->is_damaged = true;
}

static void sum_type_totals(const struct heapshot_record *record, struct verify_snapshot *out)
{
	Heapshot__TypeTotals *totals =
		heapshot__type_totals__unpack(NULL, record->body_bytes, record->body);
	size_t i;

	if (totals == NULL)
		return;
	for (i = 0; i < totals->n_total; i++) {
		add(&out->objects, totals->total[i]->objects);
		add(&out->bytes, totals->total[i]->bytes);
		add(&out->references, totals->total[i]->references);
	}
	heapshot__type_totals__free_unpacked(totals, NULL);
}

static void first_pass(struct recording *recording, const struct heapshot_record *record,
		       struct verify_snapshot *out)
{
	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_OBJECT_BATCH:
		sum_objects(recording, record, out);
		break;
	case HEAPSHOT__RECORD__BODY_ROOT_BATCH:
		sum_roots(record, out);
		break;
	case HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH:
		out->ephemeron_batches++;
		if (heapshot_reader_each_ephemeron(recording->reader, record, count_ephemeron,
						   out) != HEAPSHOT_READ_OK)
			out->is_damaged = true;
		break;
	case HEAPSHOT__RECORD__BODY_HANDLE_TABLE:
		sum_handles(recording, record, out);
		break;
	case HEAPSHOT__RECORD__BODY_TYPE_TOTALS:
		sum_type_totals(record, out);
		break;
	default:
		break;
	}
}

static void check_references(struct recording *recording, const struct heapshot_record *record,
			     struct verify_snapshot *out)
{
	struct heapshot_reader *reader = recording->reader;
	struct heapshot_object object;
	uint64_t i;

	if (heapshot_reader_begin_objects(reader, record, true, NULL) != HEAPSHOT_READ_OK)
		return;
	while (heapshot_reader_next_object(reader, &object) == HEAPSHOT_READ_OK) {
		if (object.is_continuation && !has_address(&out->addresses, object.address))
			out->lonely_continuations++;
		for (i = 0; i < object.n_references; i++)
			if (!has_address(&out->addresses, object.references[i]) &&
			    out->dangling++ == 0)
				out->first_dangling = object.references[i];
	}
}

static bool check_root(void *user_data, const struct heapshot_root *root)
{
	struct verify_snapshot *out = user_data;

	out->dangling_roots += !has_address(&out->addresses, root->object);
	return true;
}

static bool check_ephemeron(void *user_data, const struct heapshot_ephemeron *edge)
{
	struct verify_snapshot *out = user_data;

	out->dangling_ephemerons +=
		!has_address(&out->addresses, edge->table) ||
		!has_address(&out->addresses, edge->key) ||
		(edge->value != 0 && !has_address(&out->addresses, edge->value));
	return true;
}

static void second_pass(struct recording *recording, const struct heapshot_record *record,
			struct verify_snapshot *out)
{
	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_OBJECT_BATCH:
		check_references(recording, record, out);
		break;
	case HEAPSHOT__RECORD__BODY_ROOT_BATCH:
		heapshot_reader_each_root(recording->reader, record, check_root, out);
		break;
	case HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH:
		heapshot_reader_each_ephemeron(recording->reader, record, check_ephemeron, out);
		break;
	default:
		break;
	}
}

static int pass(struct recording *recording, struct verify_snapshot *out,
		void (*take)(struct recording *, const struct heapshot_record *,
			     struct verify_snapshot *))
{
	struct heapshot_reader *reader = recording->reader;
	enum heapshot_read_result result;
	struct heapshot_record record;
	struct heapshot_frame frame;
	int status;

	heapshot_reader_rewind(reader, out->snapshot);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		if (frame.kind != HEAPSHOT_FRAME_SNAPSHOT_BODY ||
		    frame.snapshot != (uint32_t)out->snapshot->id)
			continue;
		result = heapshot_reader_load_frame(reader, &frame);
		while (result == HEAPSHOT_READ_OK &&
		       (result = heapshot_reader_next_record(reader, &record)) == HEAPSHOT_READ_OK)
			take(recording, &record, out);
		if (result == HEAPSHOT_READ_DAMAGED)
			out->is_damaged = true;
		status = recording_check(recording, result);
		if (status != CLI_OK)
			return status;
	}
	return recording_check(recording, result);
}

int verify_read_snapshot(struct recording *recording, struct verify_snapshot *out,
			 size_t limit_bytes)
{
	int status;

	out->addresses.limit_bytes = limit_bytes;
	status = pass(recording, out, first_pass);
	if (status != CLI_OK)
		return status;
	sort_addresses(out);
	if (!out->addresses.is_over && !out->snapshot->is_stats_only)
		status = pass(recording, out, second_pass);
	return status;
}

void verify_free_snapshot(struct verify_snapshot *out)
{
	free(out->addresses.list);
	out->addresses.list = NULL;
}

int verify_compare(const struct verify_snapshot *out, verify_problem *problem, void *user_data)
{
	const struct heapshot_snapshot *end = out->snapshot;
	const struct {
		const char *check;
		uint64_t expected, found;
	} totals[] = {
		{"objects", end->objects, out->objects.value},
		{"references", end->references, out->references.value},
		{"bytes", end->bytes, out->bytes.value},
		{"slot_bytes", end->slot_bytes, out->slot_bytes.value},
		{"roots", end->roots, out->roots},
		{"ephemeron_edges", end->ephemeron_edges, out->ephemerons},
		{"object_hash", end->object_hash, out->object_hash},
		{"object_batches", end->object_batches, out->object_batches},
		{"root_batches", end->root_batches, out->root_batches},
		{"ephemeron_batches", end->ephemeron_batches, out->ephemeron_batches},
		{"handle_tables", end->handle_tables, out->handle_tables},
		{"handles", end->handles, out->handles},
	};
	const struct {
		const char *check;
		uint64_t found;
	} faults[] = {
		{"overflowed_sums", (uint64_t)out->objects.has_wrapped + out->bytes.has_wrapped +
					    out->slot_bytes.has_wrapped +
					    out->references.has_wrapped},
		{"undefined_types", out->undefined_types},
		{"duplicate_objects", out->duplicates},
		{"dangling_references", out->dangling},
		{"dangling_roots", out->dangling_roots},
		{"dangling_ephemerons", out->dangling_ephemerons},
		{"lonely_continuations", out->lonely_continuations},
		{"batches_of_another_snapshot", out->wrong_snapshot},
	};
	bool is_incomplete = false, is_wrong = false;
	size_t i;

	if (!end->has_begin || !end->has_end) {
		problem(user_data, end->has_begin ? "end_record" : "begin_record", 1, 0);
		is_incomplete = true;
	}
	if (end->status != 0 || end->frames_lost != 0) {
		problem(user_data, end->status != 0 ? "status" : "frames_lost", 0,
			end->status != 0 ? end->status : end->frames_lost);
		is_incomplete = true;
	}
	for (i = 0; end->has_end && i < sizeof(totals) / sizeof(*totals); i++)
		if (totals[i].expected != totals[i].found) {
			problem(user_data, totals[i].check, totals[i].expected, totals[i].found);
			is_incomplete = true;
		}
	for (i = 0; end->has_end && i < HEAPSHOT_ROOT_KINDS_MAX; i++)
		if (end->roots_by_kind[i] != out->roots_by_kind[i]) {
			char check[64];

			snprintf(check, sizeof(check), "roots_by_kind.%s",
				 heapshot_root_kind_name((uint32_t)i));
			problem(user_data, check, end->roots_by_kind[i], out->roots_by_kind[i]);
			is_incomplete = true;
		}
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (faults[i].found != 0) {
			problem(user_data, faults[i].check, 0, faults[i].found);
			is_wrong = true;
		}
	return is_incomplete ? CLI_INCOMPLETE : is_wrong ? CLI_CHECK_FAILED : CLI_OK;
}
