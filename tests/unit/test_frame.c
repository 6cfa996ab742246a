/* SPDX-License-Identifier: MIT */
/*
 * Frames: what stands in the file, read back by LZ4's functions and by the lz4
 * command.
 */
#include "emit/frame.h"

#include <criterion/criterion.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/frame_reader.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/malloc_count.h"

TestSuite(frame, .fini = leak_check);

static const size_t sizes[] = {1,         100,    65535,   65536,         65537,
			       256 << 10, 262145, 1000000, (1 << 20) - 1, 1 << 20};

enum content { ZEROS, TEXT, NOISE, N_CONTENTS };

static void fill(uint8_t *data, size_t size, enum content content)
{
	if (content == NOISE)
		fill_random(data, size, size);
	for (size_t i = 0; content != NOISE && i < size; i++)
		data[i] = content == ZEROS ? 0 : (uint8_t)("heapshot "[i % 9] + i / 4096 % 7);
}

static uint32_t get_u32(const uint8_t *in)
{
	return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

/* One block, independent, content's size and checksum, no block checksum. */
static void check_shape(const uint8_t *frame, size_t size, size_t raw_bytes)
{
	LZ4F_dctx *context;
	LZ4F_frameInfo_t info;
	size_t header = size, block;

	LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
	cr_assert_not(LZ4F_isError(LZ4F_getFrameInfo(context, &info, frame, &header)));
	LZ4F_freeDecompressionContext(context);
	cr_expect_eq(info.blockMode, LZ4F_blockIndependent);
	cr_expect_eq(info.contentChecksumFlag, LZ4F_contentChecksumEnabled);
	cr_expect_eq(info.blockChecksumFlag, LZ4F_noBlockChecksum);
	cr_expect_eq(info.contentSize, raw_bytes);
	cr_expect_eq(info.dictID, 0);
	block = get_u32(frame + header) & 0x7fffffff;
	cr_assert_eq(header + 4 + block + 8, size, "one block of %zu bytes", block);
	cr_expect_eq(get_u32(frame + header + 4 + block), 0, "the end mark follows it");
}

Test(frame, reads_back_at_all_sizes)
{
	uint8_t *raw = malloc(1 << 20), *out = malloc(hs_frame_bound(1 << 20));

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (enum content content = ZEROS; content < N_CONTENTS; content++) {
			const size_t bound = hs_frame_bound(sizes[i]);
			struct hs_tag tag = {.kind = HS_FRAME_SNAPSHOT_BODY,
					     .stream = 0xfeedbeef,
					     .snapshot = 7,
					     .seq = UINT64_C(1) << 40,
					     .time_ns = 123456789012345};
			struct hs_tag read;
			struct read_frames frames;
			size_t n;

			fill(raw, sizes[i], content);
			n = hs_frame_compress(out, bound, raw, sizes[i], &tag);
			cr_assert_gt(n, HS_TAG_BYTES);
			cr_assert_leq(n, bound);
			cr_expect_eq(hs_frame_compress(out, bound - 1, raw, sizes[i], &tag), 0);

			cr_assert_eq(hs_tag_decode(out, n, &read), HS_TAG_BYTES);
			cr_expect_eq(read.version, HS_TAG_VERSION);
			cr_expect_eq(read.kind, HS_FRAME_SNAPSHOT_BODY);
			cr_expect_eq(read.flags, 0);
			cr_expect_eq(read.stream, 0xfeedbeef);
			cr_expect_eq(read.snapshot, 7);
			cr_expect_eq(read.seq, UINT64_C(1) << 40);
			cr_expect_eq(read.time_ns, 123456789012345);
			cr_expect_eq(read.compressed_bytes, n - HS_TAG_BYTES);
			cr_expect_eq(read.raw_bytes, sizes[i]);
			check_shape(out + HS_TAG_BYTES, n - HS_TAG_BYTES, sizes[i]);

			frames = read_frames(out, n);
			cr_assert_eq(frames.n, 1);
			cr_expect_eq(memcmp(frames.frames[0].raw, raw, sizes[i]), 0);
			read_frames_free(&frames);
		}
	}
	free(out);
	free(raw);
}

