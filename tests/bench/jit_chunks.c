/* SPDX-License-Identifier: MIT */
/*
 * jit_chunks FILE: how well JIT packets compress one by one, one by one with a
 * trained dictionary, and in chunks.  FILE is a recording with methods=code.
 *
 * A packet is a method's JitMethod with its MethodCode records, as they stand
 * in the stream but for their times.  All compression is LZ4's, fast, level 1;
 * counted are the blocks alone, without the lengths or frames that one by one
 * needs most of.
 *
 * The dictionary is trained on all packets, which is more than a recorder could
 * do: substrings of GRAM bytes are counted by the number of packets that hold
 * them; then the segments whose substrings are in the most packets are taken,
 * best first, each substring counting once, until 64 KB are full.
 */
#include <inttypes.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/heapshot-reader.h"
#include "schema/heapshot.pb-c.h"
#include "schema/varint.h"

#define DICTIONARY_BYTES (64u << 10)
#define GRAM             8u
#define SEGMENT          64u
#define N_COUNTS         (1u << 22)

struct packet {
	size_t offset, bytes; /* in data */
};

static uint8_t *data;
static size_t n_bytes, room_bytes;
static struct packet *packets;
static size_t n_packets, room_packets;

static void *grow(void *block, size_t size)
{
	block = realloc(block, size);
	if (block == NULL) {
		perror("jit_chunks");
		exit(1);
	}
	return block;
}

/* Key and length of a field of bytes. */
static size_t put_head(uint8_t *out, uint32_t field, size_t bytes)
{
	return (size_t)(hs_varint_put(hs_varint_put(out, field << 3 | 2), bytes) - out);
}

static void add_record(const struct heapshot_record *record)
{
	uint8_t inner[24], outer[24];
	const size_t inner_bytes = put_head(inner, record->field, record->body_bytes);
	const size_t outer_bytes = put_head(outer, 1, inner_bytes + record->body_bytes);
	const size_t bytes = outer_bytes + inner_bytes + record->body_bytes;

	if (n_bytes + bytes > room_bytes) {
		room_bytes = 2 * (n_bytes + bytes);
		data = grow(data, room_bytes);
	}
	memcpy(data + n_bytes, outer, outer_bytes);
	memcpy(data + n_bytes + outer_bytes, inner, inner_bytes);
	memcpy(data + n_bytes + outer_bytes + inner_bytes, record->body, record->body_bytes);
	n_bytes += bytes;
	packets[n_packets - 1].bytes += bytes;
}

static void begin_packet(void)
{
	if (n_packets == room_packets) {
		room_packets = 2 * room_packets + 1024;
		packets = grow(packets, room_packets * sizeof(*packets));
	}
	packets[n_packets++] = (struct packet){n_bytes, 0};
}

static bool read_packets(struct heapshot_reader *reader)
{
	struct heapshot_frame frame;
	struct heapshot_record record;

	heapshot_reader_rewind(reader, NULL);
	while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
		if (frame.kind != HEAPSHOT_FRAME_EVENTS ||
		    heapshot_reader_load_frame(reader, &frame) != HEAPSHOT_READ_OK)
			continue;
		while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK) {
			if (record.field == HEAPSHOT__RECORD__BODY_JIT_METHOD)
				begin_packet();
			else if (record.field != HEAPSHOT__RECORD__BODY_METHOD_CODE || !n_packets)
				continue;
			add_record(&record);
		}
	}
	return n_packets != 0;
}

static size_t compress(const uint8_t *from, size_t bytes)
{
	const int room = LZ4_compressBound((int)bytes);
	char *out = grow(NULL, (size_t)room);
	const int size = LZ4_compress_fast((const char *)from, out, (int)bytes, room, 1);

	free(out);
	return (size_t)size;
}

static uint64_t one_by_one(void)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n_packets; i++)
		sum += compress(data + packets[i].offset, packets[i].bytes);
	return sum;
}

static uint64_t in_chunks(size_t chunk_bytes)
{
	uint64_t sum = 0;
	size_t at, bytes;

	for (at = 0; at < n_bytes; at += bytes) {
		bytes = n_bytes - at < chunk_bytes ? n_bytes - at : chunk_bytes;
		sum += compress(data + at, bytes);
	}
	return sum;
}

static uint32_t slot_of(const uint8_t *gram)
{
	uint64_t value;

	memcpy(&value, gram, sizeof(value));
	return (uint32_t)(value * 0x9E3779B97F4A7C15u >> 42) & (N_COUNTS - 1);
}

struct segment {
	size_t offset;
	uint64_t score;
};

