/* SPDX-License-Identifier: MIT */
/*
 * The option `output`: from its text to an open sink.
 */
#ifndef HEAPSHOT_PROFILER_OUTPUT_H
#define HEAPSHOT_PROFILER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "emit/sink.h"

/*
 * Replaces %p (process id), %t (time, YYYYMMDD-HHMMSS) and %%; another
 * character behind % is refused.  False with a text in MESSAGE.
 */
bool hs_output_expand(const char *pattern, char *path, size_t size, char *message,
		      size_t message_bytes);

/*
 * Opens what TEXT names: `|COMMAND`, `#FD`, or a path.  For a path:
 *   - a recording that no live process writes becomes PATH.old, in place of
 *     an earlier recording of that name,
 *   - one that a live process writes stays, and ours is PATH.PID,
 *   - another non-empty regular file is refused unless OVERWRITE,
 *   - a device or FIFO is opened without blocking.
 * USED is set to what was opened, for people.  False with a line in MESSAGE.
 */
bool hs_output_open(struct hs_sink *sink, const char *text, bool overwrite, char *used,
		    size_t used_bytes, char *message, size_t message_bytes);

/*
 * Takes back what hs_output_open() did to the regular file USED, in which nothing is
 * recorded: it is removed, and an earlier recording of that name has its place again.
 */
void hs_output_undo(const char *used);

/* The same as hs_output_open() for a path that is taken as it is. */
bool hs_output_open_path(struct hs_sink *sink, const char *path, char *used, size_t used_bytes,
			 char *message, size_t message_bytes);

#endif
