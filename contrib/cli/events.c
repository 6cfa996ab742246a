/* SPDX-License-Identifier: MIT */
/*
 * heapshot events: the collections as a time line, with pauses and the size of
 * the heap, and a summary of the rest.  Rows are written as they are read.
 */
#include <inttypes.h>
#include <string.h>

#include "contrib/cli/json.h"
#include "contrib/cli/recording.h"
#include "contrib/cli/text.h"
#include "schema/gc_records.h"
#include "schema/heapshot.pb-c.h"

#define DEFAULT_LIMIT 50

struct timeline {
	struct recording *recording;
	const struct cli_arguments *arguments;
	struct json json;
	uint64_t limit; /* rows, 0: all */
	/* The pause under way. */
	uint64_t stopped_ns;
	bool is_stopped, has_start, has_end, is_serial;
	uint32_t generation;
	/* The last row, kept until the size of the heap behind it is known. */
	bool has_row;
	uint64_t row_time_ns, row_pause_ns;
	uint32_t row_generation;
	bool row_is_serial;
	const char *row_kind;
	/* Sums. */
	uint64_t n_minor, n_major, pause_ns, max_pause_ns, heap_bytes, max_heap_bytes;
	uint64_t n_resizes, n_moves, n_jit_chunks, n_handles, n_samples, n_markers, n_threads,
		n_methods;
	uint64_t n_lost, n_other;
};

static void put_row(struct timeline *line)
{
	uint64_t n = line->n_minor + line->n_major;
	char numbers[2][TEXT_NUMBER_BYTES];

	if (!line->has_row)
		return;
	line->has_row = false;
	if (line->limit != 0 && n > line->limit)
		return;
	if (line->arguments->is_json) {
		json_begin(&line->json, '{');
		json_put_unsigned(&line->json, "number", n);
		json_put_unsigned(&line->json, "time_ns", line->row_time_ns);
		json_put_unsigned(&line->json, "generation", line->row_generation);
		json_put_bool(&line->json, "serial", line->row_is_serial);
		json_put_text(&line->json, "kind", line->row_kind);
		json_put_unsigned(&line->json, "pause_ns", line->row_pause_ns);
		json_put_known(&line->json, "heap_bytes", line->heap_bytes != 0, line->heap_bytes);
		json_end(&line->json, '}');
		return;
	}
	printf("%7" PRIu64 "  %+12.6f s  %-8s  %-10s  %12s  %16s\n", n,
	       (double)line->row_time_ns / 1e9, line->row_generation == 0 ? "nursery" : "major",
	       line->row_kind, text_duration(numbers[0], line->row_pause_ns),
	       line->heap_bytes != 0 ? text_number(numbers[1], line->heap_bytes) : "?");
}

/* A stop of the world is over: it is a row if the collector worked in it. */
static void close_pause(struct timeline *line, uint64_t time_ns)
{
	if (!line->is_stopped)
		return;
	line->is_stopped = false;
	if (!line->has_start && !line->has_end)
		return;
	put_row(line);
	line->has_row = true;
	line->row_time_ns = line->stopped_ns;
	line->row_pause_ns = time_ns > line->stopped_ns ? time_ns - line->stopped_ns : 0;
	line->row_generation = line->generation;
	line->row_is_serial = line->is_serial;
	line->row_kind = !line->has_end ? "concurrent" : !line->has_start ? "finish" : "full";
	if (line->generation == 0)
		line->n_minor++;
	else
		line->n_major++;
	line->pause_ns += line->row_pause_ns;
	if (line->row_pause_ns > line->max_pause_ns)
		line->max_pause_ns = line->row_pause_ns;
}

static void take_gc(struct timeline *line, const struct hs_gc_event *event, uint64_t time_ns)
{
	switch (event->phase) {
	case HEAPSHOT__GC_PHASE__GC_PHASE_POST_STOP_WORLD:
		line->is_stopped = true;
		line->stopped_ns = time_ns;
		line->has_start = line->has_end = false;
		/* At start and end the runtime states something else under this name. */
		line->is_serial = event->is_serial;
		line->generation = 0;
		return;
	case HEAPSHOT__GC_PHASE__GC_PHASE_POST_START_WORLD:
		close_pause(line, time_ns);
		return;
	case HEAPSHOT__GC_PHASE__GC_PHASE_START:
		line->has_start = true;
		break;
	case HEAPSHOT__GC_PHASE__GC_PHASE_END:
		line->has_end = true;
		break;
	default:
		return;
	}
	if (event->generation >= line->generation)
		line->generation = event->generation;
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
		take_gc(line, &event, record->time_ns);
		break;
	}
	case HEAPSHOT__RECORD__BODY_GC_RESIZE: {
		struct hs_gc_resize resize;

		if (hs_gc_resize_decode(body, &resize) != 0)
			return HEAPSHOT_READ_DAMAGED;
		line->n_resizes++;
		line->heap_bytes = resize.heap_bytes;
		if (line->heap_bytes > line->max_heap_bytes)
			line->max_heap_bytes = line->heap_bytes;
		break;
	}
	case HEAPSHOT__RECORD__BODY_LOSS: {
		Heapshot__Loss *loss =
			heapshot__loss__unpack(NULL, record->body_bytes, record->body);

		if (loss == NULL)
			return HEAPSHOT_READ_DAMAGED;
		line->n_lost += loss->count;
		heapshot__loss__free_unpacked(loss, NULL);
		break;
	}
	case HEAPSHOT__RECORD__BODY_GC_MOVES:
		line->n_moves++;
		break;
	case HEAPSHOT__RECORD__BODY_JIT_CHUNK:
		line->n_jit_chunks++;
		break;
	case HEAPSHOT__RECORD__BODY_JIT_METHOD:
		line->n_methods++;
		break;
	case HEAPSHOT__RECORD__BODY_GC_HANDLE:
		line->n_handles++;
		break;
	case HEAPSHOT__RECORD__BODY_COUNTER_SAMPLE:
		line->n_samples++;
		break;
	case HEAPSHOT__RECORD__BODY_MARKER:
		line->n_markers++;
		break;
	case HEAPSHOT__RECORD__BODY_THREAD:
		line->n_threads++;
		break;
	default:
		line->n_other++;
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

