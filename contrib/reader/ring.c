/* SPDX-License-Identifier: MIT */
/*
 * Ring files: all frames are found by hopping over the chain, sorted by their
 * numbers, and shown to the rest of the library as one file.
 *
 * A pad may cover frames that were given up, with their tags still in it, so
 * that tags are searched only where the chain is broken.
 */
#include <string.h>

#include "contrib/reader/reader.h"
#include "schema/ring.h"

/* Bytes in front of the first tag that a ring may have lost its header in. */
#define LOST_HEADER_BYTES (2 * HS_RING_HEADER_BYTES)

static enum heapshot_read_result add(struct heapshot_reader *reader, uint64_t at,
				     const struct hs_tag *tag, size_t length)
{
	struct hs_ring_view *ring = &reader->ring;

	if (!hs_memory_reserve(&reader->memory, &ring->pieces, ring->n, &ring->room,
			       sizeof(*ring->pieces)))
		return hs_fail_memory(reader);
	ring->pieces[ring->n++] = (struct hs_ring_piece){
		.seq = tag->seq,
		.at = at,
		.bytes = (uint32_t)length + tag->compressed_bytes,
		.raw_bytes = tag->raw_bytes,
		.tag_bytes = (uint16_t)length,
		.is_name = tag->kind == HS_FRAME_METADATA,
	};
	reader->has_stream = true;
	reader->summary.stream = tag->stream;
	return HEAPSHOT_READ_OK;
}

static void note(struct heapshot_reader *reader, uint64_t at, uint64_t bytes)
{
	struct heapshot_issue issue = {
		.kind = HEAPSHOT_ISSUE_DAMAGED, .offset = at, .bytes = bytes};

	hs_issue(reader, &issue);
}

static bool is_frame(const struct heapshot_reader *reader, uint64_t at, const struct hs_tag *tag,
		     int length)
{
	return length > 0 && hs_is_tag_good(tag) &&
	       (!reader->has_stream || tag->stream == reader->summary.stream) &&
	       tag->compressed_bytes <= reader->source.size - at - (uint64_t)length;
}

/* A pad behind a frame ends at the next place but one that is aligned. */
static bool is_pad_good(uint64_t at, uint64_t bytes)
{
	return at % HS_RING_ALIGN == 0 ? bytes % HS_RING_ALIGN == 0
				       : bytes == 2 * HS_RING_ALIGN - at % HS_RING_ALIGN;
}

/* Finds all frames from AT on; *is_broken: some may be left. */
static enum heapshot_read_result collect(struct heapshot_reader *reader, uint64_t at,
					 bool *is_broken)
{
	const uint64_t size = reader->source.size;
	enum heapshot_read_result result = HEAPSHOT_READ_OK;

	while (at < size && result == HEAPSHOT_READ_OK) {
		struct hs_tag tag;
		uint64_t skip, found = size;
		int length = hs_frame_tag(reader, at, &tag, &skip, &result);

		if (result != HEAPSHOT_READ_OK)
			break;
		if (skip > 0 && skip <= size - at && is_pad_good(at, skip)) {
			at += skip;
			continue;
		}
		if (is_frame(reader, at, &tag, length)) {
			result = add(reader, at, &tag, (size_t)length);
			at += (uint64_t)length + tag.compressed_bytes;
			continue;
		}
		*is_broken = true;
		result = hs_frame_find(reader, at + 1, size, &found);
		if (result == HEAPSHOT_READ_OK)
			note(reader, at, found - at);
		at = found;
	}
	return result;
}

/* Whether a frame is missing behind the first one that goes round, which no ring drops. */
static bool has_gap(const struct hs_ring_view *ring)
{
	bool is_in_lap = false;
	size_t i;

	for (i = 0; i < ring->n; i++) {
		if (is_in_lap && ring->pieces[i].seq != ring->pieces[i - 1].seq + 1)
			return true;
		is_in_lap = is_in_lap || !ring->pieces[i].is_name;
	}
	return false;
}

/* Damage may have led past frames: takes all there are, also those that were given up. */
static enum heapshot_read_result search(struct heapshot_reader *reader)
{
	const uint64_t size = reader->source.size;
	enum heapshot_read_result result = HEAPSHOT_READ_OK;
	uint64_t at = HS_RING_HEADER_BYTES;

