/* SPDX-License-Identifier: MIT */
/*
 * The language of the control socket, apart from the socket: a request is one
 * line of text, a word and what belongs to it.
 *
 *     take [LABEL]    stats [LABEL]    flush [PATH]    status
 */
#ifndef HEAPSHOT_PROFILER_REQUEST_LINE_H
#define HEAPSHOT_PROFILER_REQUEST_LINE_H

#include <stddef.h>

#include "profiler/request.h"

/* A line as it comes in, in pieces; starts zeroed. */
struct hs_request_line {
	char text[HS_LABEL_MAX + 16];
	size_t length;
};

enum hs_line_state {
	HS_LINE_UNFINISHED, /* more must come */
	HS_LINE_WHOLE,      /* text holds the line, without its end */
	HS_LINE_REFUSED,    /* too long, or not text */
};

/* Where the next piece goes; *room is at least 1 while the line is unfinished. */
char *hs_request_line_room(struct hs_request_line *line, size_t *room);

/* Takes BYTES that were put there.  What stands behind the line's end is left out. */
enum hs_line_state hs_request_line_add(struct hs_request_line *line, size_t bytes);

enum hs_command {
	HS_COMMAND_UNKNOWN,
	HS_COMMAND_TAKE,
	HS_COMMAND_STATS,
	HS_COMMAND_FLUSH,
	HS_COMMAND_STATUS,
};

/* What a whole line asks for; *label, or the path, points into it, and is never NULL. */
enum hs_command hs_request_line_parse(const char *line, const char **label);

#endif
