/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the reader's way through a ring file.  The first two bytes are the
 * length of what the part for names begins with, then that, then what the lap
 * begins with; header, and pads behind both, are put around.
 */
#include "contrib/reader/heapshot-reader.h"
#include "schema/ring.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/repair.h"

#define FILE_BYTES   HS_RING_BYTES_MIN
#define MEMORY_BYTES (16u << 20)

static uint8_t file[FILE_BYTES];

/* Up to SIZE bytes of the input at AT, and a pad from there to END. */
static void put_part(struct fuzz_input *input, size_t size, size_t at, size_t end)
{
	size_t used;

	memset(file + at, 0, end - at);
	if (size > input->size)
		size = input->size;
	if (size > end - at)
		size = end - at;
	fuzz_bytes(input, file + at, size);
	used = (at + size + HS_RING_ALIGN - 1) / HS_RING_ALIGN * HS_RING_ALIGN;
	if (end - used >= HS_RING_ALIGN)
		hs_ring_pad_encode(end - used, file + used);
}

static void read_all(struct heapshot_reader *reader)
{
	enum heapshot_read_result result;
	struct heapshot_record record;
	struct heapshot_frame frame;
	uint64_t seq = 0;
	size_t n = 0;

	heapshot_reader_rewind(reader, NULL);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		FUZZ_CHECK(n == 0 || frame.seq >= seq);
		seq = frame.seq;
		n++;
		result = heapshot_reader_load_frame(reader, &frame);
		while (result == HEAPSHOT_READ_OK)
			result = heapshot_reader_next_record(reader, &record);
		FUZZ_CHECK(result == HEAPSHOT_READ_END || result == HEAPSHOT_READ_DAMAGED);
	}
	FUZZ_CHECK(result == HEAPSHOT_READ_END);
	FUZZ_CHECK(n == heapshot_reader_summary(reader)->n_frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heapshot_reader_options options = {sizeof options, MEMORY_BYTES, {0}};
	struct heapshot_reader *reader = heapshot_reader_new(&options);
	const struct hs_ring_header header = {
		.version = HS_RING_VERSION,
		.stream = 0xC0FFEE,
		.file_bytes = FILE_BYTES,
		.lap_offset = hs_ring_lap_offset(FILE_BYTES),
	};
	struct fuzz_input input = {data, size};
	const size_t names = (size_t)fuzz_number(&input, 2);
	enum heapshot_read_result result;

	FUZZ_CHECK(reader != NULL);
	hs_ring_header_encode(&header, file);
	put_part(&input, names, HS_RING_HEADER_BYTES, (size_t)header.lap_offset);
	put_part(&input, input.size, (size_t)header.lap_offset, FILE_BYTES);
	result = heapshot_reader_open_memory(reader, file, sizeof file);
	if (result == HEAPSHOT_READ_OK)
		read_all(reader);
	else
		FUZZ_CHECK(result == HEAPSHOT_READ_TRUNCATED ||
			   result == HEAPSHOT_READ_NOT_RECORDING ||
			   result == HEAPSHOT_READ_WRONG_VERSION);
	heapshot_reader_free(reader);
	return 0;
}
