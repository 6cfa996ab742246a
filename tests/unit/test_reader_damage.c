/* SPDX-License-Identifier: MIT */
/*
 * The reader library on recordings that were cut, changed or made to hurt:
 * what is whole is read, what is lost is stated, and memory stays bounded.
 */
#include <criterion/criterion.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "contrib/reader/heapshot-reader.h"
#include "schema/tag.h"
#include "tests/data/synthetic.h"
#include "tests/unit/leak_check.h"

TestSuite(reader_damage, .fini = leak_check);

/* With sanitizers each reader costs much more; take a part of the places. */
#if defined(__SANITIZE_ADDRESS__)
#define STEP 7
#else
#define STEP 1
#endif

static struct synthetic_bytes make(const char *variant)
{
	struct synthetic_bytes bytes;

	cr_assert(synthetic_make(variant, 0, &bytes));
	return bytes;
}

/* Reads everything there is; returns how many frames could be loaded. */
static size_t read_all(struct heapshot_reader *reader)
{
	const struct heapshot_snapshot *snapshots;
	struct heapshot_totals totals;
	struct heapshot_record record;
	struct heapshot_object object;
	struct heapshot_roots roots;
	struct heapshot_frame frame;
	size_t n, i, loaded = 0;

	heapshot_reader_load_names(reader);
	snapshots = heapshot_reader_snapshots(reader, &n);
	for (i = 0; i < n; i++) {
		heapshot_reader_totals(reader, &snapshots[i], &totals);
		heapshot_reader_roots(reader, &snapshots[i], &roots);
	}
	heapshot_reader_rewind(reader, NULL);
	while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
		if (heapshot_reader_load_frame(reader, &frame) != HEAPSHOT_READ_OK)
			continue;
		loaded++;
		while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK)
			if (record.field == 15 &&
			    heapshot_reader_begin_objects(reader, &record, true, NULL) ==
				    HEAPSHOT_READ_OK)
				while (heapshot_reader_next_object(reader, &object) ==
				       HEAPSHOT_READ_OK)
					;
	}
	return loaded;
}

static bool has_issue(const struct heapshot_reader *reader, enum heapshot_issue_kind kind,
		      uint64_t offset)
{
	const struct heapshot_issue *issues;
	size_t n, i;

	issues = heapshot_reader_issues(reader, &n, NULL);
	for (i = 0; i < n; i++)
		if (issues[i].kind == kind && (offset == UINT64_MAX || issues[i].offset == offset))
			return true;
	return false;
}

/* The frames of an undamaged recording. */
static struct heapshot_frame *list_frames(const struct synthetic_bytes *bytes, size_t *n)
{
	struct heapshot_reader *reader = heapshot_reader_new(NULL);
	struct heapshot_frame *frames = calloc(1000, sizeof(*frames));

	*n = 0;
	cr_assert_eq(heapshot_reader_open_memory(reader, bytes->data, bytes->size),
		     HEAPSHOT_READ_OK);
	while (heapshot_reader_next_frame(reader, &frames[*n]) == HEAPSHOT_READ_OK)
		++*n;
	heapshot_reader_free(reader);
	return frames;
}

