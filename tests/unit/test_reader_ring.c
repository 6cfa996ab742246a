/* SPDX-License-Identifier: MIT */
/*
 * The reader on ring files: frames in the order of their numbers, names that
 * outlive the events, what was dropped stated; and on rings that were changed
 * or cut: a frame costs itself only, in bounded memory.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/heapshot-reader.h"
#include "emit/ring.h"
#include "emit/stream.h"
#include "tests/unit/leak_check.h"

TestSuite(reader_ring, .fini = leak_check);

#define FILE_BYTES (64u << 10)
#define ID         77u
#define N_TYPES    20u

#if defined(__SANITIZE_ADDRESS__)
#define STEP 211
#else
#define STEP 29
#endif

struct ring_image {
	uint8_t *bytes;
	struct hs_ring ring;
	struct hs_stream *stream;
	struct hs_sink sink;
	uint64_t n_events;
};

static int image_write(void *data, uint64_t at, const void *bytes, size_t size)
{
	memcpy((uint8_t *)data + at, bytes, size);
	return 0;
}

static int image_read(void *data, uint64_t at, void *bytes, size_t size)
{
	memcpy(bytes, (uint8_t *)data + at, size);
	return 0;
}

static int put_frame(const void *frame, size_t size, void *ring)
{
	return hs_ring_put(ring, frame, size);
}

static void put(struct ring_image *image, enum hs_frame_kind kind, Heapshot__Record__BodyCase body,
		void *message)
{
	Heapshot__Record record = HEAPSHOT__RECORD__INIT;

	record.body_case = body;
	record.header = message;
	cr_assert_eq(hs_stream_put(image->stream, kind, image->n_events, &record, 0), 0);
}

static void put_type(struct ring_image *image, uint32_t id)
{
	Heapshot__Type type = HEAPSHOT__TYPE__INIT;
	char name[32];

	snprintf(name, sizeof(name), "T.Type%u", id);
	type.id = id;
	type.name = name;
	put(image, HS_FRAME_METADATA, HEAPSHOT__RECORD__BODY_TYPE, &type);
}

/* A marker that counts; every third is in a frame of its own. */
static void put_event(struct ring_image *image)
{
	Heapshot__Marker marker = HEAPSHOT__MARKER__INIT;
	char label[64];

	snprintf(label, sizeof(label), "event %llu %032llx", (unsigned long long)image->n_events,
		 (unsigned long long)(image->n_events * UINT64_C(0x9E3779B97F4A7C15)));
	marker.label = label;
	put(image, HS_FRAME_EVENTS, HEAPSHOT__RECORD__BODY_MARKER, &marker);
	image->n_events++;
	if (image->n_events % 3 == 0)
		cr_assert_eq(hs_stream_flush(image->stream, HS_FRAME_EVENTS, 0), 0);
}

/* A ring after N_EVENTS events; types are defined all along. */
static struct ring_image make(uint64_t n_events, bool has_end)
{
	struct ring_image image = {.bytes = calloc(1, FILE_BYTES)};
	const struct hs_ring_storage storage = {
		.write = image_write, .read = image_read, .data = image.bytes};
	struct hs_stream_config config = {.id = ID,
					  .frame_bytes = 64 << 10,
					  .tag_flags = HS_TAG_FLAG_RING,
					  .sink = &image.sink};
	Heapshot__FileHeader header = HEAPSHOT__FILE_HEADER__INIT;
	Heapshot__End end = HEAPSHOT__END__INIT;
	void *memory = malloc(hs_stream_bytes(64 << 10));
	uint64_t i;

