/* SPDX-License-Identifier: MIT */
/*
 * One frame at a time: decompression into a fixed buffer, and the records in it.
 */
#include <errno.h>

#include "contrib/reader/reader.h"
#include "schema/wire.h"

#define BUFFER_BYTES_MIN (64u << 10)
#define TAG_BYTES_MAX    (8u + HS_TAG_PAYLOAD_MAX)

static void note_bad_frame(struct heapshot_reader *reader, const struct heapshot_frame *frame,
			   enum heapshot_issue_kind kind, const char *detail)
{
	struct heapshot_issue issue = {
		.kind = kind,
		.offset = frame->offset,
		.bytes = frame->body_offset - frame->offset + frame->compressed_bytes,
		.frames = 1,
		.seq = frame->seq,
		.frame_kind = frame->kind,
		.snapshot = frame->snapshot,
		.detail = detail,
	};

	hs_issue(reader, &issue);
}

static enum heapshot_read_result bad_frame(struct heapshot_reader *reader,
					   const struct heapshot_frame *frame, const char *detail)
{
	note_bad_frame(reader, frame, HEAPSHOT_ISSUE_BAD_FRAME, detail);
	return hs_fail(reader, HEAPSHOT_READ_DAMAGED, "frame %llu at offset %llu is damaged: %s",
		       (unsigned long long)frame->seq, (unsigned long long)frame->offset, detail);
}

enum heapshot_read_result hs_bad_record(struct heapshot_reader *reader, const char *detail)
{
	const struct heapshot_frame *frame = &reader->content.frame;

	note_bad_frame(reader, frame, HEAPSHOT_ISSUE_BAD_RECORD, detail);
	return hs_fail(reader, HEAPSHOT_READ_DAMAGED,
		       "a record of frame %llu at offset %llu cannot be decoded: %s",
		       (unsigned long long)frame->seq, (unsigned long long)frame->offset, detail);
}

/* Makes room for BYTES, at most MOST, in a buffer whose content is not wanted any more. */
static bool make_room(struct heapshot_reader *reader, struct hs_buffer *buffer, size_t bytes,
		      size_t most)
{
	size_t room = buffer->room ? buffer->room : BUFFER_BYTES_MIN;

	if (bytes <= buffer->room || buffer->room == most)
		return true;
	while (room < bytes && room < most)
		room *= 2;
	if (room > most)
		room = most;
	hs_memory_release(&reader->memory, buffer->data, buffer->room);
	buffer->data = hs_memory_grow(&reader->memory, NULL, 0, room);
	buffer->room = buffer->data != NULL ? room : 0;
	return buffer->data != NULL;
}

/* Memory as the frame needs it: small recordings do with little. */
static bool prepare(struct heapshot_reader *reader, const struct heapshot_frame *frame)
{
	if (reader->lz4 == NULL &&
	    LZ4F_isError(LZ4F_createDecompressionContext(&reader->lz4, LZ4F_VERSION)))
		reader->lz4 = NULL;
	/* A byte more, to see content that the tag does not state. */
	return reader->lz4 != NULL &&
	       make_room(reader, &reader->raw, frame->raw_bytes + 1, HS_FRAME_RAW_MAX) &&
	       make_room(reader, &reader->compressed, frame->compressed_bytes,
			 HS_FRAME_COMPRESSED_MAX);
}

/* Decompresses; NULL, or what is wrong. */
static const char *decompress(struct heapshot_reader *reader, const struct heapshot_frame *frame)
{
	LZ4F_decompressOptions_t options = {.stableDst = 1};
	LZ4F_frameInfo_t info = {0};
	const uint8_t *in = reader->compressed.data;
	size_t left = frame->compressed_bytes, used = left, out = 0, hint;

	LZ4F_resetDecompressionContext(reader->lz4);
	hint = LZ4F_getFrameInfo(reader->lz4, &info, in, &used);
	if (LZ4F_isError(hint))
		return "not an LZ4 frame";
	/* The block's size decides what the LZ4 library allocates. */
	if (info.blockSizeID == LZ4F_max4MB || info.frameType != LZ4F_frame || info.dictID != 0)
		return "an LZ4 frame of a form that is not allowed";
	in += used;
	left -= used;
	while (hint != 0) {
		size_t room = reader->raw.room - out;

		used = left;
		hint = LZ4F_decompress(reader->lz4, reader->raw.data + out, &room, in, &used,
				       &options);
		if (LZ4F_isError(hint))
			return "checksum or content of the LZ4 frame is wrong";
		out += room;
		in += used;
		left -= used;
		if (out > frame->raw_bytes)
			return "more content than the tag states";
		if (hint != 0 && room == 0 && used == 0)
			return left == 0 ? "the LZ4 frame is not whole"
					 : "more content than is allowed";
	}
	if (left != 0)
		return "the LZ4 frame is shorter than the tag states";
	if (out != frame->raw_bytes)
		return "less content than the tag states";
	return NULL;
}