Test(frame, refuses_what_no_frame_may_hold)
{
	uint8_t *raw = calloc(1, (1 << 20) + 1), *out = malloc(hs_frame_bound((1 << 20) + 1));
	struct hs_tag tag = {.kind = HS_FRAME_EVENTS};

	cr_expect_eq(hs_frame_compress(out, hs_frame_bound(1 << 20), raw, 0, &tag), 0);
	cr_expect_eq(
		hs_frame_compress(out, hs_frame_bound((1 << 20) + 1), raw, (1 << 20) + 1, &tag), 0);
	cr_expect_eq(hs_frame_compress(out, 0, raw, 1, &tag), 0);
	free(out);
	free(raw);
}

Test(frame, allocates_nothing)
{
	uint8_t *raw, *out;
	uint64_t before;
	LZ4F_dctx *context;

	if (!malloc_count_is_available() || is_under_valgrind())
		cr_skip_test("allocations cannot be counted under AddressSanitizer and valgrind");
	raw = malloc(1 << 20);
	out = malloc(hs_frame_bound(1 << 20));
	before = malloc_count();
	LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
	LZ4F_freeDecompressionContext(context);
	cr_assert_gt(malloc_count(), before, "what the library allocates is counted");

	for (enum content content = ZEROS; content < N_CONTENTS; content++) {
		struct hs_tag tag = {.kind = HS_FRAME_EVENTS};

		fill(raw, 1 << 20, content);
		before = malloc_count();
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			cr_assert_neq(hs_frame_compress(out, hs_frame_bound(sizes[i]), raw,
							sizes[i], &tag),
				      0);
		cr_expect_eq(malloc_count(), before);
	}
	free(out);
	free(raw);
}

/* Stock lz4 stumbles over some chains of frames: never over ours. */
Test(frame, lz4_command_reads_many)
{
	uint8_t *raw, *out;
	char path[] = "/tmp/heapshot-frame-XXXXXX", command[128];
	struct bytes written = {0}, whole = {0}, read = {0};
	uint8_t block[4096];
	FILE *file;
	size_t n;
	int fd;

	if (system("command -v lz4 >/dev/null") != 0)
		cr_skip_test("lz4 is missing");
	raw = malloc(1 << 20);
	out = malloc(hs_frame_bound(1 << 20));
	for (unsigned i = 0; i < 120; i++) {
		/* Some over 64 KB compressed, where block sizes differ. */
		const size_t size = i % 10 == 0 ? 300000 : 1 + i * 577;
		struct hs_tag tag = {.kind = HS_FRAME_EVENTS, .seq = i};

		fill(raw, size, (enum content)(i % N_CONTENTS));
		n = hs_frame_compress(out, hs_frame_bound(size), raw, size, &tag);
		bytes_add(&written, out, n);
		bytes_add(&whole, raw, size);
	}
	fd = mkstemp(path);
	cr_assert_eq(write(fd, written.data, written.size), (ssize_t)written.size);
	close(fd);

	snprintf(command, sizeof(command), "lz4 -t -q %s", path);
	cr_expect_eq(system(command), 0);
	snprintf(command, sizeof(command), "lz4 -dc %s", path);
	file = popen(command, "r");
	while ((n = fread(block, 1, sizeof(block), file)) > 0)
		bytes_add(&read, block, n);
	cr_expect_eq(pclose(file), 0);
	cr_assert_eq(read.size, whole.size);
	cr_expect_eq(memcmp(read.data, whole.data, whole.size), 0);

	unlink(path);
	bytes_free(&read);
	bytes_free(&whole);
	bytes_free(&written);
	free(out);
	free(raw);
}
