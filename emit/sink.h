/* SPDX-License-Identifier: MIT */
/*
 * Where finished frames go: a file, a pipe to a command, a descriptor, a
 * callback, nowhere.  A sink never allocates after it was opened, never raises
 * SIGPIPE or SIGXFSZ in the host, and keeps its first error for ever.
 */
#ifndef HEAPSHOT_EMIT_SINK_H
#define HEAPSHOT_EMIT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hs_sink;

/*
 * Writes up to SIZE bytes without waiting; returns how many were taken (0 when
 * none can be taken now), or a negative errno.
 */
typedef ssize_t hs_sink_write_fn(struct hs_sink *sink, const void *data, size_t size);

/*
 * Receives one whole frame with its tag.  Returns 0, or a negative errno that
 * ends the recording.  Called on the thread that flushes: the collecting
 * thread while the world is stopped, else the recorder's own.
 */
typedef int hs_sink_callback(const void *data, size_t size, void *user_data);

struct hs_sink_ops {
	const char *name;
	hs_sink_write_fn *write;
	/*
	 * Waits until it is worth while to write again, at most TIMEOUT_NS; 0
	 * (also when a signal came first), -ETIMEDOUT, or what it met.
	 */
	int (*wait)(struct hs_sink *sink, uint64_t timeout_ns);
	/* Ends the sink: waits for a command at most TIMEOUT_NS and reaps it. */
	int (*close)(struct hs_sink *sink, uint64_t timeout_ns);
	/* Closes descriptors only; NULL where there are none. */
	void (*forget)(struct hs_sink *sink);
};

struct hs_sink {
	const struct hs_sink_ops *ops;
	int fd;
	pid_t supervisor;   /* of a command's sink */
	int status_fd;      /* wait status of the command comes here */
	int command_status; /* that status, once closed; -1: not known */
	bool is_regular;    /* short writes mean a full disk, not a slow reader */
	bool is_socket;
	size_t write_max; /* most bytes of one write; 0: no limit */
	/* What fd and status_fd must be: the host may have closed ours. */
	uint64_t device, inode, status_inode;
	int error;      /* first error, as a negative errno; sticky */
	uint64_t bytes; /* taken so far */
	hs_sink_callback *callback;
	void *user_data;
	/* Replaces write(2) in tests; NULL: write(2). */
	ssize_t (*write_hook)(int fd, const void *data, size_t size);
};

/*
 * All of the openers set *sink anew.  Those that return an int give 0, or a
 * negative errno, and then there is nothing to close.
 */

/*
 * Opens PATH (already expanded, see output.h) for writing from its start: a
 * regular file is emptied, or made with mode 0600, since a recording may hold
 * strings of the program, and locked by flock(2): -EWOULDBLOCK where another sink
 * writes to it.  EXCLUSIVE: it must not exist.  Devices and FIFOs are opened
 * without blocking: a FIFO that nobody reads gives -ENXIO.
 */
int hs_sink_open_file(struct hs_sink *sink, const char *path, bool exclusive);

/* Takes over FD (it is duplicated; the original stays with the caller). */
int hs_sink_open_fd(struct hs_sink *sink, int fd);

/*
 * Runs `/bin/sh -c COMMAND` with its standard input from us, standard output
 * and error of the host, and no other descriptor.  The host never sees the
 * child (no SIGCHLD, not found by wait(-1)).  A command that cannot be run is
 * found at close, by status 126 or 127 of the shell.
 */
int hs_sink_open_command(struct hs_sink *sink, const char *command);

void hs_sink_open_callback(struct hs_sink *sink, hs_sink_callback *callback, void *user_data);
void hs_sink_open_null(struct hs_sink *sink);

/*
 * Writes all SIZE bytes, waiting for a slow reader until DEADLINE_NS
 * (CLOCK_MONOTONIC; 0: do not wait).  Returns the number of bytes taken, which
 * is less than SIZE only when the deadline passed, or a negative errno; then
 * some of the bytes may have been taken, which only sink->bytes tells.
 *
 * Safe while the world is stopped and in a signal handler: no memory, no stdio,
 * no lock; errno is left as it was.
 */
ssize_t hs_sink_write(struct hs_sink *sink, const void *data, size_t size, uint64_t deadline_ns);

/*
 * Takes back what was written behind the first BYTES bytes.  Returns 0, or
 * -ESPIPE where that cannot be: only a regular file that we opened by its path
 * is ours alone.
 */
int hs_sink_truncate(struct hs_sink *sink, uint64_t bytes);

/*
 * Closes; returns 0, or the sticky error, or what the close itself met.  For a
 * command that is -EPIPE when it did not end with status 0 (command_status
 * tells), and -ETIMEDOUT when it had not ended after TIMEOUT_NS: it is left to
 * itself then, and to init when the host has ended.  A second close does
 * nothing, and a later write gives -EBADF.
 */
int hs_sink_close(struct hs_sink *sink, uint64_t timeout_ns);

/*
 * For a child that the host forked: closes the descriptors and nothing else, so
 * that a reader's end of file does not wait for the child too.
 */
void hs_sink_forget(struct hs_sink *sink);

#endif