Test(reader_damage, reads_what_is_before_every_cut)
{
	struct synthetic_bytes bytes = make("small");
	struct heapshot_frame *frames;
	size_t n_frames, size, i, n;

	frames = list_frames(&bytes, &n_frames);
	for (size = 0; size < bytes.size; size += size < 60 ? 1 : STEP) {
		struct heapshot_reader *reader = heapshot_reader_new(NULL);
		size_t whole = 0, complete = 0, seen = 0;
		enum heapshot_read_result result;
		const struct heapshot_snapshot *snapshots;
		struct heapshot_totals totals;
		/* A copy of its own, so that a read behind the end is found. */
		uint8_t *cut = malloc(size + (size == 0));

		memcpy(cut, bytes.data, size);
		while (whole < n_frames &&
		       frames[whole].body_offset + frames[whole].compressed_bytes <= size)
			complete += frames[whole++].kind == HEAPSHOT_FRAME_SNAPSHOT_END;
		result = heapshot_reader_open_memory(reader, cut, size);
		if (whole == 0) {
			cr_assert_eq(result,
				     size == 0 ? HEAPSHOT_READ_NOT_RECORDING
					       : HEAPSHOT_READ_TRUNCATED,
				     "cut at %zu", size);
			heapshot_reader_free(reader);
			free(cut);
			continue;
		}
		cr_assert_eq(result, HEAPSHOT_READ_OK, "cut at %zu", size);
		cr_assert_eq(read_all(reader), whole, "cut at %zu", size);
		cr_assert(has_issue(reader, HEAPSHOT_ISSUE_NO_END,
				    frames[whole - 1].body_offset +
					    frames[whole - 1].compressed_bytes));
		if (size > frames[whole - 1].body_offset + frames[whole - 1].compressed_bytes)
			cr_assert(has_issue(reader, HEAPSHOT_ISSUE_TRUNCATED, frames[whole].offset),
				  "cut at %zu", size);
		snapshots = heapshot_reader_snapshots(reader, &n);
		for (i = 0; i < n; i++) {
			seen += snapshots[i].is_complete;
			cr_assert_eq(heapshot_reader_totals(reader, &snapshots[i], &totals),
				     snapshots[i].is_complete ? HEAPSHOT_READ_OK
							      : HEAPSHOT_READ_INCOMPLETE);
		}
		cr_assert_eq(seen, complete, "cut at %zu", size);
		heapshot_reader_free(reader);
		free(cut);
	}
	free(frames);
	free(bytes.data);
}

/* Every byte of a small file, and one of each frame's body in a larger one. */
Test(reader_damage, loses_only_the_frame_of_a_flipped_byte)
{
	static const char *const variants[] = {"small", "varied"};
	size_t v, at, i, n_frames, n_issues, loaded, n_harmless = 0;

	for (v = 0; v < 2; v++) {
		struct synthetic_bytes bytes = make(variants[v]);
		struct heapshot_frame *frames = list_frames(&bytes, &n_frames);

		for (at = 0; at < bytes.size; at += v == 0 ? STEP : 1) {
			struct heapshot_reader *reader;
			struct heapshot_frame *hit = frames;
			bool is_middle;

			for (i = 0; i < n_frames && frames[i].offset <= at; i++)
				hit = &frames[i];
			is_middle = at == hit->body_offset + hit->compressed_bytes / 2 ||
				    at == hit->offset + 20;
			if (v == 1 && !is_middle)
				continue;
			bytes.data[at] ^= (uint8_t)(1u << (at % 8));
			reader = heapshot_reader_new(NULL);
			cr_assert_eq(heapshot_reader_open_memory(reader, bytes.data, bytes.size),
				     HEAPSHOT_READ_OK, "%s: flip at %zu: %s", variants[v], at,
				     heapshot_reader_error(reader));
			loaded = read_all(reader);
			heapshot_reader_issues(reader, &n_issues, NULL);
			/* LZ4 may say the same in two ways; then nothing is lost. */
			if (loaded == n_frames && n_issues == 0)
				n_harmless++;
			else
				cr_assert_eq(loaded, n_frames - 1, "%s: flip at %zu", variants[v],
					     at);
			cr_assert(
				n_issues == 0 ||
					has_issue(reader, HEAPSHOT_ISSUE_BAD_FRAME, hit->offset) ||
					has_issue(reader, HEAPSHOT_ISSUE_DAMAGED, UINT64_MAX),
				"%s: flip at %zu", variants[v], at);
			heapshot_reader_free(reader);
			bytes.data[at] ^= (uint8_t)(1u << (at % 8));
		}
		free(frames);
		free(bytes.data);
	}
	cr_assert_lt(n_harmless, 20);
}

