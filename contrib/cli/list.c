/* SPDX-License-Identifier: MIT */
/*
 * heapshot list: the snapshots of a recording, from tags and from the records
 * that begin and end them.
 */
#include <inttypes.h>
#include <string.h>

#include "contrib/cli/json.h"
#include "contrib/cli/linear_memory.h"
#include "contrib/cli/recording.h"
#include "contrib/cli/text.h"

/* Where memory has a maximum: how full it was. */
static void put_memory_json(struct json *json, const struct counters *counters,
			    const struct heapshot_snapshot *snapshot)
{
	struct linear_memory memory;

	json_key(json, "memory");
	if (!linear_memory_at(counters, snapshot, &memory)) {
		json_null(json);
		return;
	}
	json_begin(json, '{');
	json_put_unsigned(json, "live", memory.live);
	json_put_unsigned(json, "free", memory.free);
	json_put_unsigned(json, "native", memory.native);
	json_put_unsigned(json, "total", memory.total);
	json_put_unsigned(json, "maximum", memory.maximum);
	json_end(json, '}');
}

static void put_json(const struct heapshot_snapshot *snapshots, size_t n,
		     const struct counters *counters, const struct heapshot_summary *summary)
{
	struct json json = {0};
	size_t i;

	json_begin(&json, '{');
	json_key(&json, "snapshots");
	json_begin_rows(&json);
	for (i = 0; i < n; i++) {
		const struct heapshot_snapshot *snapshot = &snapshots[i];
		bool has_end = snapshot->has_end;

		json_begin(&json, '{');
		json_put_unsigned(&json, "id", snapshot->id);
		json_put_text(&json, "label", snapshot->label);
		json_put_text(&json, "trigger", snapshot->trigger);
		json_put_unsigned(&json, "time_ns", snapshot->time_ns);
		json_put_known(&json, "objects", has_end, snapshot->objects);
		json_put_known(&json, "references", has_end, snapshot->references);
		json_put_known(&json, "bytes", has_end, snapshot->bytes);
		json_put_known(&json, "roots", has_end, snapshot->roots);
		json_put_bool(&json, "complete", snapshot->is_complete);
		json_put_known(&json, "pause_ns", has_end, snapshot->pause_ns);
		json_put_text(&json, "fork", snapshot->fork);
		json_put_known(&json, "fork_ns", has_end, snapshot->fork_ns);
		json_put_known(&json, "child_cpu_ns", snapshot->child_cpu_ns != 0,
			       snapshot->child_cpu_ns);
		json_put_known(&json, "copied_bytes", snapshot->copied_bytes != 0,
			       snapshot->copied_bytes);
		json_put_text(&json, "note", snapshot->note);
		put_memory_json(&json, counters, snapshot);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_put_bool(&json, "ring", summary->is_ring);
	json_put_unsigned(&json, "dropped_frames", summary->n_dropped);
	json_put_unsigned(&json, "unkept_name_frames", summary->n_unkept);
	json_put_unsigned(&json, "left_out_frames", summary->n_left_out);
	json_end(&json, '}');
	json_line(&json);
}

static void put_row(struct text_table *table, const struct heapshot_snapshot *snapshot,
		    bool is_measure)
{
	char numbers[6][TEXT_NUMBER_BYTES], seconds[TEXT_NUMBER_BYTES];
	bool has_end = snapshot->has_end;
	const char *cells[] = {
		text_number(numbers[0], snapshot->id),
		seconds,
		has_end ? text_number(numbers[1], snapshot->objects) : "?",
		has_end ? text_number(numbers[2], snapshot->references) : "?",
		has_end ? text_number(numbers[3], snapshot->bytes) : "?",
		has_end ? text_number(numbers[4], snapshot->roots) : "?",
		has_end ? text_duration(numbers[5], snapshot->pause_ns) : "?",
		strcmp(snapshot->fork, "child") == 0 ? "child"
		: has_end                            ? "process"
						     : "?",
		snapshot->is_complete ? (snapshot->is_stats_only ? "stats" : "complete")
				      : "INCOMPLETE",
		snapshot->trigger,
		snapshot->label,
	};

	snprintf(seconds, sizeof(seconds), "+%.3f s", (double)snapshot->time_ns / 1e9);
	if (is_measure)
		text_table_measure(table, cells);
	else
		text_table_print(table, cells, false);
}

static void put_notes(const struct heapshot_snapshot *snapshots, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (*snapshots[i].note == '\0')
			continue;
		printf("snapshot %" PRIu64 ": ", snapshots[i].id);
		text_put_masked(stdout, snapshots[i].note);
		putchar('\n');
	}
}

