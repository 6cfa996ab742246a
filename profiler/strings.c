/* SPDX-License-Identifier: MIT */
/*
 * StringBatch, written by hand: the world is stopped, and the generated code
 * would want an array of pointers.
 */
#include "config.h"

#include <string.h>

#include "profiler/recorder.h"
#include "profiler/strings.h"
#include "schema/varint.h"

/* Protobuf keys: (field << 3) | wire type. */
enum {
	BATCH_SNAPSHOT = 1 << 3 | 0,
	BATCH_STRING = 2 << 3 | 2,
	CONTENT_OBJECT = 1 << 3 | 0,
	CONTENT_LENGTH = 2 << 3 | 0,
	CONTENT_TEXT = 3 << 3 | 2,
};

int hs_strings_flush(struct hs_walk *walk)
{
	const size_t bytes = walk->strings_bytes;

	walk->strings_bytes = 0;
	return bytes ? walk->put_strings(hs_recorder.strings, bytes) : 0;
}

int hs_strings_add(struct hs_walk *walk, MonoObject *string)
{
	const uint64_t length = (uint64_t)mono_string_length((MonoString *)string);
	const uint64_t kept =
		length < hs_recorder.options.strings ? length : hs_recorder.options.strings;
	const size_t text_bytes = (size_t)kept * 2;
	const size_t content_bytes = 1 + hs_varint_size((uintptr_t)string) + 1 +
				     hs_varint_size(length) + 1 + hs_varint_size(text_bytes) +
				     text_bytes;
	uint8_t *out;
	int error;

	if (walk->strings_bytes + content_bytes + 3 * HS_VARINT_MAX > HS_STRINGS_BYTES) {
		error = hs_strings_flush(walk);
		if (error)
			return error;
	}
	out = hs_recorder.strings + walk->strings_bytes;
	if (!walk->strings_bytes) {
		*out++ = BATCH_SNAPSHOT;
		out = hs_varint_put(out, walk->snapshot);
	}
	*out++ = BATCH_STRING;
	out = hs_varint_put(out, content_bytes);
	*out++ = CONTENT_OBJECT;
	out = hs_varint_put(out, (uintptr_t)string);
	*out++ = CONTENT_LENGTH;
	out = hs_varint_put(out, length);
	*out++ = CONTENT_TEXT;
	out = hs_varint_put(out, text_bytes);
	memcpy(out, mono_string_chars((MonoString *)string), text_bytes);
	walk->strings_bytes = (size_t)(out + text_bytes - hs_recorder.strings);
	return 0;
}
