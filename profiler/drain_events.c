/* SPDX-License-Identifier: MIT */
/*
 * What happened: collections, roots, handles, counters, markers.
 */
#include "config.h"

#include <errno.h>

#include "profiler/drain.h"

int hs_drain_root(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_root_entry *in = hs_log_payload(entry);
	Heapshot__RootRange range = HEAPSHOT__ROOT_RANGE__INIT;
	int error = 0;
	HS_RECORD(record, range, ROOT_RANGE);

	range.start = in->start;
	range.size = in->size;
	range.key = in->key;
	range.kind = (Heapshot__RootKind)in->kind;
	range.is_unregistered = in->is_unregistered;
	range.name = in->text;
	if (hs_drain_wants(HS_EVENTS_GC))
		error = hs_drain_put(drain, HS_FRAME_EVENTS, entry, &record);
	if (error)
		return error;
	if (in->is_unregistered)
		hs_ranges_remove(&hs_recorder.ranges, in->start);
	else if (!hs_ranges_add(&hs_recorder.ranges, in->start, in->size, in->kind, in->key,
				in->text))
		return -ENOMEM;
	return 0;
}

int hs_drain_moves(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_moves_entry *in = hs_log_payload(entry);
	Heapshot__GcMoves moves = HEAPSHOT__GC_MOVES__INIT;
	uint64_t from[64], to[64];
	uint64_t i, n = in->n_pairs < 64 ? in->n_pairs : 64;
	HS_RECORD(record, moves, GC_MOVES);

	for (i = 0; i < n; i++) {
		from[i] = in->pairs[2 * i];
		to[i] = in->pairs[2 * i + 1];
	}
	moves.n_from = moves.n_to = n;
	moves.from = from;
	moves.to = to;
	return hs_drain_put(drain, HS_FRAME_EVENTS, entry, &record);
}

int hs_drain_handle(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_handle_entry *in = hs_log_payload(entry);
	Heapshot__GcHandle handle = HEAPSHOT__GC_HANDLE__INIT;
	HS_RECORD(record, handle, GC_HANDLE);

	handle.handle = in->handle;
	handle.handle_type = (Heapshot__HandleType)in->type;
	handle.object = in->object;
	handle.is_deleted = in->is_deleted;
	return hs_drain_put(drain, HS_FRAME_EVENTS, entry, &record);
}

int hs_drain_counter(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_counter_entry *in = hs_log_payload(entry);
	Heapshot__Counter counter = HEAPSHOT__COUNTER__INIT;
	char *text = in->text;
	HS_RECORD(record, counter, COUNTER);

	counter.id = in->id;
	counter.type = (Heapshot__CounterType)in->type;
	counter.name = hs_drain_text(&text, in->name_bytes);
	counter.section = hs_drain_text(&text, in->section_bytes);
	counter.unit = hs_drain_text(&text, in->unit_bytes);
	counter.variance = hs_drain_text(&text, in->variance_bytes);
	return hs_drain_put(drain, HS_FRAME_METADATA, entry, &record);
}

#define VALUES_AT_ONCE 128

int hs_drain_sample(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_sample_entry *in = hs_log_payload(entry);
	Heapshot__CounterValue values[VALUES_AT_ONCE], *pointers[VALUES_AT_ONCE];
	Heapshot__CounterSample sample = HEAPSHOT__COUNTER_SAMPLE__INIT;
	uint64_t i, n = in->n_values < VALUES_AT_ONCE ? in->n_values : VALUES_AT_ONCE;
	HS_RECORD(record, sample, COUNTER_SAMPLE);

	for (i = 0; i < n; i++) {
		Heapshot__CounterValue *value = pointers[i] = &values[i];
		heapshot__counter_value__init(value);
		value->counter = in->values[i].counter;
		switch (in->values[i].type) {
		case HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_DOUBLE:
			value->value_case = HEAPSHOT__COUNTER_VALUE__VALUE_DOUBLE_VALUE;
			value->double_value = in->values[i].value.d;
			break;
		case HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_UINT:
		case HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_ULONG:
			value->value_case = HEAPSHOT__COUNTER_VALUE__VALUE_UNSIGNED_VALUE;
			value->unsigned_value = in->values[i].value.u;
			break;
		default:
			value->value_case = HEAPSHOT__COUNTER_VALUE__VALUE_SIGNED_VALUE;
			value->signed_value = in->values[i].value.i;
		}
	}
	sample.n_value = n;
	sample.value = pointers;
	return hs_drain_put(drain, HS_FRAME_EVENTS, entry, &record);
}

int hs_drain_marker(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_marker_entry *in = hs_log_payload(entry);
	Heapshot__Marker marker = HEAPSHOT__MARKER__INIT;
	HS_RECORD(record, marker, MARKER);

	marker.label = in->text;
	return hs_drain_put(drain, HS_FRAME_EVENTS, entry, &record);
}
