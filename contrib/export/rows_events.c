/* SPDX-License-Identifier: MIT */
/*
 * What happened between the snapshots: collections, sizes of the heap, threads,
 * methods, handles, labels, losses; and the counters.
 */
#include <stdlib.h>

#include "contrib/export/records.h"
#include "contrib/export/names.h"
#include "contrib/export/rows.h"
#include "schema/heapshot.pb-c.h"

/* A counter as one record of the recording defines it; of several the last counts. */
struct counter {
	uint32_t id;
	uint32_t number; /* among the definitions */
	uint32_t name, section, unit, variance;
};

struct events {
	struct rows *rows;
	uint64_t n;     /* events so far */
	uint64_t pause; /* number of the stop of the world under way or last */
	bool is_stopped;
	struct export_names names;
	struct counter *counters;
	uint32_t n_counters, counters_room;
};

/* Columns of a row behind its id and time. */
struct row {
	const char *kind, *phase;
	uint64_t pause, address, bytes, number; /* 0: null */
	int64_t generation, serial;             /* below 0: null */
	const char *text;
};

static void put(struct events *events, const struct heapshot_record *record, const struct row *row)
{
	rows_put(events->rows, ROWS_EVENTS, "uuttzooazzt", ++events->n, record->time_ns, row->kind,
		 row->phase, row->pause, row->generation, row->serial, row->address, row->bytes,
		 row->number, row->text);
}

static const char *phase_name(int phase)
{
	switch (phase) {
	case HEAPSHOT__GC_PHASE__GC_PHASE_START:
		return "start";
	case HEAPSHOT__GC_PHASE__GC_PHASE_END:
		return "end";
	case HEAPSHOT__GC_PHASE__GC_PHASE_PRE_STOP_WORLD:
		return "pre_stop_world";
	case HEAPSHOT__GC_PHASE__GC_PHASE_POST_STOP_WORLD:
		return "post_stop_world";
	case HEAPSHOT__GC_PHASE__GC_PHASE_PRE_START_WORLD:
		return "pre_start_world";
	case HEAPSHOT__GC_PHASE__GC_PHASE_POST_START_WORLD:
		return "post_start_world";
	case HEAPSHOT__GC_PHASE__GC_PHASE_PRE_STOP_WORLD_LOCKED:
		return "pre_stop_world_locked";
	case HEAPSHOT__GC_PHASE__GC_PHASE_POST_START_WORLD_UNLOCKED:
		return "post_start_world_unlocked";
	default:
		return "unknown";
	}
}

/* Starts and ends belong to the stop of the world that they happen in. */
static void take_gc(struct events *events, const struct heapshot_record *record,
		    const Heapshot__GcEvent *event)
{
	struct row row = {
		.kind = "gc",
		.phase = phase_name((int)event->phase),
		.generation = event->generation,
		.serial = event->is_serial,
	};

	if (event->phase == HEAPSHOT__GC_PHASE__GC_PHASE_POST_STOP_WORLD) {
		events->pause++;
		events->is_stopped = true;
	}
	row.pause = events->is_stopped ? events->pause : 0;
	if (event->phase == HEAPSHOT__GC_PHASE__GC_PHASE_POST_START_WORLD)
		events->is_stopped = false;
	put(events, record, &row);
}

static void take_thread(struct events *events, const struct heapshot_record *record,
			const Heapshot__Thread *thread)
{
	static const char *const states[] = {"", "started", "stopped", "named"};
	const unsigned state = (unsigned)thread->state;

	put(events, record,
	    &(struct row){
		    .kind = "thread",
		    .phase = state < sizeof(states) / sizeof(*states) ? states[state] : "",
		    .generation = -1,
		    .serial = -1,
		    .address = thread->id,
		    .text = thread->name,
	    });
}

static void take_sample(struct events *events, const struct heapshot_record *record,
			const Heapshot__CounterSample *sample)
{
	struct rows *rows = events->rows;
	size_t i;

	for (i = 0; i < sample->n_value; i++) {
		const Heapshot__CounterValue *value = sample->value[i];
		const uint64_t time_ns = record->time_ns, counter = value->counter;

		switch (value->value_case) {
		case HEAPSHOT__COUNTER_VALUE__VALUE_SIGNED_VALUE:
			rows_put(rows, ROWS_COUNTER_SAMPLES, "uui", time_ns, counter,
				 value->signed_value);
			break;
		case HEAPSHOT__COUNTER_VALUE__VALUE_UNSIGNED_VALUE:
			/* Real numbers hold what whole ones do not. */
			if (value->unsigned_value > rows->sink->number_max)
				rows_put(rows, ROWS_COUNTER_SAMPLES, "uud", time_ns, counter,
					 (double)value->unsigned_value);
			else
				rows_put(rows, ROWS_COUNTER_SAMPLES, "uuu", time_ns, counter,
					 value->unsigned_value);
			break;
		case HEAPSHOT__COUNTER_VALUE__VALUE_DOUBLE_VALUE:
			rows_put(rows, ROWS_COUNTER_SAMPLES, "uud", time_ns, counter,
				 value->double_value);
			break;
		case HEAPSHOT__COUNTER_VALUE__VALUE_STRING_VALUE:
			rows_put(rows, ROWS_COUNTER_SAMPLES, "uut", time_ns, counter,
				 value->string_value);
			break;
		default:
			rows_put(rows, ROWS_COUNTER_SAMPLES, "uun", time_ns, counter);
			break;
		}
	}
}