/* Returns 1, 0 at the end, -1 when it cannot be decoded. */
static int next_record(struct hs_content *content, struct heapshot_record *record)
{
	struct hs_slice rest = {content->at, content->end}, message;
	struct hs_field field;
	int got;

	/* A record without a body has no bytes, but a place. */
	*record = (struct heapshot_record){.body = content->at};
	do {
		got = hs_field_next(&rest, &field);
		if (got <= 0)
			return got;
	} while (field.number != 1 || field.wire != HS_WIRE_BYTES);
	content->at = rest.data;
	message = field.bytes;
	if ((size_t)(message.end - message.data) > HS_RECORD_MAX)
		return -1;
	while ((got = hs_field_next(&message, &field)) > 0) {
		if (field.number == 2 && field.wire == HS_WIRE_VARINT) {
			content->time_ns += (uint64_t)hs_unzigzag(field.value);
		} else if (field.number != 2 && field.wire == HS_WIRE_BYTES) {
			/* Of several bodies the last counts, as in generated code. */
			record->n_unknown += record->field != 0;
			record->field = field.number;
			record->body = field.bytes.data;
			record->body_bytes = (size_t)(field.bytes.end - field.bytes.data);
		} else {
			record->n_unknown++;
		}
	}
	record->time_ns = content->time_ns;
	return got < 0 ? -1 : 1;
}

/* What is wrong with the FrameStart of the decompressed frame, or NULL. */
static const char *check_start(struct heapshot_reader *reader, const struct heapshot_frame *frame)
{
	struct heapshot_record record;
	Heapshot__FrameStart *start;
	const char *wrong = NULL;

	if (next_record(&reader->content, &record) <= 0 || record.field != 1)
		return "its first record is no FrameStart";
	start = heapshot__frame_start__unpack(NULL, record.body_bytes, record.body);
	if (start == NULL)
		return "its FrameStart cannot be decoded";
	if (start->stream != reader->summary.stream || start->seq != frame->seq)
		wrong = "its FrameStart is that of another frame";
	reader->content.time_ns = start->time_ns;
	heapshot__frame_start__free_unpacked(start, NULL);
	return wrong;
}

enum heapshot_read_result hs_frame_decode(struct heapshot_reader *reader,
					  const struct heapshot_frame *frame, const char **wrong)
{
	struct hs_content *content = &reader->content;
	ssize_t n;

	*content = (struct hs_content){.frame = *frame, .time_ns = frame->time_ns};
	if (!prepare(reader, frame))
		return hs_fail_memory(reader);
	n = hs_source_read(&reader->source, frame->body_offset, reader->compressed.data,
			   frame->compressed_bytes);
	if (n < 0)
		return hs_fail_io(reader, (int)-n);
	*wrong = (size_t)n < frame->compressed_bytes ? "the file became shorter"
						     : decompress(reader, frame);
	if (*wrong != NULL)
		return HEAPSHOT_READ_OK;
	content->at = reader->raw.data;
	content->end = reader->raw.data + frame->raw_bytes;
	*wrong = check_start(reader, frame);
	if (*wrong != NULL)
		content->at = content->end;
	return HEAPSHOT_READ_OK;
}

enum heapshot_read_result heapshot_reader_load_frame(struct heapshot_reader *reader,
						     const struct heapshot_frame *frame)
{
	enum heapshot_read_result result;
	const char *wrong;

	if (!reader->is_open || frame->raw_bytes > HS_FRAME_RAW_MAX ||
	    frame->compressed_bytes > HS_FRAME_COMPRESSED_MAX)
		return hs_fail(reader, HEAPSHOT_READ_MISUSE, "not a frame of this recording");
	result = hs_frame_decode(reader, frame, &wrong);
	if (result != HEAPSHOT_READ_OK)
		return result;
	return wrong == NULL ? HEAPSHOT_READ_OK : bad_frame(reader, frame, wrong);
}

