/* SPDX-License-Identifier: MIT */
/*
 * What happened between the snapshots: collections, sizes of the heap, threads,
 * methods, handles, labels, losses; and the counters.
 */
#include "contrib/export/events.h"
#include "contrib/export/sqlite.h"
#include "schema/heapshot.pb-c.h"

struct events {
	struct sqlite_out *out;
	sqlite3_stmt *event, *counter, *sample;
	uint64_t pause; /* number of the stop of the world under way or last */
	bool is_stopped;
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
	sqlite_put(events->out, events->event, "nittzooazzt", (int64_t)record->time_ns, row->kind,
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
	size_t i;

	for (i = 0; i < sample->n_value; i++) {
		const Heapshot__CounterValue *value = sample->value[i];
		const int64_t time_ns = (int64_t)record->time_ns, counter = value->counter;

		switch (value->value_case) {
		case HEAPSHOT__COUNTER_VALUE__VALUE_SIGNED_VALUE:
			sqlite_put(events->out, events->sample, "iii", time_ns, counter,
				   value->signed_value);
			break;
		case HEAPSHOT__COUNTER_VALUE__VALUE_UNSIGNED_VALUE:
			/* Real numbers hold what whole ones do not. */
			if (value->unsigned_value > INT64_MAX)
				sqlite_put(events->out, events->sample, "iid", time_ns, counter,
					   (double)value->unsigned_value);
			else
				sqlite_put(events->out, events->sample, "iiu", time_ns, counter,
					   value->unsigned_value);
			break;
		case HEAPSHOT__COUNTER_VALUE__VALUE_DOUBLE_VALUE:
			sqlite_put(events->out, events->sample, "iid", time_ns, counter,
				   value->double_value);
			break;
		case HEAPSHOT__COUNTER_VALUE__VALUE_STRING_VALUE:
			sqlite_put(events->out, events->sample, "iit", time_ns, counter,
				   value->string_value);
			break;
		default:
			sqlite_put(events->out, events->sample, "iin", time_ns, counter);
			break;
		}
	}
}

static void take_counter(struct events *events, const Heapshot__Counter *counter)
{
	sqlite_put(events->out, events->counter, "utttt", (uint64_t)counter->id, counter->name,
		   counter->section, counter->unit, counter->variance);
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
	return events->out->result == EXPORT_OK;
}

void sqlite_put_events(struct sqlite_out *out)
{
	struct events events = {
		.out = out,
		.event = sqlite_prepare(
			out, "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
		.counter = sqlite_prepare(out,
					  "INSERT OR REPLACE INTO counters VALUES (?, ?, ?, ?, ?)"),
		.sample = sqlite_prepare(out, "INSERT INTO counter_samples VALUES (?, ?, ?)"),
	};

	export_each_event(out->export->reader, take, &events);
	sqlite3_finalize(events.event);
	sqlite3_finalize(events.counter);
	sqlite3_finalize(events.sample);
}