	cr_assert_eq(hs_ring_init(&image.ring, &storage, ID, FILE_BYTES), 0);
	hs_sink_open_callback(&image.sink, put_frame, &image.ring);
	image.stream = hs_stream_init(memory, &config);
	header.version_major = 1;
	header.word_bytes = 8;
	put(&image, HS_FRAME_METADATA, HEAPSHOT__RECORD__BODY_HEADER, &header);
	hs_stream_flush_all(image.stream, 0);
	for (i = 0; i < n_events; i++) {
		if (i * N_TYPES / n_events != (i + 1) * N_TYPES / n_events) {
			put_type(&image, (uint32_t)(i * N_TYPES / n_events) + 1);
			hs_stream_flush(image.stream, HS_FRAME_METADATA, 0);
		}
		put_event(&image);
	}
	if (has_end)
		put(&image, HS_FRAME_END, HEAPSHOT__RECORD__BODY_END, &end);
	hs_stream_flush_all(image.stream, 0);
	free(memory);
	image.stream = NULL;
	return image;
}

/* What was read of a ring. */
struct seen {
	enum heapshot_read_result open;
	size_t n_frames, n_loaded, n_events, n_types;
	uint64_t first_event, last_event, dropped;
	bool is_in_order, is_ring, has_damage;
};

static void read_frame(struct heapshot_reader *reader, struct seen *seen)
{
	struct heapshot_record record;

	while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK) {
		unsigned long long number;
		Heapshot__Marker *marker;

		if (record.field != HEAPSHOT__RECORD__BODY_MARKER)
			continue;
		marker = heapshot__marker__unpack(NULL, record.body_bytes, record.body);
		cr_assert_not_null(marker);
		cr_assert_eq(sscanf(marker->label, "event %llu", &number), 1);
		if (seen->n_events == 0)
			seen->first_event = number;
		else if (number <= seen->last_event)
			seen->is_in_order = false;
		seen->last_event = number;
		seen->n_events++;
		heapshot__marker__free_unpacked(marker, NULL);
	}
}

static struct seen read_ring(const uint8_t *bytes, size_t size)
{
	struct heapshot_reader *reader = heapshot_reader_new(NULL);
	struct seen seen = {.is_in_order = true};
	const struct heapshot_summary *summary;
	const struct heapshot_issue *issues;
	struct heapshot_frame frame;
	uint64_t next_seq = 0;
	size_t i, n;

	seen.open = heapshot_reader_open_memory(reader, bytes, size);
	if (seen.open == HEAPSHOT_READ_OK) {
		while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
			seen.n_frames++;
			if (frame.seq < next_seq)
				seen.is_in_order = false;
			next_seq = frame.seq + 1;
			if (heapshot_reader_load_frame(reader, &frame) != HEAPSHOT_READ_OK)
				continue;
			seen.n_loaded++;
			read_frame(reader, &seen);
		}
		heapshot_reader_load_names(reader);
		heapshot_reader_types(reader, &seen.n_types);
		summary = heapshot_reader_summary(reader);
		seen.dropped = summary->n_dropped;
		seen.is_ring = summary->is_ring;
		cr_assert_eq(heapshot_reader_size_bytes(reader), size);
	}
	issues = heapshot_reader_issues(reader, &n, NULL);
	for (i = 0; i < n; i++)
		seen.has_damage = seen.has_damage || issues[i].kind == HEAPSHOT_ISSUE_DAMAGED ||
				  issues[i].kind == HEAPSHOT_ISSUE_BAD_FRAME;
	heapshot_reader_free(reader);
	return seen;
}

Test(reader_ring, reads_in_order_with_all_names)
{
	static const uint64_t counts[] = {0, 1, 10, 300, 301, 1000, 3000, 20000};
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct ring_image image = make(counts[i], true);
		struct seen seen = read_ring(image.bytes, FILE_BYTES);

		cr_assert_eq(seen.open, HEAPSHOT_READ_OK);
		cr_expect(seen.is_ring && seen.is_in_order && !seen.has_damage);
		cr_expect_eq(seen.n_loaded, seen.n_frames);
		cr_expect_eq(seen.n_types, counts[i] < N_TYPES ? seen.n_types : N_TYPES,
			     "%zu types", seen.n_types);
		cr_expect_eq(seen.dropped, image.ring.n_dropped);
		cr_expect_eq(seen.n_frames + seen.dropped, image.ring.n_frames);
		if (counts[i] == 0)
			cr_expect_eq(seen.n_events, 0);
		else
			cr_expect_eq(seen.last_event, counts[i] - 1);
		if (counts[i] > 0)
			cr_expect_eq(seen.n_events, seen.last_event - seen.first_event + 1);
		cr_expect_eq(seen.dropped > 0, counts[i] >= 1000, "%llu of %llu",
			     (unsigned long long)seen.dropped, (unsigned long long)counts[i]);
		free(image.bytes);
	}
}