static void put_json_summary(struct timeline *line)
{
	const struct heapshot_summary *summary = heapshot_reader_summary(line->recording->reader);
	struct json *json = &line->json;

	json_end(json, ']');
	json_key(json, "summary");
	json_begin(json, '{');
	json_put_unsigned(json, "collections", line->n_minor + line->n_major);
	json_put_unsigned(json, "minor", line->n_minor);
	json_put_unsigned(json, "major", line->n_major);
	json_put_unsigned(json, "pause_ns", line->pause_ns);
	json_put_unsigned(json, "max_pause_ns", line->max_pause_ns);
	json_put_known(json, "max_heap_bytes", line->n_resizes != 0, line->max_heap_bytes);
	json_put_unsigned(json, "duration_ns", summary->last_time_ns);
	json_put_unsigned(json, "resizes", line->n_resizes);
	json_put_unsigned(json, "moves", line->n_moves);
	json_put_unsigned(json, "jit_chunks", line->n_jit_chunks);
	json_put_unsigned(json, "methods", line->n_methods);
	json_put_unsigned(json, "gc_handles", line->n_handles);
	json_put_unsigned(json, "counter_samples", line->n_samples);
	json_put_unsigned(json, "markers", line->n_markers);
	json_put_unsigned(json, "threads", line->n_threads);
	json_put_unsigned(json, "lost", line->n_lost);
	json_put_unsigned(json, "dropped_frames", summary->n_dropped);
	json_put_unsigned(json, "other", line->n_other);
	json_end(json, '}');
	json_end(json, '}');
	json_line(json);
}

static void put_summary(const struct timeline *line)
{
	const struct heapshot_summary *summary = heapshot_reader_summary(line->recording->reader);
	uint64_t n = line->n_minor + line->n_major;
	char numbers[6][TEXT_NUMBER_BYTES];

	if (line->limit != 0 && n > line->limit)
		printf("... and %s more collections (--limit 0 shows all)\n",
		       text_number(numbers[0], n - line->limit));
	printf("%s collections (%s nursery, %s major) in %s: paused %s, longest %s",
	       text_number(numbers[0], n), text_number(numbers[1], line->n_minor),
	       text_number(numbers[2], line->n_major),
	       text_duration(numbers[3], summary->last_time_ns),
	       text_duration(numbers[4], line->pause_ns),
	       text_duration(numbers[5], line->max_pause_ns));
	if (line->n_resizes != 0)
		printf("; largest heap %s bytes", text_number(numbers[0], line->max_heap_bytes));
	putchar('\n');
	if (line->n_lost != 0)
		printf("lost: %s records, for which the recorder had no room\n",
		       text_number(numbers[0], line->n_lost));
}

/* Whether the module was told to keep events in a ring, and this is not what it holds. */
static bool is_beside_ring(const struct timeline *line)
{
	const char *options = heapshot_reader_header(line->recording->reader)->options;
	const char *found = strstr(options, "ring=");

	return line->n_minor + line->n_major + line->n_markers == 0 && found != NULL &&
	       (found == options || found[-1] == ',') &&
	       !heapshot_reader_summary(line->recording->reader)->is_ring;
}

int cli_events(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct timeline line = {.recording = &recording, .arguments = &arguments};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments, RECORDING_ALL);
	if (status != CLI_OK)
		return status;
	line.limit = arguments.has_limit ? arguments.limit : arguments.is_json ? 0 : DEFAULT_LIMIT;
	if (arguments.is_json) {
		json_begin(&line.json, '{');
		json_key(&line.json, "collections");
		json_begin_rows(&line.json);
	} else {
		text_put_masked(stdout, recording.path);
		printf("\n%7s  %14s  %-8s  %-10s  %12s  %16s\n", "NUMBER", "TIME", "PART", "KIND",
		       "PAUSE", "HEAP BYTES");
	}
	status = read_events(&line);
	put_row(&line);
	if (arguments.is_json)
		put_json_summary(&line);
	else
		put_summary(&line);
	if (status == CLI_OK && is_beside_ring(&line))
		cli_message("%s: its events are in %s.ring", recording.path, recording.path);
	return recording_close(&recording, status);
}