/* A tag with CRC for a frame of our making. */
static size_t put_frame(uint8_t *out, uint32_t seq, uint8_t kind, const void *body,
			uint32_t body_bytes, uint32_t compressed_bytes, uint32_t raw_bytes)
{
	struct hs_tag tag = {
		.version = HS_TAG_VERSION,
		.kind = kind,
		.stream = 0xC0FFEE,
		.snapshot = 1,
		.seq = seq,
		.compressed_bytes = compressed_bytes,
		.raw_bytes = raw_bytes,
	};

	hs_tag_encode(&tag, out);
	memcpy(out + HS_TAG_BYTES, body, body_bytes);
	return HS_TAG_BYTES + body_bytes;
}

static size_t compress(uint8_t *out, size_t room, const void *raw, size_t size,
		       LZ4F_blockSizeID_t block)
{
	LZ4F_preferences_t preferences = {
		.frameInfo = {.blockSizeID = block,
			      .blockMode = LZ4F_blockIndependent,
			      .contentChecksumFlag = LZ4F_contentChecksumEnabled},
	};
	size_t n = LZ4F_compressFrame(out, room, raw, size, &preferences);

	cr_assert(!LZ4F_isError(n));
	return n;
}

/*
 * Frames that lie about themselves, put into a recording: each is refused, and
 * all around it is read, in bounded memory.
 */
Test(reader_damage, refuses_frames_that_lie)
{
	struct synthetic_bytes bytes = make("small");
	struct heapshot_frame *frames;
	uint8_t *file, *body, *raw = calloc(1, 8 << 20);
	size_t n_frames, body_room = 9 << 20, n, kind, at, size;

	frames = list_frames(&bytes, &n_frames);
	at = frames[2].offset;
	file = malloc(bytes.size + body_room + 4096);
	body = malloc(body_room);
	for (kind = 0; kind < 9; kind++) {
		uint32_t stated = 0, raw_bytes = 0;
		struct heapshot_reader *reader = heapshot_reader_new(NULL);

		memset(raw, 0, 8 << 20);
		n = 0;
		switch (kind) {
		case 0: /* length of 0xFFFFFFFF */
			stated = raw_bytes = 0xFFFFFFFF;
			break;
		case 1: /* length of 0 */
			break;
		case 2: /* no content */
			n = compress(body, body_room, raw, 0, LZ4F_max64KB);
			stated = (uint32_t)n;
			break;
		case 3: /* expands to more than is legal */
			n = compress(body, body_room, raw, 8 << 20, LZ4F_max1MB);
			stated = (uint32_t)n;
			raw_bytes = 1 << 20;
			break;
		case 4: /* blocks of 4 MB */
			n = compress(body, body_room, raw, 1 << 19, LZ4F_max4MB);
			stated = (uint32_t)n;
			raw_bytes = 1 << 19;
			break;
		case 5: /* more content than the tag states */
			n = compress(body, body_room, raw, 1000, LZ4F_max64KB);
			stated = (uint32_t)n;
			raw_bytes = 10;
			break;
		case 6: /* not LZ4 at all */
			n = stated = raw_bytes = 500;
			memset(body, 'x', n);
			break;
		case 7: /* content that is no record */
			memset(raw, 0xFF, 1000);
			n = compress(body, body_room, raw, 1000, LZ4F_max64KB);
			stated = (uint32_t)n;
			raw_bytes = 1000;
			break;
		case 8: /* a record without FrameStart, 0xFFFFFFF long */
			memcpy(raw, "\x0a\xff\xff\xff\x7f", 5);
			n = compress(body, body_room, raw, 1000, LZ4F_max64KB);
			stated = (uint32_t)n;
			raw_bytes = 1000;
			break;
		}
		memcpy(file, bytes.data, at);
		size = at + put_frame(file + at, 2, HS_FRAME_SNAPSHOT_BODY, body, (uint32_t)n,
				      stated, raw_bytes);
		memcpy(file + size, bytes.data + at, bytes.size - at);
		size += bytes.size - at;
		cr_assert_eq(heapshot_reader_open_memory(reader, file, size), HEAPSHOT_READ_OK,
			     "kind %zu", kind);
		cr_assert_eq(read_all(reader), n_frames, "kind %zu", kind);
		cr_assert(has_issue(reader, HEAPSHOT_ISSUE_BAD_FRAME, at) ||
				  has_issue(reader, HEAPSHOT_ISSUE_DAMAGED, at) ||
				  has_issue(reader, HEAPSHOT_ISSUE_REFUSED, at),
			  "kind %zu", kind);
		heapshot_reader_free(reader);
	}
	free(frames);
	free(file);
	free(body);
	free(raw);
	free(bytes.data);
}