enum heapshot_read_result heapshot_reader_frame_bytes(struct heapshot_reader *reader,
						      struct heapshot_frame_bytes *bytes)
{
	const struct heapshot_frame *frame = &reader->content.frame;
	const size_t tag_bytes = (size_t)(frame->body_offset - frame->offset);
	ssize_t n;

	if (reader->content.at == NULL)
		return hs_fail(reader, HEAPSHOT_READ_MISUSE, "no frame is loaded");
	if (!make_room(reader, &reader->tag, tag_bytes, TAG_BYTES_MAX))
		return hs_fail_memory(reader);
	n = hs_source_read(&reader->source, frame->offset, reader->tag.data, tag_bytes);
	if (n < 0 || (size_t)n < tag_bytes)
		return hs_fail_io(reader, n < 0 ? (int)-n : EIO);
	*bytes = (struct heapshot_frame_bytes){
		.tag = reader->tag.data,
		.tag_bytes = tag_bytes,
		.body = reader->compressed.data,
		.body_bytes = frame->compressed_bytes,
		.content = reader->raw.data,
		.content_bytes = frame->raw_bytes,
	};
	return HEAPSHOT_READ_OK;
}

enum heapshot_read_result heapshot_reader_next_record(struct heapshot_reader *reader,
						      struct heapshot_record *record)
{
	int n;

	if (reader->content.at == NULL)
		return hs_fail(reader, HEAPSHOT_READ_MISUSE, "no frame is loaded");
	n = next_record(&reader->content, record);
	if (n > 0)
		return HEAPSHOT_READ_OK;
	reader->content.at = reader->content.end;
	return n == 0 ? HEAPSHOT_READ_END : hs_bad_record(reader, "the record's fields");
}

enum heapshot_read_result
hs_read_all(struct heapshot_reader *reader, enum heapshot_frame_kind kind,
	    enum heapshot_read_result (*take)(struct heapshot_reader *reader,
					      const struct heapshot_record *record))
{
	enum heapshot_read_result result, all = HEAPSHOT_READ_OK;
	struct heapshot_frame frame;
	struct heapshot_record record;

	heapshot_reader_rewind(reader, NULL);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		if (frame.kind != kind)
			continue;
		result = heapshot_reader_load_frame(reader, &frame);
		while (result == HEAPSHOT_READ_OK &&
		       (result = heapshot_reader_next_record(reader, &record)) ==
			       HEAPSHOT_READ_OK) {
			result = take(reader, &record);
			if (result == HEAPSHOT_READ_DAMAGED) {
				all = result;
				result = HEAPSHOT_READ_OK;
			}
		}
		if (result == HEAPSHOT_READ_DAMAGED)
			all = result;
		else if (result != HEAPSHOT_READ_END)
			return result;
	}
	return result == HEAPSHOT_READ_END ? all : result;
}

enum heapshot_read_result hs_read_body(
	struct heapshot_reader *reader, const struct heapshot_snapshot *snapshot,
	enum heapshot_read_result (*take)(void *user_data, const struct heapshot_record *record),
	void *user_data, bool *is_damaged)
{
	enum heapshot_read_result result;
	struct heapshot_frame frame;
	struct heapshot_record record;

	heapshot_reader_rewind(reader, snapshot);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		if (!hs_is_body(&frame, snapshot))
			continue;
		result = heapshot_reader_load_frame(reader, &frame);
		while (result == HEAPSHOT_READ_OK &&
		       (result = heapshot_reader_next_record(reader, &record)) ==
			       HEAPSHOT_READ_OK) {
			result = take(user_data, &record);
			if (result == HEAPSHOT_READ_DAMAGED) {
				*is_damaged = true;
				result = HEAPSHOT_READ_OK;
			}
		}
		if (result == HEAPSHOT_READ_DAMAGED)
			*is_damaged = true;
		else if (result != HEAPSHOT_READ_END)
			return result;
	}
	return result == HEAPSHOT_READ_END ? HEAPSHOT_READ_OK : result;
}