static int by_score(const void *left, const void *right)
{
	const struct segment *a = left, *b = right;

	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	return a->offset < b->offset ? -1 : 1;
}

/* In how many packets each substring is, by a hash of it. */
static void count_grams(uint32_t *counts)
{
	size_t *seen = grow(NULL, N_COUNTS * sizeof(*seen));
	size_t i, at;

	memset(seen, 0, N_COUNTS * sizeof(*seen));
	for (i = 0; i < n_packets; i++)
		for (at = 0; at + GRAM <= packets[i].bytes; at++) {
			uint32_t slot = slot_of(data + packets[i].offset + at);

			counts[slot] += seen[slot] != i + 1;
			seen[slot] = i + 1;
		}
	free(seen);
}

/* Takes the counts of SEGMENT bytes, or only looks at them. */
static uint64_t score(uint32_t *counts, size_t offset, bool is_taken)
{
	uint64_t sum = 0;
	size_t at;

	for (at = offset; at + GRAM <= offset + SEGMENT; at++) {
		uint32_t *count = &counts[slot_of(data + at)];

		/* What only one packet has helps no other. */
		sum += *count > 1 ? *count : 0;
		if (is_taken)
			*count = 0;
	}
	return sum;
}

static size_t train(uint8_t *dictionary)
{
	uint32_t *counts = calloc(N_COUNTS, sizeof(*counts));
	struct segment *segments = grow(NULL, (n_bytes / SEGMENT + 1) * sizeof(*segments));
	size_t n = 0, used = 0, i;

	if (counts == NULL) {
		perror("jit_chunks");
		exit(1);
	}
	count_grams(counts);
	for (i = 0; i + SEGMENT <= n_bytes; i += SEGMENT)
		segments[n++] = (struct segment){i, score(counts, i, false)};
	qsort(segments, n, sizeof(*segments), by_score);
	for (i = 0; i < n && used + SEGMENT <= DICTIONARY_BYTES; i++) {
		/* What earlier segments brought counts no more. */
		if (2 * score(counts, segments[i].offset, false) < segments[i].score)
			continue;
		score(counts, segments[i].offset, true);
		used += SEGMENT;
		/* The best stands last, where it is nearest. */
		memcpy(dictionary + DICTIONARY_BYTES - used, data + segments[i].offset, SEGMENT);
	}
	memmove(dictionary, dictionary + DICTIONARY_BYTES - used, used);
	free(counts);
	free(segments);
	return used;
}

static uint64_t with_dictionary(const uint8_t *dictionary, size_t dictionary_bytes)
{
	LZ4_stream_t *stream = LZ4_createStream();
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n_packets; i++) {
		const int room = LZ4_compressBound((int)packets[i].bytes);
		char *out = grow(NULL, (size_t)room);

		LZ4_loadDict(stream, (const char *)dictionary, (int)dictionary_bytes);
		sum += (uint64_t)LZ4_compress_fast_continue(stream,
							    (const char *)data + packets[i].offset,
							    out, (int)packets[i].bytes, room, 1);
		free(out);
	}
	LZ4_freeStream(stream);
	return sum;
}

static void put(const char *what, uint64_t bytes)
{
	printf("%-34s %12" PRIu64 " bytes  %6.1f %%\n", what, bytes,
	       100.0 * (double)bytes / (double)n_bytes);
}

int main(int argc, char **argv)
{
	struct heapshot_reader *reader = heapshot_reader_new(NULL);
	uint8_t *dictionary = grow(NULL, DICTIONARY_BYTES);
	size_t dictionary_bytes;

	if (argc != 2 || reader == NULL) {
		fputs("usage: jit_chunks FILE\n", stderr);
		return 2;
	}
	if (heapshot_reader_open_file(reader, argv[1]) != HEAPSHOT_READ_OK) {
		fprintf(stderr, "jit_chunks: %s\n", heapshot_reader_error(reader));
		return 1;
	}
	if (!read_packets(reader)) {
		fputs("jit_chunks: no packets; record with methods=code\n", stderr);
		return 1;
	}
	printf("%zu packets\n", n_packets);
	put("raw", n_bytes);
	put("one by one", one_by_one());
	dictionary_bytes = train(dictionary);
	put("one by one, trained dictionary", with_dictionary(dictionary, dictionary_bytes));
	put("chunks of 64 KB", in_chunks(64u << 10));
	put("chunks of 256 KB", in_chunks(256u << 10));
	put("chunks of 1 MB", in_chunks(1u << 20));
	heapshot_reader_free(reader);
	free(dictionary);
	free(data);
	free(packets);
	return 0;
}
