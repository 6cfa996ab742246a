/* SPDX-License-Identifier: MIT */
/*
 * Reads the events of a recording: pauses of the collector, sizes of the heap.
 */
#include <string.h>

#include "contrib/cli/events.h"
#include "contrib/cli/gc_pause.h"
#include "schema/heapshot.pb-c.h"

struct timeline {
	struct recording *recording;
	events_take_row *take;
	void *user_data;
	struct gc_pause pause;
	/* The last row, kept until the size of the heap behind it is known. */
	bool has_row;
	struct events_row row;
	uint64_t heap_bytes;
	struct events_sums *sums;
};

static void put_row(struct timeline *line)
{
	if (!line->has_row)
		return;
	line->has_row = false;
	line->row.heap_bytes = line->heap_bytes;
	line->take(line->user_data, &line->row);
}

static void take_pause(struct timeline *line, const struct gc_pause *pause)
{
	struct events_sums *sums = line->sums;

	put_row(line);
	line->has_row = true;
	line->row = (struct events_row){
		.number = sums->n_minor + sums->n_major + 1,
		.time_ns = pause->time_ns,
		.pause_ns = pause->ns,
		.generation = pause->generation,
		.is_serial = pause->is_serial,
		.kind = !pause->has_end     ? "concurrent"
			: !pause->has_start ? "finish"
					    : "full",
	};
	if (pause->generation == 0)
		sums->n_minor++;
	else
		sums->n_major++;
	sums->pause_ns += line->row.pause_ns;
	if (line->row.pause_ns > sums->max_pause_ns)
		sums->max_pause_ns = line->row.pause_ns;
}

static enum heapshot_read_result take_record(struct timeline *line,
					     const struct heapshot_record *record)
{
	const struct hs_slice body = {record->body, record->body + record->body_bytes};

	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_GC_EVENT: {
		struct hs_gc_event event;

		if (hs_gc_event_decode(body, &event) != 0)
			return HEAPSHOT_READ_DAMAGED;
		if (gc_pause_take(&line->pause, &event, record->time_ns))
			take_pause(line, &line->pause);
		break;
	}
	case HEAPSHOT__RECORD__BODY_GC_RESIZE: {
		struct hs_gc_resize resize;

		if (hs_gc_resize_decode(body, &resize) != 0)
			return HEAPSHOT_READ_DAMAGED;
		line->sums->n_resizes++;
		line->heap_bytes = resize.heap_bytes;
		if (line->heap_bytes > line->sums->max_heap_bytes)
			line->sums->max_heap_bytes = line->heap_bytes;
		break;
	}
	case HEAPSHOT__RECORD__BODY_LOSS: {
		Heapshot__Loss *loss =
			heapshot__loss__unpack(NULL, record->body_bytes, record->body);

		if (loss == NULL)
			return HEAPSHOT_READ_DAMAGED;
		line->sums->n_lost += loss->count;
		heapshot__loss__free_unpacked(loss, NULL);
		break;
	}
	case HEAPSHOT__RECORD__BODY_GC_MOVES:
		line->sums->n_moves++;
		break;
	case HEAPSHOT__RECORD__BODY_JIT_CHUNK:
		line->sums->n_jit_chunks++;
		break;
	case HEAPSHOT__RECORD__BODY_JIT_METHOD:
		line->sums->n_methods++;
		break;
	case HEAPSHOT__RECORD__BODY_GC_HANDLE:
		line->sums->n_handles++;
		break;
	case HEAPSHOT__RECORD__BODY_COUNTER_SAMPLE:
		line->sums->n_samples++;
		break;
	case HEAPSHOT__RECORD__BODY_MARKER:
		line->sums->n_markers++;
		break;
	case HEAPSHOT__RECORD__BODY_THREAD:
		line->sums->n_threads++;
		break;
	default:
		line->sums->n_other++;
		break;
	}
	return HEAPSHOT_READ_OK;
}

static int read_events(struct timeline *line)
{
	struct heapshot_reader *reader = line->recording->reader;
	enum heapshot_read_result result;
	struct heapshot_record record;
	struct heapshot_frame frame;
	int status;

	heapshot_reader_rewind(reader, NULL);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		if (frame.kind != HEAPSHOT_FRAME_EVENTS && frame.kind != HEAPSHOT_FRAME_METADATA)
			continue;
		result = heapshot_reader_load_frame(reader, &frame);
		while (result == HEAPSHOT_READ_OK &&
		       (result = heapshot_reader_next_record(reader, &record)) ==
			       HEAPSHOT_READ_OK) {
			/* Names are no events, but losses may stand among them. */
			if (frame.kind == HEAPSHOT_FRAME_METADATA &&
			    record.field != HEAPSHOT__RECORD__BODY_LOSS &&
			    record.field != HEAPSHOT__RECORD__BODY_THREAD)
				continue;
			if (take_record(line, &record) != HEAPSHOT_READ_OK)
				line->recording->status = CLI_DAMAGED;
		}
		status = recording_check(line->recording, result);
		if (status != CLI_OK)
			return status;
	}
	return recording_check(line->recording, result);
}

int events_read(struct recording *recording, events_take_row *take, void *user_data,
		struct events_sums *sums)
{
	struct timeline line = {
		.recording = recording,
		.take = take,
		.user_data = user_data,
		.sums = sums,
	};
	int status;

	*sums = (struct events_sums){0};
	status = read_events(&line);
	put_row(&line);
	return status;
}
