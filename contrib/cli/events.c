/* SPDX-License-Identifier: MIT */
/*
 * heapshot events: the collections as a time line, with pauses and the size of
 * the heap, and a summary of the rest.  Rows are written as they are read.
 */
#include <inttypes.h>
#include <string.h>

#include "contrib/cli/events.h"
#include "contrib/cli/text.h"

#define DEFAULT_LIMIT 50

struct output {
	const struct cli_arguments *arguments;
	struct json json;
	uint64_t limit; /* rows, 0: all */
};

void events_put_row(struct json *json, const struct events_row *row)
{
	json_begin(json, '{');
	json_put_unsigned(json, "number", row->number);
	json_put_unsigned(json, "time_ns", row->time_ns);
	json_put_unsigned(json, "generation", row->generation);
	json_put_bool(json, "serial", row->is_serial);
	json_put_text(json, "kind", row->kind);
	json_put_unsigned(json, "pause_ns", row->pause_ns);
	json_put_known(json, "heap_bytes", row->heap_bytes != 0, row->heap_bytes);
	json_end(json, '}');
}

static void put_row(void *user_data, const struct events_row *row)
{
	struct output *output = user_data;
	char numbers[2][TEXT_NUMBER_BYTES];

	if (output->limit != 0 && row->number > output->limit)
		return;
	if (output->arguments->is_json) {
		events_put_row(&output->json, row);
		return;
	}
	printf("%7" PRIu64 "  %+12.6f s  %-8s  %-10s  %12s  %16s\n", row->number,
	       (double)row->time_ns / 1e9, row->generation == 0 ? "nursery" : "major", row->kind,
	       text_duration(numbers[0], row->pause_ns),
	       row->heap_bytes != 0 ? text_number(numbers[1], row->heap_bytes) : "?");
}

void events_put_sums(struct json *json, const struct recording *recording,
		     const struct events_sums *sums)
{
	const struct heapshot_summary *summary = heapshot_reader_summary(recording->reader);

	json_begin(json, '{');
	json_put_unsigned(json, "collections", sums->n_minor + sums->n_major);
	json_put_unsigned(json, "minor", sums->n_minor);
	json_put_unsigned(json, "major", sums->n_major);
	json_put_unsigned(json, "pause_ns", sums->pause_ns);
	json_put_unsigned(json, "max_pause_ns", sums->max_pause_ns);
	json_put_known(json, "max_heap_bytes", sums->n_resizes != 0, sums->max_heap_bytes);
	json_put_unsigned(json, "duration_ns", summary->last_time_ns);
	json_put_unsigned(json, "resizes", sums->n_resizes);
	json_put_unsigned(json, "moves", sums->n_moves);
	json_put_unsigned(json, "jit_chunks", sums->n_jit_chunks);
	json_put_unsigned(json, "methods", sums->n_methods);
	json_put_unsigned(json, "gc_handles", sums->n_handles);
	json_put_unsigned(json, "counter_samples", sums->n_samples);
	json_put_unsigned(json, "markers", sums->n_markers);
	json_put_unsigned(json, "threads", sums->n_threads);
	json_put_unsigned(json, "lost", sums->n_lost);
	json_put_unsigned(json, "dropped_frames", summary->n_dropped);
	json_put_unsigned(json, "other", sums->n_other);
	json_end(json, '}');
}

static void put_summary(const struct recording *recording, const struct events_sums *sums,
			uint64_t limit)
{
	const struct heapshot_summary *summary = heapshot_reader_summary(recording->reader);
	uint64_t n = sums->n_minor + sums->n_major;
	char numbers[6][TEXT_NUMBER_BYTES];

	if (limit != 0 && n > limit)
		printf("... and %s more collections (--limit 0 shows all)\n",
		       text_number(numbers[0], n - limit));
	printf("%s collections (%s nursery, %s major) in %s: paused %s, longest %s",
	       text_number(numbers[0], n), text_number(numbers[1], sums->n_minor),
	       text_number(numbers[2], sums->n_major),
	       text_duration(numbers[3], summary->last_time_ns),
	       text_duration(numbers[4], sums->pause_ns),
	       text_duration(numbers[5], sums->max_pause_ns));
	if (sums->n_resizes != 0)
		printf("; largest heap %s bytes", text_number(numbers[0], sums->max_heap_bytes));
	putchar('\n');
	if (sums->n_lost != 0)
		printf("lost: %s records, for which the recorder had no room\n",
		       text_number(numbers[0], sums->n_lost));
}

bool events_are_beside(const struct recording *recording, const struct events_sums *sums)
{
	const char *options = heapshot_reader_header(recording->reader)->options;
	const char *found = strstr(options, "ring=");

	return sums->n_minor + sums->n_major + sums->n_markers == 0 && found != NULL &&
	       (found == options || found[-1] == ',') &&
	       !heapshot_reader_summary(recording->reader)->is_ring;
}

int cli_events(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct events_sums sums;
	struct output output = {.arguments = &arguments};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments, RECORDING_ALL);
	if (status != CLI_OK)
		return status;
	output.limit = arguments.has_limit ? arguments.limit
		       : arguments.is_json ? 0
					   : DEFAULT_LIMIT;
	if (arguments.is_json) {
		json_begin(&output.json, '{');
		json_key(&output.json, "collections");
		json_begin_rows(&output.json);
	} else {
		text_put_masked(stdout, recording.path);
		printf("\n%7s  %14s  %-8s  %-10s  %12s  %16s\n", "NUMBER", "TIME", "PART", "KIND",
		       "PAUSE", "HEAP BYTES");
	}
	status = events_read(&recording, put_row, &output, &sums);
	if (arguments.is_json) {
		json_end(&output.json, ']');
		json_key(&output.json, "summary");
		events_put_sums(&output.json, &recording, &sums);
		json_end(&output.json, '}');
		json_line(&output.json);
	} else {
		put_summary(&recording, &sums, output.limit);
	}
	if (status == CLI_OK && events_are_beside(&recording, &sums))
		cli_message("%s: its events are in %s.ring", recording.path, recording.path);
	return recording_close(&recording, status);
}
