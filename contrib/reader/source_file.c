/* SPDX-License-Identifier: MIT */
/*
 * Files and pipes, the only part of the library that calls the system.  Files are read with
 * pread, not mapped: a file that is cut while it is being read gives a short read, not a signal.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/reader/source.h"
#include "schema/tag.h"

/* A pipe whose first bytes hold no tag is not read to its end. */
#define SPOOL_PROBE_BYTES (4u << 20)
#define SPOOL_CHUNK_BYTES (64u << 10)

static ssize_t read_file(void *user_data, uint64_t offset, void *buffer, size_t size)
{
	const struct hs_source *source = user_data;
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(source->fd, (char *)buffer + done, size - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static void close_file(struct hs_source *source)
{
	close(source->fd);
}

static int open_unnamed(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (folder == NULL || *folder != '/')
		folder = "/tmp";
#ifdef O_TMPFILE
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
#endif
	if (snprintf(path, sizeof(path), "%s/heapshot-XXXXXX", folder) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Copies what IN gives to an unnamed file; returns that, or a negative errno. */
static int spool(int in)
{
	static const uint8_t magic[4] = {0x5B, 0x2A, 0x4D, 0x18};
	char *chunk = malloc(SPOOL_CHUNK_BYTES);
	int out = chunk == NULL ? -ENOMEM : open_unnamed();
	uint64_t done = 0;
	bool has_tag = false;
	int error = out < 0 ? out : 0;

	while (error == 0 && (has_tag || done < SPOOL_PROBE_BYTES)) {
		ssize_t n = read(in, chunk, SPOOL_CHUNK_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			error = n < 0 ? -errno : 0;
			break;
		}
		has_tag = has_tag || memmem(chunk, (size_t)n, magic, sizeof(magic)) != NULL;
		error = write_all(out, chunk, (size_t)n);
		done += (uint64_t)n;
	}
	free(chunk);
	if (error != 0 && out >= 0) {
		close(out);
		return error;
	}
	return out;
}

int hs_source_open_file(struct hs_source *source, const char *path)
{
	struct stat st;
	int fd, error;

	if (strcmp(path, "-") == 0)
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		goto failed;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		goto failed;
	}
	if (!S_ISREG(st.st_mode)) {
		int copy = spool(fd);

		if (copy < 0) {
			errno = -copy;
			goto failed;
		}
		close(fd);
		fd = copy;
		if (fstat(fd, &st) < 0)
			goto failed;
	}
	*source = (struct hs_source){
		.read_at = read_file,
		.close = close_file,
		.fd = fd,
		.size = (uint64_t)st.st_size,
	};
	source->user_data = source;
	return 0;
failed:
	error = -errno;
	close(fd);
	return error;
}
