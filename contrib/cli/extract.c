/* SPDX-License-Identifier: MIT */
/*
 * heapshot extract: one snapshot as a recording of its own, of frames as they are:
 * the header, all that holds names, and those of the snapshot.
 */
#include <inttypes.h>

#include "contrib/cli/rewrite.h"
#include "contrib/cli/text.h"
#include "schema/heapshot.pb-c.h"

static bool is_wanted(const struct heapshot_frame *frame, const struct heapshot_snapshot *snapshot)
{
	switch (frame->kind) {
	case HEAPSHOT_FRAME_METADATA:
		return true;
	case HEAPSHOT_FRAME_SNAPSHOT_BEGIN:
	case HEAPSHOT_FRAME_SNAPSHOT_BODY:
	case HEAPSHOT_FRAME_SNAPSHOT_END:
		return frame->snapshot == (uint32_t)snapshot->id;
	case HEAPSHOT_FRAME_EVENTS:
	case HEAPSHOT_FRAME_END:
		return false;
	default:
		/* Of a later version; it may hold what the snapshot needs. */
		return frame->snapshot == 0 || frame->snapshot == (uint32_t)snapshot->id;
	}
}

/* The last frame: a part is whole as it is, however the recording ended. */
static int put_end(struct rewrite *rewrite)
{
	Heapshot__FrameStart start = HEAPSHOT__FRAME_START__INIT;
	Heapshot__End end = HEAPSHOT__END__INIT;
	Heapshot__Record first = HEAPSHOT__RECORD__INIT, last = HEAPSHOT__RECORD__INIT;
	Heapshot__Record *records[] = {&first, &last};
	Heapshot__Stream stream = HEAPSHOT__STREAM__INIT;
	struct heapshot_frame frame = {
		.kind = HEAPSHOT_FRAME_END,
		/* A frame that was lost last leaves a gap too. */
		.seq = rewrite->is_lost       ? rewrite->last_read + 1
		       : rewrite->has_written ? rewrite->last_written + 1
					      : 0,
		.time_ns = rewrite->last_time_ns,
	};
	uint8_t raw[128];

	start.stream = heapshot_reader_summary(rewrite->recording.reader)->stream;
	start.seq = frame.seq;
	start.time_ns = frame.time_ns;
	end.reason = HEAPSHOT__END_REASON__END_REASON_EXTRACTED;
	end.snapshots = 1;
	first.body_case = HEAPSHOT__RECORD__BODY_FRAME_START;
	first.frame_start = &start;
	last.body_case = HEAPSHOT__RECORD__BODY_END;
	last.end = &end;
	stream.n_record = 2;
	stream.record = records;
	return rewrite_put(rewrite, &frame, raw, heapshot__stream__pack(&stream, raw));
}

static int extract(struct rewrite *rewrite)
{
	struct recording *recording = &rewrite->recording;
	struct heapshot_totals totals;
	struct heapshot_frame frame;
	bool has_frame = true, is_whole;
	/* Says whether the snapshot is whole. */
	int status = recording_check(
		recording, heapshot_reader_totals(recording->reader, recording->snapshot, &totals));

	heapshot_reader_rewind(recording->reader, NULL);
	while (status == CLI_OK && has_frame) {
		status = rewrite_next(rewrite, &frame, &has_frame);
		if (status != CLI_OK || !has_frame || !is_wanted(&frame, recording->snapshot))
			continue;
		status = rewrite_load(rewrite, &frame, &is_whole);
		if (status == CLI_OK && is_whole)
			status = rewrite_copy(rewrite, &frame, 0);
	}
	return status == CLI_OK ? put_end(rewrite) : status;
}

static void report(const struct rewrite *rewrite)
{
	char numbers[2][TEXT_NUMBER_BYTES];
	struct json json = {0};

	if (rewrite->arguments->is_json) {
		json_begin(&json, '{');
		rewrite_put_json(rewrite, &json);
		json_put_unsigned(&json, "snapshot", rewrite->recording.snapshot->id);
		json_end(&json, '}');
		json_line(&json);
		return;
	}
	text_put_masked(stdout, rewrite->file.path);
	printf(": snapshot %" PRIu64 ", %s frames, %s bytes", rewrite->recording.snapshot->id,
	       text_number(numbers[0], rewrite->n_frames),
	       text_number(numbers[1], rewrite->file.bytes));
	rewrite_put_unknown(rewrite, "kept");
	putchar('\n');
}

int cli_extract_as(const struct cli_command *command, const struct cli_arguments *arguments)
{
	struct rewrite rewrite;
	int status = rewrite_open(&rewrite, command, arguments, RECORDING_SNAPSHOT);

	if (status != CLI_OK)
		return status;
	status = rewrite_finish(&rewrite, extract(&rewrite));
	if (status == CLI_OK && !rewrite.file.is_standard_output)
		report(&rewrite);
	return rewrite_close(&rewrite, status);
}

int cli_extract(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	return cli_extract_as(command, &arguments);
}
