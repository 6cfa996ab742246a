/* SPDX-License-Identifier: MIT */
/*
 * Written from the format alone, so that it does not share a mistake with the
 * code under test.
 */
#include "tests/unit/frame_reader.h"

#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decompresses one whole frame; returns its length, or 0 if it is cut or bad. */
static size_t decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
	LZ4F_dctx *context;
	size_t hint = 1, used = 0, made = 0;

	if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
		return 0;
	while (hint != 0) {
		size_t n_in = in_size - used, n_out = out_size - made;

		hint = LZ4F_decompress(context, out + made, &n_out, in + used, &n_in, NULL);
		used += n_in;
		made += n_out;
		if (LZ4F_isError(hint) || (n_in == 0 && n_out == 0))
			break;
	}
	LZ4F_freeDecompressionContext(context);
	return hint == 0 && made == out_size ? used : 0;
}

struct read_frames read_frames(const uint8_t *data, size_t size)
{
	struct read_frames all = {0};

	while (all.used < size) {
		struct read_frame frame = {0};
		int tag_bytes = hs_tag_decode(data + all.used, size - all.used, &frame.tag);
		size_t at, n;

		if (tag_bytes <= 0)
			break;
		at = all.used + (size_t)tag_bytes;
		if (frame.tag.raw_bytes > HS_FRAME_RAW_MAX ||
		    frame.tag.compressed_bytes > size - at)
			break;
		frame.raw = malloc(frame.tag.raw_bytes);
		n = decompress(data + at, frame.tag.compressed_bytes, frame.raw,
			       frame.tag.raw_bytes);
		if (n != frame.tag.compressed_bytes) {
			free(frame.raw);
			break;
		}
		frame.end = at + n;
		frame.stream = heapshot__stream__unpack(NULL, frame.tag.raw_bytes, frame.raw);
		all.frames = realloc(all.frames, (all.n + 1) * sizeof(*all.frames));
		all.frames[all.n++] = frame;
		all.used = frame.end;
	}
	return all;
}

void read_frames_free(struct read_frames *frames)
{
	for (size_t i = 0; i < frames->n; i++) {
		free(frames->frames[i].raw);
		if (frames->frames[i].stream != NULL)
			heapshot__stream__free_unpacked(frames->frames[i].stream, NULL);
	}
	free(frames->frames);
	*frames = (struct read_frames){0};
}

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
	if (bytes->cap - bytes->size < size) {
		bytes->cap = 2 * (bytes->size + size);
		bytes->data = realloc(bytes->data, bytes->cap);
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

int bytes_callback(const void *data, size_t size, void *bytes)
{
	bytes_add(bytes, data, size);
	return 0;
}

struct bytes bytes_of_file(const char *path)
{
	struct bytes bytes = {0};
	uint8_t block[4096];
	FILE *file = fopen(path, "rb");
	size_t n;

	if (file == NULL)
		return bytes;
	while ((n = fread(block, 1, sizeof(block), file)) > 0)
		bytes_add(&bytes, block, n);
	fclose(file);
	return bytes;
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}

void fill_random(void *data, size_t size, uint64_t seed)
{
	uint8_t *out = data;

	for (size_t i = 0; i < size; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		out[i] = (uint8_t)(seed >> 56);
	}
}
