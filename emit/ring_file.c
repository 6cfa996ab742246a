/* SPDX-License-Identifier: MIT */
/*
 * Making, writing and closing the file of a ring.
 */
#include "config.h"

#include "emit/ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emit/signal_guard.h"
#include "emit/sink_fd.h"

static bool is_same_file(const struct hs_ring_file *file)
{
	struct stat st;

	return file->fd > 0 && fstat(file->fd, &st) == 0 && (uint64_t)st.st_dev == file->device &&
	       (uint64_t)st.st_ino == file->inode;
}

/* 0, or why the file must not be touched. */
static int check(const struct hs_ring_file *file)
{
	struct stat st;

	/* A forked child has our descriptors; the host may have closed them. */
	if (getpid() != file->pid || !is_same_file(file))
		return -EBADF;
	/* Somebody has cut it: writing on would leave holes that are no frames. */
	if (fstat(file->fd, &st) == 0 && (uint64_t)st.st_size < file->ring.file_bytes)
		return -EIO;
	return 0;
}

static int move(struct hs_ring_file *file, bool is_write, uint64_t at, uint8_t *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = is_write ? pwrite(file->fd, bytes, size, (off_t)at)
				     : pread(file->fd, bytes, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		/* Somebody has cut the file. */
		if (n == 0)
			return -EIO;
		bytes += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_file(void *data, uint64_t at, const void *bytes, size_t size)
{
	struct hs_ring_file *file = data;
	struct hs_signal_guard guard;
	int error = check(file);

	if (error != 0)
		return error;
	hs_signal_guard_begin(&guard);
	error = move(file, true, at, (uint8_t *)(uintptr_t)bytes, size);
	hs_signal_guard_end(&guard, -error);
	return error;
}

static int read_file(void *data, uint64_t at, void *bytes, size_t size)
{
	struct hs_ring_file *file = data;

	const int error = check(file);

	return error != 0 ? error : move(file, false, at, bytes, size);
}

/* A limit of file sizes raises SIGXFSZ here as it does in write(2). */
static int allocate(int fd, uint64_t bytes)
{
	struct hs_signal_guard guard;
	int error;

	hs_signal_guard_begin(&guard);
	do
		error = posix_fallocate(fd, 0, (off_t)bytes);
	while (error == EINTR);
	hs_signal_guard_end(&guard, error);
	return -error;
}

static int fill(struct hs_ring_file *file, uint32_t stream, uint64_t bytes)
{
	const struct hs_ring_storage storage = {
		.write = write_file, .read = read_file, .data = file};
	struct stat st;
	int error = allocate(file->fd, bytes);

	if (error == 0 && fstat(file->fd, &st) != 0)
		error = -errno;
	if (error != 0)
		return error;
	file->device = (uint64_t)st.st_dev;
	file->inode = (uint64_t)st.st_ino;
	return hs_ring_init(&file->ring, &storage, stream, bytes);
}

/* What stands at PATH already is not ours to replace. */
static int rename_new(const char *temporary, const char *path)
{
	if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return 0;
	/* Not every file system knows how to. */
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	return rename(temporary, path) == 0 ? 0 : -errno;
}

int hs_ring_file_create(struct hs_ring_file *file, const char *path, uint32_t stream,
			uint64_t bytes)
{
	char temporary[PATH_MAX + 32];
	int error;

	*file = (struct hs_ring_file){.fd = -1, .pid = getpid()};
	if (snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", path, (long)getpid()) >= PATH_MAX)
		return -ENAMETOOLONG;
	/* What a killed process of our number left behind. */
	unlink(temporary);
	file->fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file->fd < 0)
		return -errno;
	file->fd = hs_fd_raise(file->fd);
	error = file->fd < 0 ? file->fd : fill(file, stream, bytes);
	if (error == 0)
		error = rename_new(temporary, path);
	if (error != 0) {
		unlink(temporary);
		hs_ring_file_close(file);
	}
	return error;
}

int hs_ring_file_put(const void *frame, size_t size, void *file)
{
	struct hs_ring_file *ring_file = file;

	return hs_ring_put(&ring_file->ring, frame, size);
}

void hs_ring_file_close(struct hs_ring_file *file)
{
	if (file->fd > 0 && (file->inode == 0 || is_same_file(file)))
		close(file->fd);
	file->fd = -1;
}