/* More issues than are kept: those that come later count all the same. */
Test(reader_damage, judges_snapshots_behind_many_issues)
{
	struct synthetic_bytes bytes = make("varied");
	struct heapshot_frame *frames;
	uint8_t *file = malloc(bytes.size + 200 * HS_TAG_BYTES);
	size_t n_frames, size, n, gone = 0, i;

	frames = list_frames(&bytes, &n_frames);
	for (i = 0; i < n_frames; i++)
		if (frames[i].kind == HEAPSHOT_FRAME_SNAPSHOT_BODY && frames[i].snapshot == 2)
			gone = i;
	cr_assert_gt(gone, 0);
	for (int is_lost = 0; is_lost < 2; is_lost++) {
		struct heapshot_reader *reader = heapshot_reader_new(NULL);
		const struct heapshot_snapshot *snapshots;
		uint64_t met;

		/* Tags that lie, behind the header and before both snapshots. */
		size = frames[1].offset;
		memcpy(file, bytes.data, size);
		for (i = 0; i < 100; i++)
			size += put_frame(file + size, 0, 1, "", 0, 0, 0);
		for (i = 1; i < n_frames; i++) {
			size_t end = i + 1 < n_frames ? frames[i + 1].offset : bytes.size;

			if (is_lost && i == gone)
				continue;
			memcpy(file + size, bytes.data + frames[i].offset, end - frames[i].offset);
			size += end - frames[i].offset;
		}
		cr_assert_eq(heapshot_reader_open_memory(reader, file, size), HEAPSHOT_READ_OK);
		heapshot_reader_issues(reader, &n, &met);
		cr_assert_eq(n, HEAPSHOT_ISSUES_MAX);
		cr_assert_eq(met, 100u + (unsigned)is_lost);
		snapshots = heapshot_reader_snapshots(reader, &n);
		cr_assert_eq(n, 2);
		cr_assert(snapshots[0].is_complete);
		cr_assert_eq(snapshots[1].is_complete, !is_lost);
		heapshot_reader_free(reader);
	}
	free(file);
	free(frames);
	free(bytes.data);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Frames whose checksums are right and whose records are not: bytes behind the
 * FrameStart are changed, then the frame is made anew.
 */
Test(reader_damage, survives_records_that_lie)
{
	const uint64_t seed = 20260131;
	struct synthetic_bytes bytes = make("small");
	uint8_t *file = malloc(bytes.size + (1 << 20)), *raw = malloc(1 << 20);
	LZ4F_dctx *lz4;
	struct heapshot_frame *frames;
	uint64_t state = seed;
	size_t n_frames, round, n_damaged = 0;

	frames = list_frames(&bytes, &n_frames);
	LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION);
	for (round = 0; round < 3000 / STEP; round++) {
		const struct heapshot_frame *frame = &frames[round % n_frames];
		struct heapshot_reader *reader = heapshot_reader_new(NULL);
		size_t raw_size = 1 << 20, used = frame->compressed_bytes, k, size, n_issues;
		uint8_t *out = file + frame->offset;
		struct hs_tag tag;

		LZ4F_resetDecompressionContext(lz4);
		LZ4F_decompress(lz4, raw, &raw_size, bytes.data + frame->body_offset, &used, NULL);
		for (k = 0; k < 1 + round % 4; k++)
			raw[20 + next_random(&state) % (raw_size - 20)] =
				(uint8_t)next_random(&state);
		memcpy(file, bytes.data, frame->offset);
		size = compress(out + HS_TAG_BYTES, 1 << 20, raw, raw_size, LZ4F_max64KB);
		cr_assert_gt(hs_tag_decode(bytes.data + frame->offset, HS_TAG_BYTES, &tag), 0);
		tag.compressed_bytes = (uint32_t)size;
		hs_tag_encode(&tag, out);
		size += frame->body_offset;
		used = frame->body_offset + frame->compressed_bytes;
		memcpy(file + size, bytes.data + used, bytes.size - used);
		size += bytes.size - used;
		/* A changed header may state another version; all else opens. */
		if (heapshot_reader_open_memory(reader, file, size) == HEAPSHOT_READ_OK)
			read_all(reader);
		else
			cr_assert_eq(round % n_frames, 0, "seed %lu, round %zu: %s",
				     (unsigned long)seed, round, heapshot_reader_error(reader));
		heapshot_reader_issues(reader, &n_issues, NULL);
		n_damaged += n_issues > 0;
		heapshot_reader_free(reader);
	}
	cr_assert_gt(n_damaged, 100 / STEP, "most changes are seen");
	LZ4F_freeDecompressionContext(lz4);
	free(frames);
	free(file);
	free(raw);
	free(bytes.data);
}

