/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the reader's way from tag to tag and into the frames: a file as it is,
 * and one that became shorter while it was being read.
 */
#include "contrib/reader/heapshot-reader.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/repair.h"

#define MEMORY_BYTES (16u << 20)
#define MISSING      100u /* bytes of the file that are gone when they are asked for */

static ssize_t read_part(void *user_data, uint64_t offset, void *buffer, size_t size)
{
	const struct fuzz_input *input = user_data;

	if (offset >= input->size)
		return 0;
	if (size > input->size - offset)
		size = (size_t)(input->size - offset);
	memcpy(buffer, input->data + offset, size);
	return (ssize_t)size;
}

static void read_frame(struct heapshot_reader *reader, const struct heapshot_frame *frame)
{
	enum heapshot_read_result result = heapshot_reader_load_frame(reader, frame);
	struct heapshot_record record;
	size_t bytes = 0;

	while (result == HEAPSHOT_READ_OK &&
	       (result = heapshot_reader_next_record(reader, &record)) == HEAPSHOT_READ_OK)
		bytes += record.body_bytes;
	FUZZ_CHECK(bytes <= frame->raw_bytes);
	FUZZ_CHECK(result == HEAPSHOT_READ_END || result == HEAPSHOT_READ_DAMAGED);
}

static void read_all(struct heapshot_reader *reader, enum heapshot_read_result result, size_t size)
{
	const struct heapshot_issue *issues;
	struct heapshot_frame frame;
	uint64_t end = 0, n_met;
	size_t n = 0, n_kept;

	issues = heapshot_reader_issues(reader, &n_kept, &n_met);
	FUZZ_CHECK(n_kept <= HEAPSHOT_ISSUES_MAX && n_kept <= n_met);
	for (size_t i = 0; i < n_kept; i++)
		FUZZ_CHECK(
			issues[i].kind == HEAPSHOT_ISSUE_NO_HEADER ||
			(issues[i].offset <= size && issues[i].bytes <= size - issues[i].offset));
	if (result != HEAPSHOT_READ_OK) {
		FUZZ_CHECK(result == HEAPSHOT_READ_TRUNCATED ||
			   result == HEAPSHOT_READ_NOT_RECORDING ||
			   result == HEAPSHOT_READ_WRONG_VERSION);
		FUZZ_CHECK(*heapshot_reader_error(reader));
		FUZZ_CHECK(heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_MISUSE);
		return;
	}
	heapshot_reader_rewind(reader, NULL);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		/* Each behind the tag of the one before, and whole. */
		FUZZ_CHECK(frame.offset >= end && frame.body_offset > frame.offset);
		FUZZ_CHECK(frame.body_offset + frame.compressed_bytes <= size);
		end = frame.body_offset;
		read_frame(reader, &frame);
		n++;
	}
	FUZZ_CHECK(result == HEAPSHOT_READ_END);
	FUZZ_CHECK(n == heapshot_reader_summary(reader)->n_frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heapshot_reader_options options = {sizeof options, MEMORY_BYTES, {0}};
	struct heapshot_reader *reader = heapshot_reader_new(&options);
	struct fuzz_input input = {data, size};

	FUZZ_CHECK(reader != NULL);
	read_all(reader, heapshot_reader_open_memory(reader, data, size), size);
	heapshot_reader_free(reader);

	reader = heapshot_reader_new(&options);
	FUZZ_CHECK(reader != NULL);
	read_all(reader, heapshot_reader_open_callback(reader, read_part, &input, size + MISSING),
		 size + MISSING);
	heapshot_reader_free(reader);
	return 0;
}