Test(reader_ring, a_missing_end_is_stated)
{
	struct ring_image image = make(200, false);
	struct heapshot_reader *reader = heapshot_reader_new(NULL);
	const struct heapshot_issue *issues;
	size_t n;

	cr_assert_eq(heapshot_reader_open_memory(reader, image.bytes, FILE_BYTES),
		     HEAPSHOT_READ_OK);
	issues = heapshot_reader_issues(reader, &n, NULL);
	cr_expect_eq(n, 1);
	cr_expect_eq(issues[0].kind, HEAPSHOT_ISSUE_NO_END);
	heapshot_reader_free(reader);
	free(image.bytes);
}

/* Any byte: at most the frame that it belongs to is lost, and events stay in order. */
Test(reader_ring, a_changed_byte_costs_its_own_frame)
{
	static const uint64_t counts[] = {200, 2000};
	size_t i, at;

	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct ring_image image = make(counts[i], true);
		const struct seen whole = read_ring(image.bytes, FILE_BYTES);

		for (at = 0; at < FILE_BYTES; at += at < HS_RING_HEADER_USED ? 1 : STEP) {
			const uint8_t change = (uint8_t)(1u << at % 8);
			struct seen seen;

			/* The length of free space may come to lead just behind the oldest frames. */
			if (image.bytes[(at & ~7u)] == (HS_RING_PAD_MAGIC & 0xFF) && at % 8 >= 4)
				continue;
			image.bytes[at] ^= change;
			seen = read_ring(image.bytes, FILE_BYTES);
			image.bytes[at] ^= change;
			cr_assert_eq(seen.open, HEAPSHOT_READ_OK, "byte %zu", at);
			cr_assert(seen.is_in_order, "byte %zu", at);
			/* Frames that a pad had covered may come back. */
			cr_assert_geq(seen.n_loaded + 1, whole.n_loaded, "byte %zu: %zu of %zu", at,
				      seen.n_loaded, whole.n_loaded);
			if (seen.n_loaded < whole.n_loaded)
				cr_assert(seen.has_damage, "byte %zu", at);
		}
		free(image.bytes);
	}
}

Test(reader_ring, a_cut_ring_gives_what_is_left)
{
	struct ring_image image = make(2000, true);
	const struct seen whole = read_ring(image.bytes, FILE_BYTES);
	size_t size, before = 0;

	for (size = 0; size < FILE_BYTES; size += size < 100 ? 1 : 97) {
		uint8_t *copy = malloc(size + (size == 0));
		struct seen seen;

		memcpy(copy, image.bytes, size);
		seen = read_ring(copy, size);
		if (seen.open == HEAPSHOT_READ_OK) {
			cr_assert(seen.is_in_order);
			cr_assert_geq(seen.n_loaded, before);
			cr_assert_leq(seen.n_loaded, whole.n_loaded);
			before = seen.n_loaded;
		} else {
			cr_assert(seen.open == HEAPSHOT_READ_NOT_RECORDING ||
					  seen.open == HEAPSHOT_READ_TRUNCATED,
				  "%zu bytes: %d", size, seen.open);
			cr_assert_eq(before, 0);
		}
		free(copy);
	}
	cr_assert_gt(before, 10);
	free(image.bytes);
}

/*
 * A tag of a frame that was given up, and whose place others took: nothing else
 * is lost, and what is read is no longer than the file.
 */
