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

static ssize_t read_pieces(void *user_data, uint64_t offset, void *buffer, size_t size)
{
	const struct hs_ring_view *ring = user_data;
	size_t low = 0, high = ring->n, done = 0;

	/* The last piece that starts at or before OFFSET. */
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (ring->pieces[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	for (; low < ring->n && done < size; low++) {
		const struct hs_ring_piece *piece = &ring->pieces[low];
		const uint64_t skip = offset + done - piece->start;
		size_t want = size - done;
		ssize_t n;

		if (skip >= piece->bytes)
			break;
		if (want > piece->bytes - skip)
			want = (size_t)(piece->bytes - skip);
		n = hs_source_read(&ring->file, piece->at + skip, (char *)buffer + done, want);
		if (n < 0)
			return n;
		done += (size_t)n;
		if ((size_t)n < want)
			break;
	}
	return (ssize_t)done;
}

static void sift(struct hs_ring_piece *pieces, size_t root, size_t n)
{
	for (;;) {
		size_t child = 2 * root + 1;
		struct hs_ring_piece swap;

		if (child >= n)
			return;
		if (child + 1 < n && (pieces[child + 1].seq > pieces[child].seq ||
				      (pieces[child + 1].seq == pieces[child].seq &&
				       pieces[child + 1].at > pieces[child].at)))
			child++;
		if (pieces[root].seq > pieces[child].seq ||
		    (pieces[root].seq == pieces[child].seq && pieces[root].at >= pieces[child].at))
			return;
		swap = pieces[root];
		pieces[root] = pieces[child];
		pieces[child] = swap;
		root = child;
	}
}

/* A heap sort: qsort may take as much memory again, uncounted. */
static void sort(struct hs_ring_piece *pieces, size_t n)
{
	size_t i;

	for (i = n / 2; i > 0; i--)
		sift(pieces, i - 1, n);
	for (i = n; i > 1; i--) {
		struct hs_ring_piece swap = pieces[0];

		pieces[0] = pieces[i - 1];
		pieces[i - 1] = swap;
		sift(pieces, 0, i - 1);
	}
}

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

/* Places them one behind the other; of two with one number the first stays. */
static uint64_t arrange(struct hs_ring_view *ring)
{
	uint64_t start = 0;
	size_t i, n = 0;

	sort(ring->pieces, ring->n);
	for (i = 0; i < ring->n; i++) {
		if (n > 0 && ring->pieces[n - 1].seq == ring->pieces[i].seq)
			continue;
		ring->pieces[n] = ring->pieces[i];
		ring->pieces[n].start = start;
		start += ring->pieces[n++].bytes;
	}
	ring->n = n;
	return start;
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
	size = arrange(ring);
	if (is_broken || has_gap(ring)) {
		const size_t n_before = ring->n;

		result = search(reader);
		if (result != HEAPSHOT_READ_OK)
			return result;
		size = arrange(ring);
		if (ring->n > n_before && !is_broken)
			note(reader, HS_RING_HEADER_BYTES, 8);
	}
	ring->file = reader->source;
	/* Sources of our own point to themselves. */
	if (ring->file.user_data == &reader->source)
		ring->file.user_data = &ring->file;
	hs_source_open_callback(&reader->source, read_pieces, ring, size);
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
