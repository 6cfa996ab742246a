/* SPDX-License-Identifier: MIT */
/*
 * Running other programs: finding them, reading what they print.
 */
#ifndef HEAPSHOT_CLI_PROCESS_H
#define HEAPSHOT_CLI_PROCESS_H

#include <stddef.h>

/* Where the shell would find NAME (itself when it has a slash); NULL: nowhere.
 * The caller frees it. */
char *process_find(const char *name);

/*
 * Runs ARGV with no input and at most SECONDS, and keeps the first SIZE - 1
 * bytes of what it prints (both streams).  Returns its exit status, 128 + the
 * signal that ended it, or a negative errno.
 */
int process_read(char *const argv[], unsigned seconds, char *output, size_t size);

#endif
