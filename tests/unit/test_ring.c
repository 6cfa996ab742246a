/* SPDX-License-Identifier: MIT */
/*
 * The ring: at whatever write the process ends, the file is a whole chain of
 * LZ4 frames, and what is in it are all names that found room and the newest of
 * the other frames, in one run.
 */
#include "emit/ring.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit/frame.h"
#include "emit/ring_file.h"
#include "emit/stream.h"
#include "tests/unit/frame_reader.h"
#include "tests/unit/leak_check.h"

TestSuite(ring, .fini = leak_check);

#define FILE_BYTES (64u << 10)
#define ID         0x1234u

/* Places in memory, and what is to be done at each write. */
struct image {
	uint8_t bytes[FILE_BYTES];
	size_t n_writes;
	size_t fail_at; /* number of the write that fails, from 1; 0: none */
	void (*look)(struct image *image, void *data);
	void *data;
};

static int image_write(void *data, uint64_t at, const void *bytes, size_t size)
{
	struct image *image = data;
	size_t i;

	cr_assert_leq(at + size, FILE_BYTES);
	image->n_writes++;
	if (image->fail_at != 0 && image->n_writes >= image->fail_at)
		return -ENOSPC;
	if (image->look != NULL && size > 8) {
		/* A write of more than a word may be torn anywhere. */
		for (i = 1; i < 4; i++) {
			memcpy(image->bytes + at, bytes, size * i / 4);
			image->look(image, image->data);
		}
	} else {
		cr_assert(size > 8 || (size == 8 && at % 8 == 0), "a write of %zu bytes at %llu",
			  size, (unsigned long long)at);
	}
	memcpy(image->bytes + at, bytes, size);
	if (image->look != NULL)
		image->look(image, image->data);
	return 0;
}

static int image_read(void *data, uint64_t at, void *bytes, size_t size)
{
	struct image *image = data;

	cr_assert_leq(at + size, FILE_BYTES);
	memcpy(bytes, image->bytes + at, size);
	return 0;
}

static struct hs_ring_storage storage_of(struct image *image)
{
	return (struct hs_ring_storage){.write = image_write, .read = image_read, .data = image};
}

static uint32_t get_u32(const uint8_t *in)
{
	return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 |
	       (uint32_t)in[3] << 24;
}

/* Content of frame SEQ, which its length and bytes follow from. */
static size_t content(uint8_t *raw, uint64_t seq)
{
	const size_t size = 1 + (size_t)(seq * 2654435761u % 5000);

	fill_random(raw, size, seq);
	return size;
}

static enum hs_frame_kind kind_of(uint64_t seq)
{
	return seq % 7 == 0 ? HS_FRAME_METADATA : HS_FRAME_EVENTS;
}

static size_t make_frame(uint8_t *out, size_t room, uint64_t seq, enum hs_frame_kind kind)
{
	struct hs_tag tag = {
		.kind = (uint8_t)kind, .stream = ID, .seq = seq, .flags = HS_TAG_FLAG_RING};
	uint8_t raw[8192];
	size_t n = hs_frame_compress(out, room, raw, content(raw, seq), &tag);

	cr_assert_neq(n, 0);
	return n;
}

/* What a reader that knows LZ4's frames finds. */
struct found {
	uint64_t seqs[4096];
	uint8_t kinds[4096];
	size_t n;
};

static size_t read_frame(const uint8_t *in, size_t size, uint64_t seq)
{
	uint8_t raw[8192], expected[8192];
	LZ4F_dctx *context;
	size_t used = size, made = sizeof(raw), left;

	cr_assert(!LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)));
	left = LZ4F_decompress(context, raw, &made, in, &used, NULL);
	LZ4F_freeDecompressionContext(context);
	cr_assert_eq(left, 0, "frame %llu: %s", (unsigned long long)seq, LZ4F_getErrorName(left));
	cr_assert_eq(made, content(expected, seq));
	cr_assert_eq(memcmp(raw, expected, made), 0);
	return used;
}