/* Whatever the number of objects, counting them takes the same memory. */
Test(reader_damage, keeps_the_limit_of_memory)
{
	static const size_t limits[] = {6 << 20, 12 << 20, 0};
	struct synthetic_bytes bytes;
	size_t i;

	cr_assert(synthetic_make("many", 400000, &bytes));
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct heapshot_reader_options options = {
			.size = sizeof(options),
			.memory_bytes = limits[i],
		};
		struct heapshot_reader *reader = heapshot_reader_new(&options);
		struct heapshot_totals totals;
		struct rusage before, after;

		getrusage(RUSAGE_SELF, &before);
		cr_assert_eq(heapshot_reader_open_memory(reader, bytes.data, bytes.size),
			     HEAPSHOT_READ_OK);
		cr_assert_eq(heapshot_reader_totals(reader, heapshot_reader_snapshot(reader, 1),
						    &totals),
			     HEAPSHOT_READ_OK);
		cr_assert_eq(totals.objects, 440003);
		getrusage(RUSAGE_SELF, &after);
#ifndef __SANITIZE_ADDRESS__
		cr_assert_lt(after.ru_maxrss - before.ru_maxrss, 8 << 10, "in KB");
#endif
		heapshot_reader_free(reader);
	}
	free(bytes.data);
}

Test(reader_damage, says_what_a_file_is_instead)
{
	static const char lz4[] = "\x04\x22\x4D\x18........................";
	uint8_t *noise = malloc(64 << 20);
	uint64_t state = 1;
	size_t i;
	const struct {
		const void *data;
		size_t size;
		const char *text;
	} files[] = {
		{"", 0, "empty"},
		{"using System;\nclass T {}\n", 24, "text"},
		{noise, 64 << 20, "no frame tag at offset 0"},
		{lz4, sizeof(lz4), "LZ4 file"},
	};

	for (i = 0; i < (64 << 20) / 8; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		memcpy(noise + 8 * i, &state, 8);
	}
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct heapshot_reader *reader = heapshot_reader_new(NULL);

		cr_assert_eq(heapshot_reader_open_memory(reader, files[i].data, files[i].size),
			     HEAPSHOT_READ_NOT_RECORDING);
		cr_assert(strstr(heapshot_reader_error(reader), files[i].text) != NULL, "%s",
			  heapshot_reader_error(reader));
		heapshot_reader_free(reader);
	}
	free(noise);
}

