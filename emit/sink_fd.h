/* SPDX-License-Identifier: MIT */
/*
 * Writing to a descriptor, for the sinks that have one.
 */
#ifndef HEAPSHOT_EMIT_SINK_FD_H
#define HEAPSHOT_EMIT_SINK_FD_H

#include "emit/sink.h"

ssize_t hs_sink_fd_write(struct hs_sink *sink, const void *data, size_t size);
int hs_sink_fd_wait(struct hs_sink *sink, uint64_t timeout_ns);
int hs_sink_fd_close(struct hs_sink *sink, uint64_t timeout_ns);
void hs_sink_fd_forget(struct hs_sink *sink);

/*
 * False when the host has closed FD, or opened something else under its number:
 * daemons close descriptors that they do not know.
 */
bool hs_fd_is(int fd, uint64_t device, uint64_t inode);

/* Waits until FD has EVENTS (or an error) at most TIMEOUT_NS; as ops->wait. */
int hs_fd_poll(int fd, short events, uint64_t timeout_ns);

/*
 * Makes *sink of FD, which it owns from then on (and closes on failure).
 * Returns 0 or a negative errno.
 */
int hs_sink_fd_init(struct hs_sink *sink, const struct hs_sink_ops *ops, int fd);

/*
 * Moves FD above the three standard ones: where the host has closed one of
 * those, its own messages would go into the recording.  Returns the descriptor
 * or a negative errno; FD is closed if it is not the one returned.
 */
int hs_fd_raise(int fd);

#endif
