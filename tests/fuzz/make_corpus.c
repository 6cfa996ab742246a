/* SPDX-License-Identifier: MIT */
/*
 * make_corpus FOLDER: writes the corpora of all fuzz targets, the same on every
 * run.  `make corpus` does so in the source tree; `make check` compares.  What
 * fuzzing found stands here too, by a name that says what it was.
 */
#include <errno.h>
#include <lz4frame.h>
#include <sys/stat.h>

#include "schema/columns.h"
#include "schema/ring.h"
#include "schema/tag.h"
#include "schema/varint.h"
#include "tests/data/synthetic.h"
#include "tests/fuzz/columns.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/records.h"

static const char *folder;

static void put(const char *target, const char *name, const void *data, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, target);
	if (mkdir(path, 0777) < 0 && errno != EEXIST) {
		perror(path);
		exit(1);
	}
	snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
	file = fopen(path, "wb");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
}

/* The same numbers on every run. */
static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* ---- tags ---- */

static void make_tags(void)
{
	struct hs_tag tag = {
		.version = 1,
		.kind = HS_FRAME_SNAPSHOT_BODY,
		.stream = 0xC0FFEE,
		.snapshot = 3,
		.seq = 17,
		.time_ns = 1234567890,
		.compressed_bytes = 1000,
		.raw_bytes = 5000,
	};
	uint8_t bytes[HS_TAG_BYTES + 16] = {0};
	uint32_t crc;

	hs_tag_encode(&tag, bytes);
	put("tags", "body", bytes, HS_TAG_BYTES);
	put("tags", "cut", bytes, HS_TAG_BYTES - 1);
	/* A later version's, 16 bytes longer. */
	bytes[4] += 16;
	bytes[8 + 4] = 2;
	crc = hs_crc32(bytes + 8, HS_TAG_PAYLOAD_BYTES - 4);
	for (unsigned i = 0; i < 4; i++)
		bytes[HS_TAG_BYTES - 4 + i] = (uint8_t)(crc >> 8 * i);
	put("tags", "later-version", bytes, sizeof bytes);
	tag = (struct hs_tag){.version = 1, .kind = HS_FRAME_END};
	hs_tag_encode(&tag, bytes);
	put("tags", "empty-end", bytes, HS_TAG_BYTES);
	tag.raw_bytes = HS_FRAME_RAW_MAX + 1;
	hs_tag_encode(&tag, bytes);
	put("tags", "too-large", bytes, HS_TAG_BYTES);
}

/* ---- frames and records: the synthetic recordings ---- */

/* Appends the content of the frame at IN, without its FrameStart, to OUT. */
static size_t unpack(const uint8_t *in, const struct hs_tag *tag, uint8_t *out)
{
	uint8_t *raw = malloc(tag->raw_bytes);
	size_t size = tag->raw_bytes, used = tag->compressed_bytes, start;
	const uint8_t *records;
	LZ4F_dctx *context;
	uint64_t length;

	FUZZ_CHECK(raw && !LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)));
	FUZZ_CHECK(LZ4F_decompress(context, raw, &size, in, &used, NULL) == 0 &&
		   size == tag->raw_bytes);
	LZ4F_freeDecompressionContext(context);
	records = hs_varint_get(raw + 1, raw + size, &length);
	FUZZ_CHECK(records && length <= (size_t)(raw + size - records));
	start = (size_t)(records - raw) + (size_t)length;
	memcpy(out, raw + start, size - start);
	free(raw);
	return size - start;
}

static void put_records(const char *name, unsigned flags, const struct synthetic_bytes *file)
{
	uint8_t *out = malloc(1 << 20);
	size_t n = 0, at = 0;
	struct hs_tag tag;

	FUZZ_CHECK(out);
	out[n++] = (uint8_t)flags;
	while (at < file->size) {
		const int length = hs_tag_decode(file->data + at, file->size - at, &tag);
		size_t size;
		FUZZ_CHECK(length > 0);
		at += (size_t)length;
		size = unpack(file->data + at, &tag, out + n + 4);
		FUZZ_CHECK(size <= UINT16_MAX);
		out[n] = tag.kind;
		out[n + 1] = (uint8_t)tag.snapshot;
		out[n + 2] = (uint8_t)size;
		out[n + 3] = (uint8_t)(size >> 8);
		n += 4 + size;
		at += tag.compressed_bytes;
	}
	put("records", name, out, n);
	free(out);
}

