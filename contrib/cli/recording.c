/* SPDX-License-Identifier: MIT */
/*
 * Opening and closing; FILE@N; the words for issues.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/cli/recording.h"
#include "contrib/cli/text.h"
#include "contrib/cli/type_key.h"

/* Issues of one recording that are said one by one. */
#define SAID_MAX 5
/* The reader's memory; what commands make of it takes about as much again. */
#define READER_BYTES (32u << 20)

int recording_status(enum heapshot_read_result result)
{
	switch (result) {
	case HEAPSHOT_READ_OK:
	case HEAPSHOT_READ_END:
		return CLI_OK;
	case HEAPSHOT_READ_TRUNCATED:
	case HEAPSHOT_READ_INCOMPLETE:
		return CLI_INCOMPLETE;
	case HEAPSHOT_READ_DAMAGED:
		return CLI_DAMAGED;
	case HEAPSHOT_READ_NOT_RECORDING:
	case HEAPSHOT_READ_WRONG_VERSION:
		return CLI_NOT_RECORDING;
	case HEAPSHOT_READ_NOT_FOUND:
		return CLI_NOT_FOUND;
	case HEAPSHOT_READ_IO:
	case HEAPSHOT_READ_MEMORY:
	case HEAPSHOT_READ_MISUSE:
		break;
	}
	return CLI_IO;
}

bool recording_is_damage(const struct heapshot_issue *issue)
{
	switch (issue->kind) {
	case HEAPSHOT_ISSUE_DAMAGED:
	case HEAPSHOT_ISSUE_BAD_FRAME:
	case HEAPSHOT_ISSUE_REFUSED:
	case HEAPSHOT_ISSUE_BAD_RECORD:
	case HEAPSHOT_ISSUE_NO_HEADER:
		return true;
	default:
		return false;
	}
}

static const char *frame_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		"unknown",       "metadata",     "events", "snapshot begin",
		"snapshot body", "snapshot end", "end"};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}

void recording_describe(const struct heapshot_issue *issue, char *text, size_t size)
{
	char frame[128] = "";

	if (issue->frame_kind != 0 && issue->snapshot != 0)
		snprintf(frame, sizeof(frame), "frame %" PRIu64 " (%s of snapshot %" PRIu32 ")",
			 issue->seq, frame_kind_name(issue->frame_kind), issue->snapshot);
	else if (issue->frame_kind != 0)
		snprintf(frame, sizeof(frame), "frame %" PRIu64 " (%s)", issue->seq,
			 frame_kind_name(issue->frame_kind));
	switch (issue->kind) {
	case HEAPSHOT_ISSUE_TRUNCATED:
		snprintf(text, size,
			 "truncated at offset %" PRIu64 ": %" PRIu64
			 " bytes of an unfinished frame are left out",
			 issue->offset, issue->bytes);
		return;
	case HEAPSHOT_ISSUE_NO_END:
		snprintf(text, size,
			 "truncated or still being written: no end record at offset %" PRIu64,
			 issue->offset);
		return;
	case HEAPSHOT_ISSUE_DAMAGED:
		snprintf(text, size,
			 "damaged: %" PRIu64 " bytes at offset %" PRIu64 " hold no frame",
			 issue->bytes, issue->offset);
		return;
	case HEAPSHOT_ISSUE_BAD_FRAME:
	case HEAPSHOT_ISSUE_REFUSED:
		snprintf(text, size,
			 "damaged: %s at offset %" PRIu64 " is lost (%" PRIu64 " bytes): %s", frame,
			 issue->offset, issue->bytes, issue->detail);
		return;
	case HEAPSHOT_ISSUE_BAD_RECORD:
		snprintf(text, size,
			 "damaged: a record in %s at offset %" PRIu64 " cannot be decoded: %s",
			 frame, issue->offset, issue->detail);
		return;
	case HEAPSHOT_ISSUE_GAP:
		if (issue->frames == 0)
			snprintf(text, size,
				 "frames are out of order at offset %" PRIu64
				 ", where number %" PRIu64 " is due",
				 issue->offset, issue->seq);
		else
			snprintf(text, size,
				 "%" PRIu64 " frame%s missing before offset %" PRIu64
				 ", from number %" PRIu64,
				 issue->frames, issue->frames == 1 ? " is" : "s are", issue->offset,
				 issue->seq);
		return;
	case HEAPSHOT_ISSUE_TRAILING:
		snprintf(text, size,
			 "%" PRIu64 " bytes at offset %" PRIu64
			 " behind the end of the recording are left out",
			 issue->bytes, issue->offset);
		return;
	case HEAPSHOT_ISSUE_SECOND:
		snprintf(text, size,
			 "another recording begins at offset %" PRIu64
			 " and is not read; split the file there",
			 issue->offset);
		return;
	case HEAPSHOT_ISSUE_NO_HEADER:
		snprintf(text, size, "damaged: the file header is lost; 8-byte words are assumed");
		return;
	case HEAPSHOT_ISSUE_DROPPED:
		snprintf(text, size, "a ring: %" PRIu64 " older frame%s dropped for newer ones",
			 issue->frames, issue->frames == 1 ? " was" : "s were");
		return;
	}
	snprintf(text, size, "issue %d at offset %" PRIu64, (int)issue->kind, issue->offset);
}

