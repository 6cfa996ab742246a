/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes of a recording come from: memory, callbacks, and what source_file.c opens.
 */
#include <errno.h>
#include <string.h>

#include "contrib/reader/source.h"

static ssize_t read_memory(void *user_data, uint64_t offset, void *buffer, size_t size)
{
	const struct hs_source *source = user_data;

	if (offset >= source->size)
		return 0;
	if (size > source->size - offset)
		size = (size_t)(source->size - offset);
	memcpy(buffer, source->data + offset, size);
	return (ssize_t)size;
}

void hs_source_open_memory(struct hs_source *source, const void *data, size_t size)
{
	*source = (struct hs_source){.read_at = read_memory, .fd = -1, .data = data, .size = size};
	source->user_data = source;
}

void hs_source_open_callback(struct hs_source *source, heapshot_read_at *read_at, void *user_data,
			     uint64_t size)
{
	*source = (struct hs_source){
		.read_at = read_at, .user_data = user_data, .fd = -1, .size = size};
}

void hs_source_close(struct hs_source *source)
{
	if (source->close != NULL)
		source->close(source);
	*source = (struct hs_source){.fd = -1};
}

ssize_t hs_source_read(const struct hs_source *source, uint64_t offset, void *buffer, size_t size)
{
	ssize_t n;

	if (offset >= source->size)
		return 0;
	if (size > source->size - offset)
		size = (size_t)(source->size - offset);
	n = source->read_at(source->user_data, offset, buffer, size);
	return n > (ssize_t)size ? -EIO : n;
}