/* The same frames as in FILE: metadata in the part for names, all others in the lap. */
static void put_ring(const char *name, const struct synthetic_bytes *file)
{
	uint8_t *out = calloc(1, 2 * file->size + 4096);
	size_t n = 2;

	FUZZ_CHECK(out);
	for (unsigned part = 0; part < 2; part++) {
		size_t at = 0;
		struct hs_tag tag;

		while (at < file->size) {
			const int length = hs_tag_decode(file->data + at, file->size - at, &tag);
			size_t bytes, tail;
			FUZZ_CHECK(length > 0);
			bytes = (size_t)length + tag.compressed_bytes;
			if ((tag.kind == HS_FRAME_METADATA) == (part == 0)) {
				memcpy(out + n, file->data + at, bytes);
				n += bytes;
				tail = hs_ring_tail_bytes(bytes);
				if (tail)
					hs_ring_pad_encode(tail, out + n);
				n += tail;
			}
			at += bytes;
		}
		if (part == 0) {
			out[0] = (uint8_t)(n - 2);
			out[1] = (uint8_t)((n - 2) >> 8);
		}
	}
	put("ring", name, out, n);
	free(out);
}

static void make_recordings(void)
{
	static const char *const variants[] = {
		"small",         "killed",  "none",         "two",     "huge",
		"overflow",      "unknown", "inconsistent", "differs", "abandoned",
		"hostile-names", "stats",   "methods",      "handles", "unreferenced",
	};
	struct synthetic_bytes bytes;
	unsigned i;

	for (i = 0; i < sizeof variants / sizeof *variants; i++) {
		FUZZ_CHECK(synthetic_make(variants[i], 0, &bytes));
		if (i < 4 || strcmp(variants[i], "unknown") == 0)
			put("frames", variants[i], bytes.data, bytes.size);
		if (strcmp(variants[i], "small") == 0) {
			put("frames", "cut-in-a-frame", bytes.data, bytes.size - 70);
			put("frames", "cut-in-a-tag", bytes.data, 40);
			put("frames", "beginning-lost", bytes.data + 100, bytes.size - 100);
		}
		put_records(variants[i], i % 4, &bytes);
		if (i < 4)
			put_ring(variants[i], &bytes);
		if (strcmp(variants[i], "methods") == 0)
			put_records("method-at-an-address", RECORDS_ADDRESS, &bytes);
		if (strcmp(variants[i], "handles") == 0)
			put_records("handles-by-row", RECORDS_OBJECTS, &bytes);
		free(bytes.data);
	}
	put("frames", "text", "no recording\n", 13);
	/* A frame of events whose only record is { time_delta_ns: 1 }: it has no body. */
	put("records", "no-body", "\1\2\0\4\0\n\2\x10\2", 9);
}

/* ---- columns ---- */

static void put_batch(const char *name, uint8_t mode, const uint8_t *message, size_t size)
{
	uint8_t *out = malloc(size + 1);

	FUZZ_CHECK(out);
	out[0] = mode;
	memcpy(out + 1, message, size);
	put("columns", name, out, size + 1);
	free(out);
}

static void make_objects(const char *name, unsigned word)
{
	const size_t bytes = (hs_batch_encoder_bytes() + 63) / 64 * 64;
	struct hs_shape_hint hints[6] = {{0}};
	void *memory = aligned_alloc(64, bytes), *refs[HS_ROW_REFS_MAX];
	struct hs_batch_encoder *encoder;
	uintptr_t offsets[HS_ROW_REFS_MAX];
	uint64_t address = 0x7f000000;
	uint8_t *out;
	size_t size;

	FUZZ_CHECK(memory);
	memset(memory, 0, bytes);
	encoder = hs_batch_encoder_init(memory, word);
	hs_batch_begin(encoder, 1, 1);
	for (unsigned i = 0; i < 60; i++) {
		const unsigned type = i % 6, is_array = type == 1;
		struct hs_row row = {
			.address = address,
			.type = 1 + type,
			.domain = 1,
			.size_varies = type < 2,
			.is_array = is_array,
			.is_continuation = i % 12 == 7,
			.offsets = offsets,
			.refs = refs,
		};
		const unsigned n = type == 0  ? 0
				   : is_array ? (unsigned)(random_number() % 40)
					      : type;
		for (unsigned k = 0; k < n; k++) {
			if (random_number() % 4 == 0)
				continue;
			offsets[row.n_refs] = ((row.is_continuation ? 0
						: is_array          ? 4
								    : 2) +
					       k) *
					      word;
			refs[row.n_refs++] =
				(void *)(uintptr_t)(address - random_number() % 100 * word);
		}
		row.size = row.is_continuation ? 0 : 2 * word + n * word + (type == 0 ? i : 0);
		row.slot_size = row.is_continuation ? 0
						    : (row.size + word - 1) / word * word +
							      (i % 9 == 0) * 4 * word;
		FUZZ_CHECK(hs_batch_add(encoder, &row, &hints[type]));
		address += row.slot_size;
	}
	size = hs_batch_bytes(encoder);
	out = malloc(size);
	FUZZ_CHECK(out && hs_batch_finish(encoder, out) == size);
	put_batch(name, (uint8_t)(COLUMNS_OBJECTS | (word == 4 ? COLUMNS_WORDS_OF_4 : 0)), out,
		  size);
	free(out);
	free(memory);
}

