/* SPDX-License-Identifier: MIT */
/*
 * From tag to tag.  Where a tag should stand and does not, the next one is
 * searched, so that damage costs what lies between two tags and no more.
 */
#include <string.h>

#include "contrib/reader/reader.h"

#define FIND_WINDOW_BYTES (64u << 10)
#define TAG_READ_BYTES    64

static uint32_t get32(const uint8_t *in)
{
	return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 |
	       (uint32_t)in[3] << 24;
}

int hs_frame_tag(struct heapshot_reader *reader, uint64_t offset, struct hs_tag *tag,
		 uint64_t *skip, enum heapshot_read_result *result)
{
	uint8_t buffer[8 + HS_TAG_PAYLOAD_MAX];
	ssize_t n = hs_source_read(&reader->source, offset, buffer, TAG_READ_BYTES);
	uint32_t magic;
	int length;

	*skip = 0;
	*result = HEAPSHOT_READ_OK;
	if (n < 0) {
		*result = hs_fail_io(reader, (int)-n);
		return -1;
	}
	if (n < 8) {
		static const uint8_t prefix[8] = {0x5B, 0x2A, 0x4D, 0x18};

		/* Later versions may have another length, so four bytes count. */
		return memcmp(buffer, prefix, n < 4 ? (size_t)n : 4) == 0 ? 0 : -1;
	}
	magic = get32(buffer);
	if ((magic & 0xFFFFFFF0u) == 0x184D2A50u && magic != HS_TAG_SKIPPABLE_MAGIC) {
		*skip = 8 + (uint64_t)get32(buffer + 4);
		return 0;
	}
	if (magic != HS_TAG_SKIPPABLE_MAGIC)
		return -1;
	length = hs_tag_decode(buffer, (size_t)n, tag);
	if (length == 0 && n == TAG_READ_BYTES) {
		n = hs_source_read(&reader->source, offset, buffer, sizeof(buffer));
		if (n < 0) {
			*result = hs_fail_io(reader, (int)-n);
			return -1;
		}
		length = hs_tag_decode(buffer, (size_t)n, tag);
	}
	return length;
}

enum heapshot_read_result hs_frame_find(struct heapshot_reader *reader, uint64_t from, uint64_t to,
					uint64_t *found)
{
	static const uint8_t magic[4] = {0x5B, 0x2A, 0x4D, 0x18};
	uint8_t *window = hs_memory_grow(&reader->memory, NULL, 0, FIND_WINDOW_BYTES);
	enum heapshot_read_result result = HEAPSHOT_READ_OK;
	uint64_t at = from;

	if (window == NULL)
		return hs_fail_memory(reader);
	*found = to;
	while (at < to && result == HEAPSHOT_READ_OK) {
		ssize_t n = hs_source_read(&reader->source, at, window, FIND_WINDOW_BYTES);
		const uint8_t *p = window;
		const uint8_t *end;

		if (n < 0) {
			result = hs_fail_io(reader, (int)-n);
			break;
		}
		if (n < (ssize_t)sizeof(magic))
			break;
		end = window + n - 3;
		while (p < end && (p = memchr(p, magic[0], (size_t)(end - p))) != NULL) {
			struct hs_tag tag;
			uint64_t skip, here = at + (uint64_t)(p - window);

			if (here >= to)
				break;
			if (memcmp(p, magic, sizeof(magic)) == 0 &&
			    hs_frame_tag(reader, here, &tag, &skip, &result) > 0 &&
			    (!reader->has_stream || tag.stream == reader->summary.stream)) {
				*found = here;
				goto out;
			}
			if (result != HEAPSHOT_READ_OK)
				break;
			p++;
		}
		at += (uint64_t)(end - window);
	}
out:
	hs_memory_release(&reader->memory, window, FIND_WINDOW_BYTES);
	return result;
}

/* Notes an issue of the way itself; later passes meet the same ones again. */
static void note(struct heapshot_reader *reader, const struct hs_cursor *cursor,
		 enum heapshot_issue_kind kind, uint64_t offset, uint64_t bytes,
		 const struct hs_tag *tag, const char *detail)
{
	struct heapshot_issue issue = {.kind = kind, .offset = offset, .bytes = bytes};

	if (cursor->is_quiet)
		return;
	if (tag != NULL) {
		issue.frames = 1;
		issue.seq = tag->seq;
		issue.frame_kind = tag->kind;
		issue.snapshot = tag->snapshot;
	}
	issue.detail = detail;
	hs_issue(reader, &issue);
}

/* No tag at the cursor: goes to the next one, or to the end. */
static enum heapshot_read_result resume(struct heapshot_reader *reader, struct hs_cursor *cursor)
{
	uint64_t lost = cursor->offset, found;
	enum heapshot_read_result result =
		hs_frame_find(reader, cursor->rescan, cursor->stop, &found);

	if (result != HEAPSHOT_READ_OK)
		return result;
	if (found == cursor->stop && reader->summary.has_end)
		note(reader, cursor, HEAPSHOT_ISSUE_TRAILING, lost, cursor->stop - lost, NULL,
		     NULL);
	else
		note(reader, cursor, HEAPSHOT_ISSUE_DAMAGED, found < lost ? found : lost,
		     found < lost ? lost - found : found - lost, NULL, NULL);
	cursor->offset = found;
	cursor->rescan = found + 1;
	return HEAPSHOT_READ_OK;
}