/* Hops over the whole file, as `lz4 -t` does. */
static void find_all(const uint8_t *bytes, struct found *found)
{
	size_t at = 0;

	found->n = 0;
	while (at < FILE_BYTES) {
		uint32_t magic;

		cr_assert_leq(at + 8, FILE_BYTES);
		magic = get_u32(bytes + at);
		if ((magic & 0xFFFFFFF0u) == 0x184D2A50u) {
			struct hs_tag tag;

			if (magic == HS_TAG_SKIPPABLE_MAGIC) {
				cr_assert_eq(hs_tag_decode(bytes + at, FILE_BYTES - at, &tag),
					     HS_TAG_BYTES);
				cr_assert_eq(at % 8, 0);
				found->kinds[found->n] = tag.kind;
				found->seqs[found->n++] = tag.seq;
			}
			at += 8 + (size_t)get_u32(bytes + at + 4);
			continue;
		}
		cr_assert_eq(magic, HS_LZ4_FRAME_MAGIC, "at %zu", at);
		cr_assert_gt(found->n, 0);
		at += read_frame(bytes + at, FILE_BYTES - at, found->seqs[found->n - 1]);
	}
	cr_assert_eq(at, FILE_BYTES);
}

/*
 * N frames were put in whole, and one more perhaps.  Names that found room are
 * all there; the others are one run that ends with the newest, and fill the
 * lap but for what the frame under way takes.
 */
struct expectation {
	uint64_t n;
	uint64_t n_kept_names;
	size_t n_looks;
};

static void check(struct image *image, void *data)
{
	struct expectation *expected = data;
	struct found found;
	uint64_t first = UINT64_MAX, last = 0, n_lap = 0, n_names = 0;
	uint8_t raw[8192];
	size_t i, bytes = 0;

	expected->n_looks++;
	find_all(image->bytes, &found);
	for (i = 0; i < found.n; i++) {
		cr_assert_leq(found.seqs[i], expected->n);
		if (found.kinds[i] == HS_FRAME_METADATA) {
			n_names++;
			continue;
		}
		n_lap++;
		bytes += content(raw, found.seqs[i]) + HS_TAG_BYTES + 19;
		first = found.seqs[i] < first ? found.seqs[i] : first;
		last = found.seqs[i] > last ? found.seqs[i] : last;
	}
	cr_assert_geq(n_names, expected->n_kept_names);
	if (n_lap == 0) {
		cr_assert_lt(expected->n, 3);
		return;
	}
	/* All numbers between are there, but for names, which stand elsewhere. */
	for (i = 0; first + i <= last; i++)
		n_lap -= kind_of(first + i) != HS_FRAME_METADATA;
	cr_assert_eq(n_lap, 0, "frames %llu to %llu are not one run", (unsigned long long)first,
		     (unsigned long long)last);
	cr_assert(last + 2 >= expected->n, "the newest of %llu is %llu",
		  (unsigned long long)expected->n, (unsigned long long)last);
	/* What may not count: before the end of the lap, where the next goes, behind it, and names. */
	if (expected->n > 50)
		cr_assert_gt(bytes + 4 * 5100, FILE_BYTES / 2, "only %zu bytes are left", bytes);
}

Test(ring, is_whole_after_each_write)
{
	static struct image image;
	struct expectation expected = {0};
	const struct hs_ring_storage storage = storage_of(&image);
	struct hs_ring ring;
	uint64_t seq;

	cr_assert_eq(hs_ring_init(&ring, &storage, ID, FILE_BYTES), 0);
	image.look = check;
	image.data = &expected;
	for (seq = 0; seq < 600; seq++) {
		uint8_t frame[8192];
		size_t size = make_frame(frame, sizeof(frame), seq, kind_of(seq));
		uint64_t unkept = ring.n_unkept;

		expected.n = seq;
		cr_assert_eq(hs_ring_put(&ring, frame, size), 0);
		expected.n_kept_names +=
			kind_of(seq) == HS_FRAME_METADATA && ring.n_unkept == unkept;
	}
	/* At the least: retire, three cuts of the body, the body, the commit. */
	cr_assert_gt(expected.n_looks, 600 * 6);
	cr_assert_gt(ring.n_unkept, 0, "the part for names was never full");
	cr_assert_eq(ring.n_frames, 600);
}

