/* SPDX-License-Identifier: MIT */
/*
 * The file and descriptor sinks: write(2) that neither blocks on a slow reader
 * nor raises a signal.
 */
#include "config.h"

#include "emit/sink_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emit/clock.h"
#include "emit/signal_guard.h"

bool hs_fd_is(int fd, uint64_t device, uint64_t inode)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (uint64_t)st.st_dev == device && (uint64_t)st.st_ino == inode;
}

static bool is_still_ours(const struct hs_sink *sink)
{
	return hs_fd_is(sink->fd, sink->device, sink->inode);
}

static bool can_write(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLOUT};

	/* An error counts as well: write(2) tells which. */
	return poll(&pollfd, 1, 0) != 0;
}

static ssize_t write_once(const struct hs_sink *sink, const void *data, size_t size)
{
	if (sink->write_hook != NULL)
		return sink->write_hook(sink->fd, data, size);
	if (sink->is_socket)
		return send(sink->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(sink->fd, data, size);
}

ssize_t hs_sink_fd_write(struct hs_sink *sink, const void *data, size_t size)
{
	struct hs_signal_guard guard;
	ssize_t n;
	int error;

	if (!is_still_ours(sink))
		return -EBADF;
	if (sink->write_max != 0) {
		if (!can_write(sink->fd))
			return 0;
		if (size > sink->write_max)
			size = sink->write_max;
	}
	hs_signal_guard_begin(&guard);
	do {
		n = write_once(sink, data, size);
		error = n < 0 ? errno : 0;
	} while (error == EINTR);
	hs_signal_guard_end(&guard, error);
	if (error == EAGAIN)
		return 0;
	if (error != 0)
		return -error;
	/* Nothing taken and no reason given: do not try for ever. */
	return n == 0 ? -EIO : n;
}

int hs_fd_poll(int fd, short events, uint64_t timeout_ns)
{
	struct pollfd pollfd = {.fd = fd, .events = events};
	const struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / HS_NS_PER_S),
		.tv_nsec = (long)(timeout_ns % HS_NS_PER_S),
	};
	int n = ppoll(&pollfd, 1, &timeout, NULL);

	if (n == 0)
		return -ETIMEDOUT;
	return n > 0 || errno == EINTR ? 0 : -errno;
}

int hs_sink_fd_wait(struct hs_sink *sink, uint64_t timeout_ns)
{
	return hs_fd_poll(sink->fd, POLLOUT, timeout_ns);
}

int hs_sink_fd_close(struct hs_sink *sink, uint64_t timeout_ns)
{
	int error = 0;

	(void)timeout_ns;
	if (!is_still_ours(sink))
		error = -EBADF;
	else if (close(sink->fd) != 0 && errno != EINTR)
		error = -errno;
	sink->fd = -1;
	return error;
}

void hs_sink_fd_forget(struct hs_sink *sink)
{
	hs_sink_fd_close(sink, 0);
	if (hs_fd_is(sink->status_fd, sink->device, sink->status_inode))
		close(sink->status_fd);
	sink->status_fd = -1;
}

/* A duplicate of FD above the standard descriptors, or a negative errno. */
static int duplicate(int fd)
{
	int duplicate_fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (duplicate_fd >= 0)
		return duplicate_fd;
	/* EINVAL: the limit of descriptors is below the least one asked for. */
	return errno == EINVAL ? -EMFILE : -errno;
}

int hs_fd_raise(int fd)
{
	int raised;

	if (fd > STDERR_FILENO)
		return fd;
	raised = duplicate(fd);
	close(fd);
	return raised;
}

int hs_sink_fd_init(struct hs_sink *sink, const struct hs_sink_ops *ops, int fd)
{
	struct stat st;
	int error;

	fd = hs_fd_raise(fd);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0) {
		error = -errno;
		close(fd);
		return error;
	}
	*sink = (struct hs_sink){
		.ops = ops,
		.fd = fd,
		.status_fd = -1,
		.command_status = -1,
		.is_regular = S_ISREG(st.st_mode),
		.is_socket = S_ISSOCK(st.st_mode),
		.device = (uint64_t)st.st_dev,
		.inode = (uint64_t)st.st_ino,
	};
	return 0;
}

static const struct hs_sink_ops file_ops = {
	.name = "file",
	.write = hs_sink_fd_write,
	.wait = hs_sink_fd_wait,
	.close = hs_sink_fd_close,
	.forget = hs_sink_fd_forget,
};

static const struct hs_sink_ops fd_ops = {
	.name = "fd",
	.write = hs_sink_fd_write,
	.wait = hs_sink_fd_wait,
	.close = hs_sink_fd_close,
	.forget = hs_sink_fd_forget,
};

int hs_sink_truncate(struct hs_sink *sink, uint64_t bytes)
{
	const off_t end = (off_t)bytes;
	struct stat st;

	if (sink->ops != &file_ops || !sink->is_regular || !is_still_ours(sink))
		return -ESPIPE;
	/* Somebody may have emptied it meanwhile: it must not grow. */
	if (fstat(sink->fd, &st) != 0 || (st.st_size > end && ftruncate(sink->fd, end) != 0) ||
	    lseek(sink->fd, end, SEEK_SET) < 0)
		return -ESPIPE;
	return 0;
}

int hs_sink_open_file(struct hs_sink *sink, const char *path, bool exclusive)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, exclusive ? flags | O_EXCL : flags, 0600);
	int error;

	if (fd < 0)
		return -errno;
	error = hs_sink_fd_init(sink, &file_ops, fd);
	if (error != 0 || !sink->is_regular)
		return error;
	/* Emptied only once it is ours.  Where there are no locks there is no asking. */
	if (flock(sink->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		error = -EWOULDBLOCK;
	else if (ftruncate(sink->fd, 0) != 0)
		error = -errno;
	if (error != 0)
		close(sink->fd);
	return error;
}

/*
 * O_NONBLOCK belongs to the open file, which FD shares with the host and maybe
 * with its parent shell: it is not ours to set.  A pipe or a terminal can be
 * opened once more, for a file of our own with the flag; returns that or -1.
 */
static int reopen_nonblocking(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int hs_sink_open_fd(struct hs_sink *sink, int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);
	int ours = -1, error;

	if (flags < 0 || fstat(fd, &st) != 0)
		return -errno;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if ((S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) && !(flags & O_NONBLOCK)) {
		ours = reopen_nonblocking(fd);
		if (ours >= 0)
			flags |= O_NONBLOCK;
	}
	if (ours < 0)
		ours = duplicate(fd);
	if (ours < 0)
		return ours;
	error = hs_sink_fd_init(sink, &fd_ops, ours);
	/*
	 * A blocking pipe that could not be reopened: after POLLOUT it has a
	 * free page, so that PIPE_BUF bytes do not block.
	 */
	if (error == 0 && !sink->is_regular && !sink->is_socket && !(flags & O_NONBLOCK))
		sink->write_max = PIPE_BUF;
	return error;
}