Test(reader_ring, frames_that_overlap_cost_no_other)
{
	struct ring_image image = make(2000, true);
	const struct seen whole = read_ring(image.bytes, FILE_BYTES);
	uint8_t *copy = malloc(FILE_BYTES);
	size_t at;

	for (at = HS_RING_HEADER_BYTES + 128; at + 64 < FILE_BYTES; at += 40) {
		struct hs_tag tag = {.version = 1, .kind = HS_FRAME_EVENTS, .stream = ID};
		struct heapshot_reader *reader = heapshot_reader_new(NULL);
		struct heapshot_frame frame;
		struct seen seen;

		tag.seq = at % 3 == 0 ? 1u << 30 : at;
		tag.raw_bytes = 60000;
		tag.compressed_bytes = (uint32_t)(FILE_BYTES - at - 56);
		memcpy(copy, image.bytes, FILE_BYTES);
		/* The chain breaks at its first tag, so that tags are searched. */
		copy[HS_RING_HEADER_BYTES + 20] ^= 1;
		hs_tag_encode(&tag, copy + at);
		seen = read_ring(copy, FILE_BYTES);
		cr_assert_eq(seen.open, HEAPSHOT_READ_OK, "tag at %zu", at);
		cr_assert(seen.is_in_order, "tag at %zu", at);
		/* The first frame, and the two that the tag's own bytes may lie in. */
		cr_assert_geq(seen.n_loaded + 3, whole.n_loaded, "tag at %zu: %zu of %zu", at,
			      seen.n_loaded, whole.n_loaded);

		cr_assert_eq(heapshot_reader_open_memory(reader, copy, FILE_BYTES),
			     HEAPSHOT_READ_OK);
		while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK)
			cr_assert_leq(frame.body_offset + frame.compressed_bytes, FILE_BYTES,
				      "tag at %zu", at);
		heapshot_reader_free(reader);
	}
	free(copy);
	free(image.bytes);
}

/* A file of nothing but tags: as many pieces as can be, and no more memory than was allowed. */
Test(reader_ring, memory_is_bounded)
{
	const struct heapshot_reader_options options = {.size = sizeof(options),
							.memory_bytes = 4 << 20};
	const size_t size = 32 << 20;
	uint8_t *bytes = calloc(1, size);
	const struct hs_ring_storage storage = {
		.write = image_write, .read = image_read, .data = bytes};
	struct heapshot_reader *reader = heapshot_reader_new(&options);
	struct hs_ring ring;
	struct hs_tag tag = {.version = 1, .kind = HS_FRAME_EVENTS, .stream = ID, .raw_bytes = 1};
	size_t at;

	cr_assert_eq(hs_ring_init(&ring, &storage, ID, size), 0);
	for (at = HS_RING_HEADER_BYTES; at + 80 <= size; at += 64) {
		tag.seq = size - at;
		tag.compressed_bytes = 8;
		hs_tag_encode(&tag, bytes + at);
	}
	cr_expect_eq(heapshot_reader_open_memory(reader, bytes, size), HEAPSHOT_READ_MEMORY);
	heapshot_reader_free(reader);
	free(bytes);
}

/* Noise behind a header, and headers that lie, end in some result and in no harm. */
Test(reader_ring, hostile_bytes)
{
	struct ring_image image = make(1000, true);
	uint64_t seed, x;
	size_t i;

	for (seed = 1; seed < 300; seed++) {
		uint8_t *copy = malloc(FILE_BYTES);

		memcpy(copy, image.bytes, FILE_BYTES);
		for (i = 0, x = seed; i < 40; i++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
			if (seed % 3 == 0) /* pads of any length, anywhere */
				hs_ring_pad_encode(8 + (x >> 20) % 100000,
						   copy + (x >> 33) % (FILE_BYTES / 8 - 1) * 8);
			else
				copy[(x >> 33) % FILE_BYTES] = (uint8_t)(x >> 20);
		}
		read_ring(copy, FILE_BYTES - seed % 5 * 1000);
		free(copy);
	}
	free(image.bytes);
}