/* Room for one more; false without memory. */
static bool grow_counters(struct events *events)
{
	const uint32_t room = events->counters_room != 0 ? events->counters_room * 2 : 64;
	struct counter *counters;

	if (events->n_counters < events->counters_room)
		return true;
	counters = room > events->counters_room
			   ? reallocarray(events->counters, room, sizeof(*counters))
			   : NULL;
	if (counters == NULL)
		return false;
	events->counters = counters;
	events->counters_room = room;
	return true;
}

static void take_counter(struct events *events, const Heapshot__Counter *counter)
{
	const struct counter *added;

	if (!rows_want(events->rows, ROWS_COUNTERS))
		return;
	if (!grow_counters(events)) {
		rows_fail(events->rows, export_fail_memory(events->rows->export));
		return;
	}
	events->counters[events->n_counters] = (struct counter){
		.id = counter->id,
		.number = events->n_counters,
		.name = export_name(&events->names, counter->name),
		.section = export_name(&events->names, counter->section),
		.unit = export_name(&events->names, counter->unit),
		.variance = export_name(&events->names, counter->variance),
	};
	added = &events->counters[events->n_counters++];
	if (added->name == EXPORT_NO_NAME || added->section == EXPORT_NO_NAME ||
	    added->unit == EXPORT_NO_NAME || added->variance == EXPORT_NO_NAME)
		rows_fail(events->rows, export_fail_memory(events->rows->export));
}

static int compare_counters(const void *a, const void *b)
{
	const struct counter *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

static void put_counters(struct events *events)
{
	const char **texts = events->names.texts;
	uint32_t i;

	if (events->n_counters > 0)
		qsort(events->counters, events->n_counters, sizeof(*events->counters),
		      compare_counters);
	for (i = 0; i < events->n_counters && events->rows->result == EXPORT_OK; i++) {
		const struct counter *counter = &events->counters[i];

		if (i + 1 < events->n_counters && counter[1].id == counter->id)
			continue;
		rows_put(events->rows, ROWS_COUNTERS, "utttt", (uint64_t)counter->id,
			 texts[counter->name], texts[counter->section], texts[counter->unit],
			 texts[counter->variance]);
	}
}

/* Unpacks the record as MESSAGE, does what TAKE says of it, and leaves the switch. */
#define TAKE(message, take)                                                                        \
	do {                                                                                       \
		void *unpacked =                                                                   \
			heapshot__##message##__unpack(NULL, record->body_bytes, record->body);     \
		if (unpacked == NULL)                                                              \
			return; /* the reader's issues tell; the rest goes on */                   \
		take;                                                                              \
		heapshot__##message##__free_unpacked(unpacked, NULL);                              \
		return;                                                                            \
	} while (0)
/* A row of an event of KIND; what else it has follows.  M is the message. */
#define EVENT(word, ...)                                                                           \
	put(events, record,                                                                        \
	    &(struct row){.kind = word, .generation = -1, .serial = -1, __VA_ARGS__})

static void take_record(struct events *events, const struct heapshot_record *record)
{
	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_GC_EVENT:
		TAKE(gc_event, take_gc(events, record, unpacked));
	case HEAPSHOT__RECORD__BODY_THREAD:
		TAKE(thread, take_thread(events, record, unpacked));
	case HEAPSHOT__RECORD__BODY_COUNTER:
		TAKE(counter, take_counter(events, unpacked));
	case HEAPSHOT__RECORD__BODY_COUNTER_SAMPLE:
		TAKE(counter_sample, take_sample(events, record, unpacked));
	case HEAPSHOT__RECORD__BODY_GC_RESIZE: {
		Heapshot__GcResize *m;

		TAKE(gc_resize, m = unpacked; EVENT("heap_size", .bytes = m->heap_bytes));
	}
	case HEAPSHOT__RECORD__BODY_MARKER: {
		Heapshot__Marker *m;

		TAKE(marker, m = unpacked; EVENT("marker", .text = m->label));
	}
	case HEAPSHOT__RECORD__BODY_LOSS: {
		Heapshot__Loss *m;

		TAKE(loss, m = unpacked; EVENT("loss", .number = m->count, .text = m->reason));
	}
	case HEAPSHOT__RECORD__BODY_JIT_CHUNK: {
		Heapshot__JitChunk *m;

		TAKE(jit_chunk, m = unpacked;
		     EVENT("jit_chunk", .phase = m->is_destroyed ? "freed" : "made",
			   .address = m->address, .bytes = m->size));
	}
	case HEAPSHOT__RECORD__BODY_JIT_METHOD: {
		Heapshot__JitMethod *m;

		TAKE(jit_method, m = unpacked;
		     EVENT("method", .address = m->code_address, .bytes = m->code_bytes,
			   .number = m->compile_ns, .text = m->name));
	}
	case HEAPSHOT__RECORD__BODY_GC_HANDLE: {
		Heapshot__GcHandle *m;

		TAKE(gc_handle, m = unpacked;
		     EVENT("handle", .phase = m->is_deleted ? "freed" : "made",
			   .address = m->object, .number = m->handle));
	}
	case HEAPSHOT__RECORD__BODY_GC_MOVES: {
		Heapshot__GcMoves *m;

		TAKE(gc_moves, m = unpacked; EVENT("moves", .number = m->n_from));
	}
	default:
		return;
	}
}

static bool take(void *user_data, const struct heapshot_record *record)
{
	struct events *events = user_data;

	take_record(events, record);
	return events->rows->result == EXPORT_OK;
}

void rows_put_events(struct rows *rows)
{
	struct events events = {.rows = rows};

	if (!rows_want(rows, ROWS_EVENTS) && !rows_want(rows, ROWS_COUNTERS) &&
	    !rows_want(rows, ROWS_COUNTER_SAMPLES))
		return;
	export_each_event(rows->export->reader, take, &events);
	put_counters(&events);
	free(events.counters);
	export_names_free(&events.names);
}