/* Says issues that were not said yet. */
static void say_issues(struct recording *recording)
{
	const struct heapshot_issue *issues;
	bool is_truncated = false;
	uint64_t met;
	size_t n, i;

	issues = heapshot_reader_issues(recording->reader, &n, &met);
	for (i = 0; i < n; i++) {
		char text[512];

		is_truncated = is_truncated || issues[i].kind == HEAPSHOT_ISSUE_TRUNCATED;
		if (recording_is_damage(&issues[i]) &&
		    (recording->status == CLI_OK || recording->status == CLI_INCOMPLETE))
			recording->status = CLI_DAMAGED;
		if (i < recording->n_said ||
		    (issues[i].kind == HEAPSHOT_ISSUE_NO_END && is_truncated))
			continue;
		if (i == SAID_MAX)
			cli_message("%s: and %" PRIu64
				    " more of these; 'heapshot verify' lists them",
				    recording->path, met - i);
		if (i >= SAID_MAX)
			continue;
		recording_describe(&issues[i], text, sizeof(text));
		cli_message("%s: %s", recording->path, text);
	}
	recording->n_said = n;
}

void recording_say_bad_record(struct recording *recording, const struct heapshot_frame *frame,
			      const char *name, const char *then)
{
	recording->status = CLI_DAMAGED;
	if (recording->n_bad < SAID_MAX)
		cli_message("%s: damaged: a record '%s' of frame %" PRIu64 " at offset %" PRIu64
			    " cannot be decoded%s",
			    recording->path, name, frame->seq, frame->offset, then);
	else if (recording->n_bad == SAID_MAX)
		cli_message("%s: and more records like these", recording->path);
	recording->n_bad++;
}

static int fail(struct recording *recording, enum heapshot_read_result result)
{
	progress_stop();
	if (result == HEAPSHOT_READ_IO)
		cli_message("%s: cannot be read: %s", recording->path,
			    heapshot_reader_error(recording->reader));
	else
		cli_message("%s: %s%s", recording->path, heapshot_reader_error(recording->reader),
			    result != HEAPSHOT_READ_MEMORY ? ""
			    : recording->has_memory        ? "; give more by --memory"
							   : "; refused");
	return recording_status(result);
}