Test(reader_damage, states_trailing_bytes_and_torn_frames)
{
	struct synthetic_bytes bytes = make("small");
	struct heapshot_frame *frames;
	struct heapshot_reader *reader;
	uint8_t *file = malloc(bytes.size + 1000);
	size_t n_frames, hole;

	frames = list_frames(&bytes, &n_frames);
	memcpy(file, bytes.data, bytes.size);
	memset(file + bytes.size, 'x', 1000);
	reader = heapshot_reader_new(NULL);
	cr_assert_eq(heapshot_reader_open_memory(reader, file, bytes.size + 1000),
		     HEAPSHOT_READ_OK);
	cr_assert(has_issue(reader, HEAPSHOT_ISSUE_TRAILING, bytes.size));
	cr_assert_eq(read_all(reader), n_frames);
	heapshot_reader_free(reader);

	/* The end of a body is missing: its frame is lost, those behind are not. */
	hole = frames[2].body_offset + frames[2].compressed_bytes / 2;
	memcpy(file, bytes.data, hole);
	memcpy(file + hole, bytes.data + frames[3].offset, bytes.size - frames[3].offset);
	reader = heapshot_reader_new(NULL);
	cr_assert_eq(
		heapshot_reader_open_memory(reader, file, hole + bytes.size - frames[3].offset),
		HEAPSHOT_READ_OK);
	cr_assert_eq(read_all(reader), n_frames - 1);
	cr_assert(has_issue(reader, HEAPSHOT_ISSUE_BAD_FRAME, frames[2].offset));
	heapshot_reader_free(reader);

	/* A whole frame is missing: the numbers tell. */
	memcpy(file, bytes.data, frames[2].offset);
	memcpy(file + frames[2].offset, bytes.data + frames[3].offset,
	       bytes.size - frames[3].offset);
	reader = heapshot_reader_new(NULL);
	cr_assert_eq(heapshot_reader_open_memory(
			     reader, file, bytes.size - (frames[3].offset - frames[2].offset)),
		     HEAPSHOT_READ_OK);
	cr_assert(has_issue(reader, HEAPSHOT_ISSUE_GAP, frames[2].offset));
	cr_assert_eq(read_all(reader), n_frames - 1);
	heapshot_reader_free(reader);
	free(frames);
	free(file);
	free(bytes.data);
}

/* Padding of a ring, and tags of a later version, which may be longer. */
Test(reader_damage, passes_over_padding_and_longer_tags)
{
	struct synthetic_bytes bytes = make("small");
	struct heapshot_frame *frames;
	struct heapshot_reader *reader;
	uint8_t *file = calloc(1, 2 * bytes.size + 4096), *out = file;
	size_t n_frames, n_issues, i;

	frames = list_frames(&bytes, &n_frames);
	for (i = 0; i < n_frames; i++) {
		uint8_t *tag = out;
		uint32_t crc;

		memcpy(out, bytes.data + frames[i].offset, HS_TAG_BYTES);
		out += HS_TAG_BYTES;
		if (i % 2 == 0) {
			/* 16 bytes more, and version 2. */
			tag[4] = HS_TAG_PAYLOAD_BYTES + 16;
			tag[8 + 4] = 2;
			crc = hs_crc32(tag + 8, 44);
			memcpy(tag + 8 + 44, &crc, 4);
			out += 16;
		}
		memcpy(out, bytes.data + frames[i].body_offset, frames[i].compressed_bytes);
		out += frames[i].compressed_bytes;
		memcpy(out, "\x5D\x2A\x4D\x18\x05\0\0\0xxxxx", 13);
		out += 13;
	}
	reader = heapshot_reader_new(NULL);
	cr_assert_eq(heapshot_reader_open_memory(reader, file, (size_t)(out - file)),
		     HEAPSHOT_READ_OK);
	cr_assert_eq(read_all(reader), n_frames);
	heapshot_reader_issues(reader, &n_issues, NULL);
	cr_assert_eq(n_issues, 0);
	heapshot_reader_free(reader);
	free(frames);
	free(file);
	free(bytes.data);
}