	while (at < size && result == HEAPSHOT_READ_OK) {
		struct hs_tag tag;
		uint64_t skip, found = size;
		int length;

		result = hs_frame_find(reader, at, size, &found);
		if (result != HEAPSHOT_READ_OK || found == size)
			break;
		length = hs_frame_tag(reader, found, &tag, &skip, &result);
		at = found + 1;
		if (result != HEAPSHOT_READ_OK || !is_frame(reader, found, &tag, length))
			continue;
		result = add(reader, found, &tag, (size_t)length);
		/* What it covered may have been written anew. */
		at = found + (uint64_t)length;
	}
	return result;
}

/* Whether the file is a ring, and where its chain goes on behind the header. */
static enum heapshot_read_result look(struct heapshot_reader *reader, bool *is_ring, uint64_t *at)
{
	uint8_t start[HS_RING_HEADER_USED];
	struct hs_ring_header header;
	enum heapshot_read_result result;
	struct hs_tag tag;
	uint64_t skip;
	bool is_intact;
	ssize_t n = hs_source_read(&reader->source, 0, start, sizeof(start));

	*is_ring = false;
	if (n < 0)
		return hs_fail_io(reader, (int)-n);
	*at = HS_RING_HEADER_BYTES;
	if (n == (ssize_t)sizeof(start) && hs_ring_header_decode(start, &header, &is_intact)) {
		*is_ring = true;
		if (is_intact)
			reader->summary.n_unkept = header.n_unkept;
		else
			note(reader, 0, HS_RING_HEADER_BYTES);
		return HEAPSHOT_READ_OK;
	}
	/* A ring whose header was damaged: its frames say what they are. */
	if (hs_frame_tag(reader, 0, &tag, &skip, &result) > 0 || result != HEAPSHOT_READ_OK ||
	    reader->source.size <= LOST_HEADER_BYTES)
		return result;
	result = hs_frame_find(reader, 0, LOST_HEADER_BYTES, at);
	if (result != HEAPSHOT_READ_OK || *at == LOST_HEADER_BYTES ||
	    hs_frame_tag(reader, *at, &tag, &skip, &result) <= 0 || !(tag.flags & HS_TAG_FLAG_RING))
		return result;
	*is_ring = true;
	note(reader, 0, *at);
	return HEAPSHOT_READ_OK;
}

enum heapshot_read_result hs_ring_open(struct heapshot_reader *reader)
{
	struct hs_ring_view *ring = &reader->ring;
	enum heapshot_read_result result;
	uint64_t at, size;
	bool is_ring, is_broken = false;

	result = look(reader, &is_ring, &at);
	if (result != HEAPSHOT_READ_OK || !is_ring)
		return result;
	result = collect(reader, at, &is_broken);
	if (result != HEAPSHOT_READ_OK)
		return result;
	if (ring->n == 0)
		return hs_fail(reader, HEAPSHOT_READ_TRUNCATED,
			       "a ring without a whole frame in it");
	size = hs_ring_arrange(ring);
	if (is_broken || has_gap(ring)) {
		const size_t n_before = ring->n;

		result = search(reader);
		if (result == HEAPSHOT_READ_OK)
			result = hs_ring_part(reader);
		if (result != HEAPSHOT_READ_OK)
			return result;
		size = hs_ring_arrange(ring);
		if (ring->n > n_before && !is_broken)
			note(reader, HS_RING_HEADER_BYTES, 8);
	}
	ring->file = reader->source;
	/* Sources of our own point to themselves. */
	if (ring->file.user_data == &reader->source)
		ring->file.user_data = &ring->file;
	hs_source_open_callback(&reader->source, hs_ring_read, ring, size);
	ring->is_on = reader->summary.is_ring = true;
	return HEAPSHOT_READ_OK;
}

void hs_ring_close(struct heapshot_reader *reader)
{
	struct hs_ring_view *ring = &reader->ring;

	hs_memory_release(&reader->memory, ring->pieces, ring->room * sizeof(*ring->pieces));
	if (ring->is_on)
		hs_source_close(&ring->file);
	*ring = (struct hs_ring_view){.file = {.fd = -1}};
}