Test(ring, counts_what_it_drops)
{
	static struct image image;
	const struct hs_ring_storage storage = storage_of(&image);
	static struct found found;
	struct hs_ring_header header;
	struct hs_ring ring;
	bool is_intact;
	uint64_t seq;

	cr_assert_eq(hs_ring_init(&ring, &storage, ID, FILE_BYTES), 0);
	for (seq = 0; seq < 3000; seq++) {
		uint8_t frame[8192];
		size_t size = make_frame(frame, sizeof(frame), seq, kind_of(seq));

		cr_assert_eq(hs_ring_put(&ring, frame, size), 0);
		find_all(image.bytes, &found);
		cr_assert_eq(ring.n_frames - ring.n_dropped, found.n);
	}
	cr_assert(hs_ring_header_decode(image.bytes, &header, &is_intact) && is_intact);
	cr_expect_eq(header.version, HS_RING_VERSION);
	cr_expect_eq(header.stream, ID);
	cr_expect_eq(header.file_bytes, FILE_BYTES);
	cr_expect_eq(header.lap_offset, FILE_BYTES / 2);
	cr_expect_eq(header.n_unkept, ring.n_unkept);
	cr_expect_gt(header.n_unkept, 0);
}

Test(ring, refuses_what_is_too_large_and_goes_on)
{
	static struct image image;
	const struct hs_ring_storage storage = storage_of(&image);
	static uint8_t large[FILE_BYTES];
	uint8_t frame[8192];
	static struct found found;
	struct hs_ring ring;
	size_t size;

	cr_assert_eq(hs_ring_init(&ring, &storage, ID, FILE_BYTES), 0);
	size = make_frame(frame, sizeof(frame), 1, HS_FRAME_EVENTS);
	memcpy(large, frame, size);
	cr_expect_eq(hs_ring_put(&ring, large, FILE_BYTES / 2 + 1), -EMSGSIZE);
	cr_expect_eq(hs_ring_put(&ring, large, HS_TAG_BYTES), -EINVAL);
	cr_expect_eq(hs_ring_put(&ring, frame, size), 0);
	find_all(image.bytes, &found);
	cr_expect_eq(found.n, 1);
	cr_expect_eq(ring.n_frames, 1);
}

Test(ring, a_frame_as_large_as_the_lap)
{
	static struct image image;
	const struct hs_ring_storage storage = storage_of(&image);
	static uint8_t frame[FILE_BYTES], raw[FILE_BYTES];
	struct hs_tag tag = {.kind = HS_FRAME_EVENTS, .stream = ID, .seq = 5};
	struct hs_ring_cursor cursor;
	struct hs_ring_place place;
	struct hs_ring ring;
	size_t size, n;

	cr_assert_eq(hs_ring_init(&ring, &storage, ID, FILE_BYTES), 0);
	for (n = FILE_BYTES / 2 - 200; n < FILE_BYTES / 2; n++) {
		fill_random(raw, n, n);
		size = hs_frame_compress(frame, sizeof(frame), raw, n, &tag);
		if (hs_ring_put(&ring, frame, size) != 0)
			break;
		cr_assert_eq(hs_ring_rewind(&ring, &cursor), 0);
		cr_assert_eq(hs_ring_next(&ring, &cursor, &place), 1);
		cr_expect_eq(place.bytes, size);
		cr_assert_eq(hs_ring_next(&ring, &cursor, &place), 0);
	}
	cr_expect_gt(size + hs_ring_tail_bytes(size), FILE_BYTES / 2);
}

Test(ring, is_whole_whichever_write_fails)
{
	static struct image image;
	const struct hs_ring_storage storage = storage_of(&image);
	static struct found found;
	size_t fail_at;

	for (fail_at = 4; fail_at < 400; fail_at++) {
		struct hs_ring ring;
		uint64_t seq;
		int error = 0;

		memset(&image, 0, sizeof(image));
		image.fail_at = fail_at;
		cr_assert_eq(hs_ring_init(&ring, &storage, ID, FILE_BYTES), 0);
		for (seq = 0; error == 0; seq++) {
			uint8_t frame[8192];
			size_t size = make_frame(frame, sizeof(frame), seq, kind_of(seq));

			error = hs_ring_put(&ring, frame, size);
		}
		cr_assert_eq(error, -ENOSPC);
		find_all(image.bytes, &found);
		/* The error stays, and nothing more is written. */
		image.fail_at = 0;
		uint8_t frame[8192];
		size_t size = make_frame(frame, sizeof(frame), seq, HS_FRAME_EVENTS);
		cr_assert_eq(hs_ring_put(&ring, frame, size), -ENOSPC);
		cr_assert_eq(image.n_writes, fail_at);
	}
}