/* Splits FILE@N, unless a file of that very name exists. */
static int split_name(struct recording *recording, const struct cli_command *command,
		      const struct cli_arguments *arguments, enum recording_want want)
{
	const char *name = arguments->operands[0], *at = strrchr(name, '@');

	recording->path = name;
	recording->selector = arguments->snapshot;
	if (at == NULL || at == name || strchr(at, '/') != NULL || strcmp(name, "-") == 0 ||
	    access(name, F_OK) == 0)
		return CLI_OK;
	recording->copy = strndup(name, (size_t)(at - name));
	if (recording->copy == NULL)
		return cli_no_memory();
	if (strcmp(recording->copy, "-") != 0 && access(recording->copy, F_OK) != 0)
		return CLI_OK; /* the file is missing, whatever was meant */
	if (want == RECORDING_ALL)
		return cli_usage(command, "'%s': this command takes no snapshot", name);
	if (arguments->snapshot != NULL)
		return cli_usage(command, "a snapshot is given twice, as '%s' and by --snapshot",
				 at);
	recording->path = recording->copy;
	recording->selector = at + 1;
	return CLI_OK;
}

/* The last complete snapshot, with a graph if that is wanted and there is one; else the last of all. */
static int choose_last(struct recording *recording, bool is_graph_wanted)
{
	const struct heapshot_snapshot *snapshots;
	const struct heapshot_summary *summary = heapshot_reader_summary(recording->reader);
	size_t n, i;

	recording->snapshot = heapshot_reader_last_snapshot(recording->reader, 1);
	snapshots = heapshot_reader_snapshots(recording->reader, &n);
	/* `watch` leaves many without one. */
	for (i = n; is_graph_wanted && i > 0; i--)
		if (snapshots[i - 1].is_complete && !snapshots[i - 1].is_stats_only) {
			recording->snapshot = &snapshots[i - 1];
			break;
		}
	if (recording->snapshot == NULL && n > 0)
		recording->snapshot = &snapshots[n - 1];
	if (recording->snapshot != NULL)
		return CLI_OK;
	say_issues(recording);
	cli_message("%s: no snapshot in it%s%s", recording->path, *summary->end_note ? ": " : "",
		    summary->end_note);
	if (recording->status != CLI_OK)
		return recording->status;
	return summary->has_end ? CLI_NOT_FOUND : CLI_INCOMPLETE;
}

static int choose(struct recording *recording, const struct cli_command *command,
		  enum recording_want want)
{
	const char *selector = recording->selector;
	bool is_back = selector != NULL && *selector == '-';
	unsigned long long number;
	size_t n;
	char *end;

	if (selector == NULL || strcmp(selector, "last") == 0)
		return choose_last(recording, want == RECORDING_GRAPH);
	errno = 0;
	number = strtoull(selector + is_back, &end, 10);
	if (selector[is_back] < '0' || selector[is_back] > '9' || *end != '\0' || errno != 0 ||
	    (is_back && number == 0))
		return cli_usage(
			command,
			"'%s' is no snapshot: give a number, 'last', or -2 for the second last",
			selector);
	recording->snapshot = is_back ? heapshot_reader_last_snapshot(recording->reader, number)
				      : heapshot_reader_snapshot(recording->reader, number);
	if (recording->snapshot != NULL)
		return CLI_OK;
	heapshot_reader_snapshots(recording->reader, &n);
	cli_message("%s: no snapshot %s; it has %zu, see 'heapshot list'", recording->path,
		    selector, n);
	return CLI_NOT_FOUND;
}

/* Opens the file; CLI_OK, or a status, said. */
static int open_file(struct recording *recording, const struct cli_command *command,
		     const struct cli_arguments *arguments)
{
	struct heapshot_reader_options options = {
		.size = sizeof(options),
		.memory_bytes =
			arguments->memory_bytes != 0 ? arguments->memory_bytes : READER_BYTES,
	};
	enum heapshot_read_result result;

	if (strcmp(recording->path, "-") == 0 && isatty(STDIN_FILENO))
		return cli_usage(command, "standard input is a terminal; give a file");
	recording->reader = heapshot_reader_new(&options);
	if (recording->reader == NULL)
		return cli_no_memory();
	progress_start(recording->reader);
	result = heapshot_reader_open_file(recording->reader, recording->path);
	return result == HEAPSHOT_READ_OK ? CLI_OK : fail(recording, result);
}