/* Offsets of all frames of a pass must be those of FRAMES, moved by SHIFT. */
static void check_passes(const uint8_t *data, size_t size, const struct heapshot_frame *frames,
			 size_t n_frames, size_t shift)
{
	struct heapshot_reader *reader = heapshot_reader_new(NULL);
	const struct heapshot_snapshot *snapshots;
	struct heapshot_frame frame;
	size_t n, i, k;

	cr_assert_eq(heapshot_reader_open_memory(reader, data, size), HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_reader_summary(reader)->n_frames, n_frames);
	heapshot_reader_rewind(reader, NULL);
	for (i = 0; heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK; i++)
		cr_assert_eq(frame.offset, frames[i].offset + shift, "frame %zu", i);
	cr_assert_eq(i, n_frames);
	snapshots = heapshot_reader_snapshots(reader, &n);
	for (k = 0; k < n; k++) {
		size_t seen = 0, present = 0;

		heapshot_reader_rewind(reader, &snapshots[k]);
		while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK)
			seen += frame.snapshot == snapshots[k].id;
		for (i = 0; i < n_frames; i++)
			present += frames[i].snapshot == snapshots[k].id;
		cr_assert_eq(seen, present, "snapshot %zu", k);
	}
	heapshot_reader_free(reader);
}

/* One whose middle was lost states to be longer than it is, over its successors. */
Test(reader_damage, a_frame_that_states_to_be_longer_hides_no_other)
{
	struct synthetic_bytes bytes = make("small");
	const size_t trailing = 200;
	struct heapshot_frame *frames;
	size_t n_frames, i;
	uint8_t *data;

	frames = list_frames(&bytes, &n_frames);
	data = calloc(1, bytes.size + trailing);
	for (i = 0; i < n_frames; i++) {
		struct hs_tag tag;

		memcpy(data, bytes.data, bytes.size);
		cr_assert_gt(hs_tag_decode(data + frames[i].offset, HS_TAG_BYTES, &tag), 0);
		tag.compressed_bytes = (uint32_t)(bytes.size + 100 - frames[i].body_offset);
		hs_tag_encode(&tag, data + frames[i].offset);
		check_passes(data, bytes.size + trailing, frames, n_frames, 0);
	}
	free(data);
	free(frames);
	free(bytes.data);
}

/* The only tag of it that is left, of a frame that is not. */
Test(reader_damage, a_tag_of_another_recording_before_the_first_frame)
{
	struct hs_tag tag = {.version = 1, .kind = HS_FRAME_EVENTS, .stream = 5, .raw_bytes = 10};
	struct synthetic_bytes bytes = make("small");
	struct heapshot_frame *frames;
	size_t n_frames;
	uint8_t *data = malloc(HS_TAG_BYTES + bytes.size);

	frames = list_frames(&bytes, &n_frames);
	memcpy(data + HS_TAG_BYTES, bytes.data, bytes.size);
	tag.compressed_bytes = 1 << 20; /* more than there is */
	hs_tag_encode(&tag, data);
	check_passes(data, HS_TAG_BYTES + bytes.size, frames, n_frames, HS_TAG_BYTES);
	tag.compressed_bytes = 0; /* refused */
	hs_tag_encode(&tag, data);
	check_passes(data, HS_TAG_BYTES + bytes.size, frames, n_frames, HS_TAG_BYTES);
	free(data);
	free(frames);
	free(bytes.data);
}