Test(ring, cursor_gives_all_in_order)
{
	static struct image image;
	const struct hs_ring_storage storage = storage_of(&image);
	static struct found found;
	struct hs_ring ring;
	uint64_t seq;

	cr_assert_eq(hs_ring_init(&ring, &storage, ID, FILE_BYTES), 0);
	for (seq = 0; seq < 500; seq++) {
		struct hs_ring_cursor cursor;
		struct hs_ring_place place;
		uint64_t next = 0;
		uint8_t frame[8192];
		size_t n = 0, size;

		cr_assert_eq(hs_ring_rewind(&ring, &cursor), 0);
		while (hs_ring_next(&ring, &cursor, &place) == 1) {
			struct hs_tag tag;

			cr_assert_geq(place.tag.seq, next);
			next = place.tag.seq + 1;
			cr_assert_eq(hs_tag_decode(image.bytes + place.at, HS_TAG_BYTES, &tag),
				     HS_TAG_BYTES);
			cr_assert_eq(tag.seq, place.tag.seq);
			cr_assert_eq(place.bytes, HS_TAG_BYTES + (uint64_t)tag.compressed_bytes);
			n++;
		}
		find_all(image.bytes, &found);
		cr_assert_eq(n, found.n);
		cr_assert_eq(next, seq);
		size = make_frame(frame, sizeof(frame), seq, kind_of(seq));
		cr_assert_eq(hs_ring_put(&ring, frame, size), 0);
	}
}

Test(ring, mends_a_chain_that_others_broke)
{
	static struct image image;
	const struct hs_ring_storage storage = storage_of(&image);
	static struct found found;
	struct hs_ring_cursor cursor;
	struct hs_ring_place place;
	struct hs_ring ring;
	uint64_t seq, seed;

	for (seed = 0; seed < 50; seed++) {
		int result;

		cr_assert_eq(hs_ring_init(&ring, &storage, ID, FILE_BYTES), 0);
		for (seq = 0; seq < 200; seq++) {
			uint8_t frame[8192];
			size_t size = make_frame(frame, sizeof(frame), seq,
						 seq == 0 ? HS_FRAME_METADATA : HS_FRAME_EVENTS);

			cr_assert_eq(hs_ring_put(&ring, frame, size), 0);
			if (seq == 100) /* Another program writes into the lap. */
				fill_random(image.bytes + FILE_BYTES / 2, FILE_BYTES / 2, seed);
			if (seq == 101) {
				result = hs_ring_rewind(&ring, &cursor);
				while (result == 0 && hs_ring_next(&ring, &cursor, &place) == 1)
					;
			}
		}
		find_all(image.bytes, &found);
		cr_assert_gt(found.n, 5);
	}
}

Test(ring, units_of_hostile_bytes)
{
	static struct image image;
	const struct hs_ring_storage storage = storage_of(&image);
	uint8_t bytes[HS_TAG_BYTES];
	struct hs_ring ring;
	struct hs_tag tag;
	bool is_frame;
	uint64_t seed;

	for (seed = 0; seed < 100000; seed++) {
		const uint64_t left = seed % 200;
		uint64_t n;

		fill_random(bytes, sizeof(bytes), seed);
		if (seed % 2)
			hs_ring_pad_encode(8 + get_u32(bytes + 8) % 256, bytes);
		n = hs_ring_unit(bytes, left, &is_frame, &tag);
		cr_assert_leq(n, left);
		cr_assert(n == 0 || (n >= 8 && n % 8 == 0));
	}
	/* Header: found whatever its checksum, and no more than that. */
	cr_assert_eq(hs_ring_init(&ring, &storage, ID, FILE_BYTES), 0);
	for (size_t i = 0; i < 60; i++) {
		struct hs_ring_header header;
		uint8_t copy[HS_RING_HEADER_USED];
		bool is_intact, is_ring;

		memcpy(copy, image.bytes, sizeof(copy));
		copy[i] ^= 4;
		is_ring = hs_ring_header_decode(copy, &header, &is_intact);
		cr_expect_eq(is_ring, !(i < 4 || (i >= 8 && i < 16)), "byte %zu", i);
		cr_expect_not(is_intact && is_ring, "byte %zu", i);
	}
}

/* ---- the file ---- */

static char folder[] = "/tmp/hs-ring-XXXXXX", path[64];

