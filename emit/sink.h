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
 * Writes up to SIZE bytes; returns how many were taken (0 when none can be
 * taken now), or a negative errno.
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
	/* Waits until more can be written, at most TIMEOUT_NS; 0, or -ETIMEDOUT. */
	int (*wait)(struct hs_sink *sink, uint64_t timeout_ns);
	/* Ends the sink: waits for a command at most TIMEOUT_NS and reaps it. */
	int (*close)(struct hs_sink *sink, uint64_t timeout_ns);
};

struct hs_sink {
	const struct hs_sink_ops *ops;
	int fd;
	pid_t supervisor;          /* of a command's sink */
	int status_fd;             /* exit status of the command comes here */
	bool is_regular;           /* short writes mean a full disk, not a slow reader */
	bool is_whole;             /* takes whole frames only (callback) */
	int error;                 /* first error, as a negative errno; sticky */
	uint64_t bytes;            /* taken so far */
	hs_sink_callback *callback;
	void *user_data;
	/* Replaces write(2) in tests; NULL: write(2). */
	ssize_t (*write_hook)(int fd, const void *data, size_t size);
};

/*
 * Opens PATH (already expanded, see output.h) for writing from its start.
 * Devices and FIFOs are opened without blocking: a FIFO that nobody reads
 * gives -ENXIO.  Returns 0 or a negative errno.
 */
int hs_sink_open_file(struct hs_sink *sink, const char *path, bool exclusive);
/* Takes over FD (it is duplicated; the original stays with the caller). */
int hs_sink_open_fd(struct hs_sink *sink, int fd);
/* Runs `/bin/sh -c COMMAND` with its standard input from us.  The host never
 * sees the child (no SIGCHLD, not found by wait(-1)). */
int hs_sink_open_command(struct hs_sink *sink, const char *command);
void hs_sink_open_callback(struct hs_sink *sink, hs_sink_callback *callback, void *user_data);
void hs_sink_open_null(struct hs_sink *sink);

/*
 * Writes all SIZE bytes, waiting for a slow reader until DEADLINE_NS
 * (CLOCK_MONOTONIC; 0: do not wait).  Returns the number of bytes taken, which
 * is less than SIZE only when the deadline passed, or a negative errno.
 */
ssize_t hs_sink_write(struct hs_sink *sink, const void *data, size_t size, uint64_t deadline_ns);

/* Closes; returns 0, or the sticky error, or what the close itself met. */
int hs_sink_close(struct hs_sink *sink, uint64_t timeout_ns);

#endif