/* The file ends inside a frame; frames may follow if bytes in between were lost. */
static enum heapshot_read_result cut(struct heapshot_reader *reader, struct hs_cursor *cursor,
				     const struct hs_tag *tag)
{
	uint64_t found;
	enum heapshot_read_result result =
		hs_frame_find(reader, cursor->offset + 1, cursor->stop, &found);

	if (result != HEAPSHOT_READ_OK)
		return result;
	if (found < cursor->stop)
		note(reader, cursor, HEAPSHOT_ISSUE_DAMAGED, cursor->offset, found - cursor->offset,
		     tag, NULL);
	else
		note(reader, cursor,
		     reader->summary.has_end ? HEAPSHOT_ISSUE_TRAILING : HEAPSHOT_ISSUE_TRUNCATED,
		     cursor->offset, cursor->stop - cursor->offset, tag, NULL);
	cursor->offset = found;
	cursor->rescan = found + 1;
	return HEAPSHOT_READ_OK;
}

static void note_gap(struct heapshot_reader *reader, struct hs_cursor *cursor,
		     const struct hs_tag *tag)
{
	/* What a ring has dropped, or a copy left out, is no damage, however many gaps it makes. */
	if ((tag->flags & (HS_TAG_FLAG_RING | HS_TAG_FLAG_PART)) && tag->seq >= cursor->next_seq) {
		uint64_t *n = tag->flags & HS_TAG_FLAG_RING ? &reader->summary.n_dropped
							    : &reader->summary.n_left_out;

		if (!cursor->is_quiet)
			*n += tag->seq - cursor->next_seq;
	} else if (cursor->has_seq && tag->seq != cursor->next_seq && !cursor->is_quiet) {
		struct heapshot_issue issue = {
			.kind = HEAPSHOT_ISSUE_GAP,
			.offset = cursor->offset,
			.seq = cursor->next_seq,
			.frames = tag->seq > cursor->next_seq ? tag->seq - cursor->next_seq : 0,
			.detail = tag->seq > cursor->next_seq ? "" : "the numbers go back",
		};

		hs_issue(reader, &issue);
	}
	cursor->has_seq = true;
	cursor->next_seq = tag->seq + 1;
}

enum heapshot_read_result hs_frame_next(struct heapshot_reader *reader, struct hs_cursor *cursor,
					struct heapshot_frame *frame)
{
	const uint64_t end = reader->source.size;

	while (cursor->offset < end) {
		enum heapshot_read_result result;
		uint64_t here = cursor->offset, skip;
		struct hs_tag tag;
		int length;

		/* A frame that states to be longer than it is may hide those that are wanted. */
		if (here >= cursor->stop && cursor->rescan >= cursor->stop)
			break;
		if (here >= cursor->stop) {
			result = resume(reader, cursor);
			if (result != HEAPSHOT_READ_OK)
				return result;
			continue;
		}
		length = hs_frame_tag(reader, here, &tag, &skip, &result);
		if (result != HEAPSHOT_READ_OK)
			return result;
		if (skip > 0 && skip <= end - here) {
			cursor->offset = here + skip;
			cursor->rescan = cursor->offset + 1;
			continue;
		}
		if (length < 0 || (length == 0 && skip > 0))
			result = resume(reader, cursor);
		else if (length == 0)
			result = cut(reader, cursor, NULL);
		else if (reader->has_stream && tag.stream != reader->summary.stream) {
			note(reader, cursor, HEAPSHOT_ISSUE_SECOND, here, end - here, NULL, NULL);
			cursor->offset = end;
			return HEAPSHOT_READ_END;
		} else if (!hs_is_tag_good(&tag)) {
			note(reader, cursor, HEAPSHOT_ISSUE_REFUSED, here, (uint64_t)length, &tag,
			     "the tag states a size that is not allowed");
			cursor->offset = here + (uint64_t)length;
			cursor->rescan = cursor->offset;
			/* Its body is no tag; do not state it as damage of its own. */
			result = hs_frame_find(reader, cursor->offset, cursor->stop,
					       &cursor->offset);
		} else if (tag.compressed_bytes > end - here - (uint64_t)length) {
			result = cut(reader, cursor, &tag);
		} else {
			reader->has_stream = true;
			reader->summary.stream = tag.stream;
			note_gap(reader, cursor, &tag);
			*frame = (struct heapshot_frame){
				.offset = here,
				.body_offset = here + (uint64_t)length,
				.kind = tag.kind,
				.snapshot = tag.snapshot,
				.seq = tag.seq,
				.time_ns = tag.time_ns,
				.compressed_bytes = tag.compressed_bytes,
				.raw_bytes = tag.raw_bytes,
				.flags = tag.flags,
			};
			cursor->offset = frame->body_offset + tag.compressed_bytes;
			cursor->rescan = frame->body_offset;
			return HEAPSHOT_READ_OK;
		}
		if (result != HEAPSHOT_READ_OK)
			return result;
	}
	return HEAPSHOT_READ_END;
}

void heapshot_reader_rewind(struct heapshot_reader *reader,
			    const struct heapshot_snapshot *snapshot)
{
	reader->cursor = (struct hs_cursor){
		.offset = reader->first_offset,
		.stop = reader->last_offset + 1,
		.is_quiet = true,
	};
	if (snapshot != NULL) {
		reader->cursor.offset = snapshot->begin_offset;
		reader->cursor.stop = snapshot->last_offset + 1;
	}
	reader->cursor.rescan = reader->cursor.offset + 1;
	reader->content = (struct hs_content){0};
}

enum heapshot_read_result heapshot_reader_next_frame(struct heapshot_reader *reader,
						     struct heapshot_frame *frame)
{
	enum heapshot_read_result result;

	if (!reader->is_open)
		return hs_fail(reader, HEAPSHOT_READ_MISUSE, "no recording is open");
	result = hs_frame_next(reader, &reader->cursor, frame);
	if (result == HEAPSHOT_READ_OK && reader->progress != NULL)
		reader->progress(reader->progress_data, frame->offset, reader->source.size);
	return result;
}
