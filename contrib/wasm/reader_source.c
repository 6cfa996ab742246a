/* SPDX-License-Identifier: MIT */
/*
 * In place of contrib/reader/source.c: a file is one that JavaScript has, which is read
 * where the reader wants it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/reader/source.h"
#include "contrib/wasm/reader_host.h"

const char *const *reader_names;
uint32_t reader_n_names;

static ssize_t read_host(void *user_data, uint64_t offset, void *buffer, size_t size)
{
	const struct hs_source *source = user_data;
	const int32_t n = host_read((uint32_t)source->fd, (double)offset, buffer, (uint32_t)size);

	return n >= 0 ? n : -EIO;
}

static int find(const char *path)
{
	uint32_t i;

	for (i = 0; i < reader_n_names; i++)
		if (strcmp(reader_names[i], path) == 0)
			return (int)i;
	return -1;
}

/* Asked by what looks whether FILE@N is a file. */
int access(const char *path, int mode)
{
	(void)mode;
	if (find(path) >= 0)
		return 0;
	errno = ENOENT;
	return -1;
}

int hs_source_open_file(struct hs_source *source, const char *path)
{
	const int file = find(path);

	if (file < 0)
		return -ENOENT;
	*source = (struct hs_source){
		.read_at = read_host,
		.fd = file,
		.size = (uint64_t)host_size((uint32_t)file),
	};
	source->user_data = source;
	return 0;
}

void hs_source_open_memory(struct hs_source *source, const void *data, size_t size)
{
	(void)data;
	(void)size;
	*source = (struct hs_source){.fd = -1};
}

void hs_source_open_callback(struct hs_source *source, heapshot_read_at *read_at, void *user_data,
			     uint64_t size)
{
	*source = (struct hs_source){
		.read_at = read_at, .user_data = user_data, .fd = -1, .size = size};
}

void hs_source_close(struct hs_source *source)
{
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
