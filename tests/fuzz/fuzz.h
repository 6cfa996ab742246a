/* SPDX-License-Identifier: MIT */
/*
 * What the fuzz targets share.  A target is one file with LLVMFuzzerTestOneInput;
 * configured with --enable-fuzzing it is linked to libFuzzer, else to replay.c,
 * whose main runs the files it is given.
 */
#ifndef HEAPSHOT_TESTS_FUZZ_H
#define HEAPSHOT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for every input. */
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			dprintf(STDERR_FILENO, "%s:%d: not so: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Takes values off the front of an input; zeros behind its end. */
struct fuzz_input {
	const uint8_t *data;
	size_t size;
};

static inline size_t fuzz_bytes(struct fuzz_input *input, void *out, size_t size)
{
	const size_t n = size < input->size ? size : input->size;

	memset(out, 0, size);
	if (n)
		memcpy(out, input->data, n);
	input->data += n;
	input->size -= n;
	return n;
}

/* SIZE bytes (up to 8), little-endian. */
static inline uint64_t fuzz_number(struct fuzz_input *input, size_t size)
{
	uint8_t bytes[8] = {0};
	uint64_t number = 0;

	fuzz_bytes(input, bytes, size);
	for (size_t i = 8; i-- > 0;)
		number = number << 8 | bytes[i];
	return number;
}

/* A copy of an input in memory of its own size, so that reading past it is seen. */
static inline void *fuzz_copy(const void *data, size_t size)
{
	void *copy = malloc(size ? size : 1);

	FUZZ_CHECK(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

#endif
