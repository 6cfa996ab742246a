/* SPDX-License-Identifier: MIT */
/*
 * From one recording to another, frame by frame.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/message_json.h"
#include "contrib/cli/rewrite.h"
#include "contrib/cli/text.h"
#include "emit/frame.h"

int rewrite_open(struct rewrite *rewrite, const struct cli_command *command,
		 const struct cli_arguments *arguments, enum recording_want want)
{
	int status;

	*rewrite = (struct rewrite){.arguments = arguments};
	/* What is refused is refused before a large file is read. */
	status = newfile_open(&rewrite->file, command, arguments);
	if (status != CLI_OK)
		return status;
	rewrite->packed = malloc(hs_frame_bound(HS_FRAME_RAW_MAX));
	if (rewrite->packed == NULL)
		return newfile_close(&rewrite->file, cli_no_memory());
	status = recording_open(&rewrite->recording, command, arguments, want);
	if (status != CLI_OK) {
		free(rewrite->packed);
		return newfile_close(&rewrite->file, status);
	}
	heapshot_reader_rewind(rewrite->recording.reader, NULL);
	return CLI_OK;
}

int rewrite_next(struct rewrite *rewrite, struct heapshot_frame *frame, bool *has_frame)
{
	const uint32_t gaps = HS_TAG_FLAG_RING | HS_TAG_FLAG_PART;
	const enum heapshot_read_result result =
		heapshot_reader_next_frame(rewrite->recording.reader, frame);

	*has_frame = result == HEAPSHOT_READ_OK;
	if (!*has_frame)
		return recording_check(&rewrite->recording, result);
	if (rewrite->has_read && frame->seq != rewrite->last_read + 1 && !(frame->flags & gaps))
		rewrite->is_lost = true;
	rewrite->last_read = frame->seq;
	rewrite->has_read = true;
	return CLI_OK;
}

int rewrite_load(struct rewrite *rewrite, const struct heapshot_frame *frame, bool *is_whole)
{
	const enum heapshot_read_result result =
		heapshot_reader_load_frame(rewrite->recording.reader, frame);

	*is_whole = result == HEAPSHOT_READ_OK;
	if (result == HEAPSHOT_READ_DAMAGED)
		rewrite->is_lost = true;
	return recording_check(&rewrite->recording, result);
}

/* Flags of a frame that is about to be written with number SEQ. */
static uint16_t make_flags(struct rewrite *rewrite, uint32_t flags, uint64_t seq)
{
	const bool has_gap = rewrite->has_written && seq != rewrite->last_written + 1;

	/* Where something was lost, and something left out, the gap counts as lost. */
	if (rewrite->is_lost)
		flags &= ~(HS_TAG_FLAG_RING | HS_TAG_FLAG_PART);
	else if (has_gap && !(flags & HS_TAG_FLAG_RING))
		flags |= HS_TAG_FLAG_PART;
	rewrite->is_lost = false;
	return (uint16_t)flags;
}

static int write_frame(struct rewrite *rewrite, uint64_t seq, uint64_t time_ns, const void *tag,
		       size_t tag_bytes, const void *body, size_t body_bytes)
{
	int status = newfile_write(&rewrite->file, tag, tag_bytes);

	if (status == CLI_OK)
		status = newfile_write(&rewrite->file, body, body_bytes);
	rewrite->last_written = seq;
	rewrite->last_time_ns = time_ns;
	rewrite->has_written = true;
	rewrite->n_frames++;
	return status;
}

static void count_unknown(struct rewrite *rewrite, const struct heapshot_frame *frame)
{
	struct rewrite_unknown *unknown = &rewrite->unknown;
	struct heapshot_record record;

	if (frame->kind < HEAPSHOT_FRAME_METADATA || frame->kind > HEAPSHOT_FRAME_END)
		unknown->frames++;
	while (heapshot_reader_next_record(rewrite->recording.reader, &record) == HEAPSHOT_READ_OK)
		message_count_record(&record, &unknown->records, &unknown->fields);
}

int rewrite_copy(struct rewrite *rewrite, const struct heapshot_frame *frame, int level)
{
	uint8_t tag[8 + HS_TAG_PAYLOAD_MAX];
	struct heapshot_frame_bytes bytes;
	int status =
		recording_check(&rewrite->recording,
				heapshot_reader_frame_bytes(rewrite->recording.reader, &bytes));
	size_t size;

	if (status != CLI_OK)
		return status;
	count_unknown(rewrite, frame);
	size = level != 0
		       ? hs_frame_compress_body(rewrite->packed, hs_frame_bound(HS_FRAME_RAW_MAX),
						bytes.content, bytes.content_bytes, level)
		       : 0;
	if (size != 0 && size < bytes.body_bytes) {
		bytes.body = rewrite->packed;
		bytes.body_bytes = size;
	}
	memcpy(tag, bytes.tag, bytes.tag_bytes);
	hs_tag_change(tag, make_flags(rewrite, frame->flags, frame->seq),
		      (uint32_t)bytes.body_bytes);
	return write_frame(rewrite, frame->seq, frame->time_ns, tag, bytes.tag_bytes, bytes.body,
			   bytes.body_bytes);
}

int rewrite_put(struct rewrite *rewrite, const struct heapshot_frame *frame, const uint8_t *raw,
		size_t raw_bytes)
{
	const struct heapshot_summary *summary = heapshot_reader_summary(rewrite->recording.reader);
	struct hs_tag tag = {
		.kind = (uint8_t)frame->kind,
		.flags = make_flags(rewrite, frame->flags, frame->seq),
		.stream = summary->stream,
		.snapshot = frame->snapshot,
		.seq = frame->seq,
		.time_ns = frame->time_ns,
	};
	const size_t size = hs_frame_compress(rewrite->packed, hs_frame_bound(HS_FRAME_RAW_MAX),
					      raw, raw_bytes, &tag);

	if (size == 0) {
		cli_message("LZ4 made no frame of %zu bytes", raw_bytes);
		return CLI_IO;
	}
	return write_frame(rewrite, frame->seq, frame->time_ns, rewrite->packed, HS_TAG_BYTES,
			   rewrite->packed + HS_TAG_BYTES, size - HS_TAG_BYTES);
}

int rewrite_finish(struct rewrite *rewrite, int status)
{
	free(rewrite->packed);
	rewrite->packed = NULL;
	return newfile_close(&rewrite->file, status);
}

void rewrite_put_json(const struct rewrite *rewrite, struct json *json)
{
	json_put_text(json, "output", rewrite->file.path);
	json_put_unsigned(json, "frames", rewrite->n_frames);
	json_put_unsigned(json, "bytes", rewrite->file.bytes);
	json_put_unsigned(json, "unknown_frames", rewrite->unknown.frames);
	json_put_unsigned(json, "unknown_records", rewrite->unknown.records);
	json_put_unsigned(json, "unknown_fields", rewrite->unknown.fields);
}

void rewrite_put_unknown(const struct rewrite *rewrite, const char *verb)
{
	const struct rewrite_unknown *unknown = &rewrite->unknown;

	if (unknown->frames != 0 || unknown->records != 0 || unknown->fields != 0)
		printf("; of a later version, %s: %" PRIu64 " frames, %" PRIu64 " records, %" PRIu64
		       " fields",
		       verb, unknown->frames, unknown->records, unknown->fields);
}

int rewrite_close(struct rewrite *rewrite, int status)
{
	return recording_close(&rewrite->recording, status);
}
