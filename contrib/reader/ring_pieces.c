/* SPDX-License-Identifier: MIT */
/*
 * The frames that were found in a ring file: which of them count, their order,
 * and how they are read as one file.
 */
#include "contrib/reader/reader.h"
#include "contrib/reader/sort.h"

ssize_t hs_ring_read(void *user_data, uint64_t offset, void *buffer, size_t size)
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

static inline bool has_earlier_number(const struct hs_ring_piece *a, const struct hs_ring_piece *b)
{
	return a->seq != b->seq ? a->seq < b->seq : a->at < b->at;
}

static inline bool has_earlier_place(const struct hs_ring_piece *a, const struct hs_ring_piece *b)
{
	return a->at < b->at;
}

HS_DEFINE_SORT(sort_by_number, struct hs_ring_piece, has_earlier_number)
HS_DEFINE_SORT(sort_by_place, struct hs_ring_piece, has_earlier_place)

/* Whether the frame is whole; *left bytes at most are read to learn that. */
static enum heapshot_read_result check(struct heapshot_reader *reader,
				       const struct hs_ring_piece *piece, uint64_t *left,
				       bool *is_intact)
{
	const struct heapshot_frame frame = {
		.body_offset = piece->at + piece->tag_bytes,
		.seq = piece->seq,
		.compressed_bytes = piece->bytes - piece->tag_bytes,
		.raw_bytes = piece->raw_bytes,
	};
	enum heapshot_read_result result;
	const char *wrong;

	*is_intact = false;
	if (piece->bytes > *left)
		return HEAPSHOT_READ_OK;
	*left -= piece->bytes;
	result = hs_frame_decode(reader, &frame, &wrong);
	*is_intact = result == HEAPSHOT_READ_OK && wrong == NULL;
	return result;
}

enum heapshot_read_result hs_ring_part(struct heapshot_reader *reader)
{
	struct hs_ring_view *ring = &reader->ring;
	/* Tags without their frames may lie close together, each stating a large one. */
	uint64_t left = 4 * reader->source.size;
	enum heapshot_read_result result = HEAPSHOT_READ_OK;
	bool is_known = false, is_intact = false;
	size_t i, n = 0;

	sort_by_place(ring->pieces, ring->n);
	for (i = 0; i < ring->n && result == HEAPSHOT_READ_OK; i++) {
		struct hs_ring_piece *last = &ring->pieces[n - (n > 0)];
		const struct hs_ring_piece piece = ring->pieces[i];
		bool is_piece_intact = false;

		if (n > 0 && piece.at == last->at)
			continue;
		if (n > 0 && piece.at < last->at + last->bytes) {
			if (!is_known)
				result = check(reader, last, &left, &is_intact);
			is_known = true;
			/* What looks like a tag inside of an intact frame is its content. */
			if (result != HEAPSHOT_READ_OK || is_intact)
				continue;
			result = check(reader, &piece, &left, &is_piece_intact);
			if (!is_piece_intact && piece.seq < last->seq)
				continue;
			n--;
			is_known = true;
			is_intact = is_piece_intact;
		} else {
			is_known = false;
		}
		ring->pieces[n++] = piece;
	}
	ring->n = n;
	return result;
}

/* Of two with one number the first stays. */
uint64_t hs_ring_arrange(struct hs_ring_view *ring)
{
	uint64_t start = 0;
	size_t i, n = 0;

	sort_by_number(ring->pieces, ring->n);
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
