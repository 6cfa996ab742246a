/* SPDX-License-Identifier: MIT */
/*
 * In place of contrib/reader/source_file.c: a file is one that JavaScript has, which is read
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