static void make_folder(void)
{
	strcpy(folder, "/tmp/hs-ring-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.ring", folder);
}

static void remove_folder(void)
{
	unlink(path);
	/* Fails, and is seen, where something was left behind. */
	cr_assert_eq(rmdir(folder), 0, "%s: %s", folder, strerror(errno));
	leak_check();
}

TestSuite(ring_file, .init = make_folder, .fini = remove_folder);

static int put_event(struct hs_ring_file *file, uint64_t seq)
{
	uint8_t frame[8192];
	size_t size = make_frame(frame, sizeof(frame), seq, HS_FRAME_EVENTS);

	return hs_ring_file_put(frame, size, file);
}

Test(ring_file, is_allocated_in_full_and_ours)
{
	struct hs_ring_file file, second;
	struct stat st;
	struct bytes bytes;
	static struct found found;

	cr_assert_eq(hs_ring_file_create(&file, path, ID, FILE_BYTES), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_size, FILE_BYTES);
	cr_expect_geq(st.st_blocks * 512, FILE_BYTES);
	cr_expect_eq(st.st_mode & 07777, 0600);
	cr_expect_eq(hs_ring_file_create(&second, path, ID, FILE_BYTES), -EEXIST);
	cr_expect_eq(second.fd, -1);
	for (uint64_t seq = 0; seq < 100; seq++)
		cr_assert_eq(put_event(&file, seq), 0);
	bytes = bytes_of_file(path);
	cr_assert_eq(bytes.size, FILE_BYTES);
	find_all(bytes.data, &found);
	cr_expect_gt(found.n, 5);
	bytes_free(&bytes);
	hs_ring_file_close(&file);
	hs_ring_file_close(&file);
	cr_expect_eq(put_event(&file, 100), -EBADF);
}

Test(ring_file, no_room_no_file_no_signal)
{
	struct rlimit limit = {FILE_BYTES / 2, FILE_BYTES / 2};
	struct hs_ring_file file;

	signal(SIGXFSZ, SIG_DFL);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_eq(hs_ring_file_create(&file, path, ID, FILE_BYTES), -EFBIG);
	cr_expect_eq(file.fd, -1);
	cr_expect_eq(access(path, F_OK), -1);
}

Test(ring_file, a_forked_child_never_touches_it)
{
	struct hs_ring_file file;
	struct bytes before, after;
	int status;
	pid_t child;

	cr_assert_eq(hs_ring_file_create(&file, path, ID, FILE_BYTES), 0);
	cr_assert_eq(put_event(&file, 0), 0);
	before = bytes_of_file(path);
	child = fork();
	if (child == 0)
		_exit(put_event(&file, 1) == -EBADF ? 0 : 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0);
	after = bytes_of_file(path);
	cr_expect_eq(memcmp(before.data, after.data, FILE_BYTES), 0);
	cr_expect_eq(put_event(&file, 1), 0);
	bytes_free(&before);
	bytes_free(&after);
	hs_ring_file_close(&file);
}

Test(ring_file, a_descriptor_that_the_host_took)
{
	struct hs_ring_file file;
	char other[128];
	struct stat st;
	int fd;

	cr_assert_eq(hs_ring_file_create(&file, path, ID, FILE_BYTES), 0);
	snprintf(other, sizeof(other), "%s/other", folder);
	fd = open(other, O_RDWR | O_CREAT | O_EXCL, 0600);
	cr_assert_geq(fd, 0);
	/* The host closes what it does not know, and opens something of its own. */
	cr_assert_eq(dup2(fd, file.fd), file.fd);
	cr_expect_eq(put_event(&file, 0), -EBADF);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_expect_eq(st.st_size, 0);
	hs_ring_file_close(&file);
	cr_expect_eq(close(fd), 0);
	unlink(other);
}

Test(ring_file, a_file_that_was_cut_is_an_error)
{
	struct hs_ring_file file;
	uint64_t seq;
	int error = 0;

	cr_assert_eq(hs_ring_file_create(&file, path, ID, FILE_BYTES), 0);
	for (seq = 0; seq < 50; seq++)
		cr_assert_eq(put_event(&file, seq), 0);
	cr_assert_eq(truncate(path, 100), 0);
	for (; seq < 100 && error == 0; seq++)
		error = put_event(&file, seq);
	cr_expect_eq(error, -EIO);
	hs_ring_file_close(&file);
}
