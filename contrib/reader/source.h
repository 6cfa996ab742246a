/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes of a recording come from.
 */
#ifndef HEAPSHOT_READER_SOURCE_H
#define HEAPSHOT_READER_SOURCE_H

#include "contrib/reader/heapshot-reader.h"

struct hs_source {
	heapshot_read_at *read_at;
	void (*close)(struct hs_source *source); /* or NULL */
	void *user_data;
	uint64_t size;
	int fd;              /* of an opened file */
	const uint8_t *data; /* of a recording in memory */
};

/* Opens PATH, "-" for standard input.  0 or a negative errno. */
int hs_source_open_file(struct hs_source *source, const char *path);
void hs_source_open_memory(struct hs_source *source, const void *data, size_t size);
void hs_source_open_callback(struct hs_source *source, heapshot_read_at *read_at, void *user_data,
			     uint64_t size);
void hs_source_close(struct hs_source *source);

/* Reads up to SIZE bytes at OFFSET; fewer only at the end.  Or a negative errno. */
ssize_t hs_source_read(const struct hs_source *source, uint64_t offset, void *buffer, size_t size);

#endif
