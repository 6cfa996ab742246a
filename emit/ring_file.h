/* SPDX-License-Identifier: MIT */
/*
 * The file of a ring: allocated in full before anything is recorded, and
 * written with pwrite(2).  A mapping would do without system calls, but then a
 * file that somebody cuts, or a full disk under a file system that copies on
 * write, would end the host by SIGBUS; here it is an error like any other.
 */
#ifndef HEAPSHOT_EMIT_RING_FILE_H
#define HEAPSHOT_EMIT_RING_FILE_H

#include <sys/types.h>

#include "emit/ring.h"

struct hs_ring_file {
	struct hs_ring ring;
	int fd;                 /* 0 or -1: none */
	pid_t pid;              /* of the process that made it; no other writes */
	uint64_t device, inode; /* what fd must be: the host may have closed ours */
};

/*
 * Makes PATH, which must not exist, with BYTES allocated and an empty ring in
 * it.  It stands under a temporary name beside PATH until it is a ring.
 * Returns 0, or a negative errno, and then there is nothing left behind.
 */
int hs_ring_file_create(struct hs_ring_file *file, const char *path, uint32_t stream,
			uint64_t bytes);

/* A callback for hs_sink_open_callback(): puts a frame into the hs_ring_file FILE. */
int hs_ring_file_put(const void *frame, size_t size, void *file);

/* Closes the descriptor, if it is still ours.  Also for a forked child. */
void hs_ring_file_close(struct hs_ring_file *file);

#endif
