/* SPDX-License-Identifier: MIT */
/*
 * Lines for people, on standard error.  Never to a descriptor that was closed
 * when the recording began (it may be the program's file by now), never
 * waiting for a reader, never raising SIGPIPE or SIGXFSZ.  For running threads
 * only.
 */
#ifndef HEAPSHOT_PROFILER_MESSAGE_H
#define HEAPSHOT_PROFILER_MESSAGE_H

/* Notes whether standard error is open. */
void hs_message_init(void);

/* Writes "heapshot: " and the text as one line; control characters become '?'. */
void hs_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
