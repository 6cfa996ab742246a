/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: counts the frames of snapshots' bodies that the program's first
 * thread writes, and those that others do.  At the end it writes both numbers to
 * the file $WRITERS.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Start of a tag: its frame, magic, version, and the kind of a body. */
static const unsigned char body[] = {0x5B, 0x2A, 0x4D, 0x18, 48, 0, 0, 0, 'H', 'S', 'T', 'G', 1, 4};

static _Atomic unsigned by_first, by_others;

ssize_t write(int fd, const void *data, size_t size)
{
	if (size > sizeof body && memcmp(data, body, sizeof body) == 0)
		atomic_fetch_add(syscall(SYS_gettid) == getpid() ? &by_first : &by_others, 1);
	return syscall(SYS_write, fd, data, size);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("WRITERS");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (file) {
		fprintf(file, "%u %u\n", by_first, by_others);
		fclose(file);
	}
}