static void make_columns(void)
{
	static const uint8_t sources[][4] = {{1 << 3, 4}, {1 << 3, 2, 4 << 3, 1}, {0}};
	static uint8_t memory[4096], out[4096];
	struct hs_root_encoder roots;
	struct hs_ephemeron_encoder ephemerons;
	unsigned i;

	make_objects("objects", 8);
	make_objects("objects-of-32-bits", 4);
	hs_root_encoder_init(&roots, memory, sizeof memory, 8);
	hs_root_begin(&roots, 1);
	for (i = 0; i < 3; i++)
		hs_root_add_source(&roots, sources[i], i == 0 ? 2 : i == 1 ? 4 : 0);
	for (i = 0; i < 20; i++)
		hs_root_add(&roots, 1 + i % 3, 0x5000 + i * 3,
			    0x7f000000 + random_number() % 64 * 8);
	put_batch("roots", COLUMNS_ROOTS, out, hs_root_finish(&roots, out));
	hs_ephemeron_encoder_init(&ephemerons, memory, sizeof memory, 8);
	hs_ephemeron_begin(&ephemerons, 1);
	for (i = 0; i < 20; i++)
		hs_ephemeron_add(&ephemerons, 0x7f000000 + i / 7 * 64, 0x7f000100 + i * 16,
				 i % 5 == 0 ? 0 : 0x7f000200 + random_number() % 64 * 8);
	put_batch("ephemerons", COLUMNS_EPHEMERONS, out, hs_ephemeron_finish(&ephemerons, out));
	for (i = 0; i < 600; i++)
		out[i] = (uint8_t)(random_number() >> 32);
	put_batch("object-rows", COLUMNS_OBJECT_ROWS, out, 600);
	put_batch("object-rows-of-32-bits", COLUMNS_OBJECT_ROWS | COLUMNS_WORDS_OF_4, out, 600);
	put_batch("root-rows", COLUMNS_ROOT_ROWS, out, 200);
	put_batch("ephemeron-rows", COLUMNS_EPHEMERON_ROWS, out, 200);
}

/* ---- texts ---- */

struct text {
	const char *name, *text;
};

static const struct text options[] = {
	{"all", "output=a%p-%t%%.hs,snapshot=shutdown+term+gc+oom+10gc+500ms,at=500m,signal=RTMIN+"
		"3,control=off,"
		"events=gc+types+jit+counters,memory=4m,max-snapshots=7,max-size=3GiB,strings=80,"
		"strict,quiet,"
		"overwrite,help"},
	{"escapes", "output=|cat >a\\,b\\\\c,control=/tmp/a\\,b"},
	{"mistakes", "outptu=x,snapshot=gcc,,at=5x,signal=KILL,memory=99999999999999999999,help=1"},
	{"later", "fork=auto,ring=64m,methods=code,events=methods"},
	{"none", "snapshot=none,events=none,output=#1"},
	{"line-in-a-name", "out\nput=x"},
};

static const struct text requests[] = {
	{"take", "\177take after login\n"},
	{"take-in-pieces", "\002take after login\nrest"},
	{"stats", "\001stats\n"},
	{"flush", "\003flush\n"},
	{"status", "\377status\n"},
	{"unknown", "\005please\n"},
	{"unfinished", "\020take something"},
	{"not-utf-8", "\020take \303\244\377\360\237\n"},
};

static void make_texts(const char *target, const struct text *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(target, texts[i].name, texts[i].text, strlen(texts[i].text));
}

static void make_long_request(void)
{
	char text[2048];

	memset(text, 'x', sizeof text);
	memcpy(text, "\377take ", 6);
	put("requests", "too-long", text, sizeof text);
	/* One byte less than is refused. */
	text[1 + 1024 + 16 - 2] = '\n';
	put("requests", "longest", text, 1 + 1024 + 16 - 1);
	put("requests", "zero-byte", "\177take a\0b\n", 10);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_corpus FOLDER\n");
		return 2;
	}
	folder = argv[1];
	if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
		perror(folder);
		return 1;
	}
	make_tags();
	make_recordings();
	make_columns();
	make_texts("options", options, sizeof options / sizeof *options);
	make_texts("requests", requests, sizeof requests / sizeof *requests);
	make_long_request();
	return 0;
}