int recording_open_beside(struct recording *recording, const struct recording *first,
			  const struct cli_command *command, const struct cli_arguments *arguments,
			  enum recording_want want)
{
	int status;

	/* A reader that goes away ends us quietly. */
	signal(SIGPIPE, SIG_DFL);
	*recording = (struct recording){.has_memory = (command->options & CLI_MEMORY) != 0};
	status = split_name(recording, command, arguments, want);
	if (status == CLI_OK && first != NULL && strcmp(first->path, recording->path) == 0) {
		recording->reader = first->reader;
		recording->is_shared = true;
	} else if (status == CLI_OK) {
		status = open_file(recording, command, arguments);
	}
	if (status == CLI_OK &&
	    (want == RECORDING_SNAPSHOT || want == RECORDING_GRAPH || recording->selector != NULL))
		status = choose(recording, command, want);
	if (status != CLI_OK) {
		progress_stop();
		if (!recording->is_shared)
			heapshot_reader_free(recording->reader);
		free(recording->copy);
	}
	return status;
}

int recording_open(struct recording *recording, const struct cli_command *command,
		   const struct cli_arguments *arguments, enum recording_want want)
{
	return recording_open_beside(recording, NULL, command, arguments, want);
}

int recording_check(struct recording *recording, enum heapshot_read_result result)
{
	switch (result) {
	case HEAPSHOT_READ_OK:
	case HEAPSHOT_READ_END:
		return CLI_OK;
	case HEAPSHOT_READ_DAMAGED:
		/* The issues tell the places; a sum that wraps has none. */
		recording->status = CLI_DAMAGED;
		return CLI_OK;
	case HEAPSHOT_READ_INCOMPLETE:
		if (recording->status == CLI_OK) {
			progress_stop();
			cli_message("%s: incomplete: %s", recording->path,
				    heapshot_reader_error(recording->reader));
			recording->status = CLI_INCOMPLETE;
		}
		return CLI_OK;
	default:
		return fail(recording, result);
	}
}

int recording_end(struct recording *recording, int status)
{
	progress_stop();
	fflush(stdout);
	if (!recording->is_shared)
		say_issues(recording);
	if (status == CLI_OK)
		status = recording->status;
	if (!recording->is_shared)
		heapshot_reader_free(recording->reader);
	free(recording->copy);
	return status;
}

int recording_close(struct recording *recording, int status)
{
	return cli_finish(recording_end(recording, status));
}

void recording_print_title(const struct recording *recording)
{
	const struct heapshot_header *header = heapshot_reader_header(recording->reader);
	const struct heapshot_snapshot *snapshot = recording->snapshot;
	char wall[TEXT_NUMBER_BYTES];

	text_put_masked(stdout, recording->path);
	if (snapshot != NULL) {
		printf(", snapshot %" PRIu64, snapshot->id);
		if (*snapshot->label != '\0') {
			fputs(" \"", stdout);
			text_put_masked(stdout, snapshot->label);
			putchar('"');
		}
		if (*snapshot->trigger != '\0') {
			fputs(", trigger ", stdout);
			text_put_masked(stdout, snapshot->trigger);
		}
		printf(", %s (+%.3f s)%s",
		       text_wall_time(wall, header->wall_start_unix_ns
						    ? header->wall_start_unix_ns + snapshot->time_ns
						    : 0),
		       (double)snapshot->time_ns / 1e9,
		       snapshot->is_complete ? "" : ", INCOMPLETE");
	}
	putchar('\n');
}

const char *recording_type_name(const struct recording *recording, uint32_t type, char *buffer)
{
	const struct type_key key = type_key_of(recording, type);

	return type_key_name(&key, buffer);
}