static void put_memory(const struct heapshot_snapshot *snapshots, size_t n,
		       const struct counters *counters)
{
	struct linear_memory memory;
	char text[256];
	size_t i;

	for (i = 0; i < n; i++)
		if (linear_memory_at(counters, &snapshots[i], &memory))
			printf("snapshot %" PRIu64 ": %s\n", snapshots[i].id,
			       linear_memory_text(&memory, text));
}

static void put_table(const struct recording *recording, const struct heapshot_snapshot *snapshots,
		      size_t n, size_t n_all, const struct counters *counters)
{
	static const char *const titles[] = {"ID",    "TIME",    "OBJECTS", "REFERENCES",
					     "BYTES", "ROOTS",   "PAUSE",   "WRITER",
					     "STATE", "TRIGGER", "LABEL"};
	const struct heapshot_header *header = heapshot_reader_header(recording->reader);
	const struct heapshot_summary *summary = heapshot_reader_summary(recording->reader);
	struct text_table table = {.align = "rrrrrrrllll"};
	char wall[TEXT_NUMBER_BYTES], number[TEXT_NUMBER_BYTES], dropped[TEXT_NUMBER_BYTES];
	size_t i;

	text_put_masked(stdout, recording->path);
	printf(": recorded %s", text_wall_time(wall, header->wall_start_unix_ns));
	if (header->pid != 0)
		printf(", pid %" PRIu64, header->pid);
	if (*header->runtime != '\0') {
		fputs(", ", stdout);
		text_put_masked(stdout, header->runtime);
	}
	printf(", %s bytes\n", text_number(number, heapshot_reader_size_bytes(recording->reader)));
	if (summary->is_ring)
		printf("a ring of %s frames; %s older ones were dropped",
		       text_number(number, summary->n_frames),
		       text_number(dropped, summary->n_dropped));
	if (summary->is_ring && summary->n_unkept != 0)
		printf("; %s frames of names found no lasting place, a larger ring has one",
		       text_number(number, summary->n_unkept));
	if (summary->is_ring)
		putchar('\n');
	if (summary->n_left_out != 0)
		printf("a part of a recording; %s frames of it were left out\n",
		       text_number(dropped, summary->n_left_out));
	if (n_all == 0 && !summary->is_ring) {
		printf("no snapshots%s", *summary->end_note ? ": " : "");
		text_put_masked(stdout, summary->end_note);
		putchar('\n');
	}
	if (n_all == 0)
		return;
	text_table_measure(&table, titles);
	for (i = 0; i < n; i++)
		put_row(&table, &snapshots[i], true);
	text_table_print(&table, titles, true);
	for (i = 0; i < n; i++)
		put_row(&table, &snapshots[i], false);
	put_notes(snapshots, n);
	put_memory(snapshots, n, counters);
	if (n < n_all)
		printf("... and %s more (--limit 0 shows all)\n", text_number(number, n_all - n));
}

int cli_list(const struct cli_command *command, int argc, char **argv)
{
	const struct heapshot_snapshot *snapshots;
	struct cli_arguments arguments;
	struct recording recording;
	struct counters counters = {0};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);
	size_t n, n_all;

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments, RECORDING_ALL);
	if (status != CLI_OK)
		return status;
	/* Elsewhere a list need not read them. */
	if (linear_memory_is_there(&recording) &&
	    !counters_read(recording.reader, UINT64_MAX, &counters))
		return recording_close(&recording, cli_no_memory());
	snapshots = heapshot_reader_snapshots(recording.reader, &n_all);
	n = n_all;
	if (arguments.has_limit && arguments.limit != 0 && arguments.limit < n)
		n = (size_t)arguments.limit;
	if (arguments.is_json)
		put_json(snapshots, n, &counters, heapshot_reader_summary(recording.reader));
	else
		put_table(&recording, snapshots, n, n_all, &counters);
	counters_free(&counters);
	/* A recording that was cut before its first whole snapshot has nothing to show; a ring never has one. */
	if (!heapshot_reader_summary(recording.reader)->has_end &&
	    !heapshot_reader_summary(recording.reader)->is_ring &&
	    heapshot_reader_last_snapshot(recording.reader, 1) == NULL)
		recording.status = CLI_INCOMPLETE;
	return recording_close(&recording, CLI_OK);
}
