/* SPDX-License-Identifier: MIT */
/*
 * Lines of the control socket.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "profiler/request_line.h"

static const struct {
	const char *word;
	enum hs_command command;
	bool has_rest;
} commands[] = {
	{"take", HS_COMMAND_TAKE, true},
	{"stats", HS_COMMAND_STATS, true},
	{"flush", HS_COMMAND_FLUSH, true},
	{"status", HS_COMMAND_STATUS, false},
};

char *hs_request_line_room(struct hs_request_line *line, size_t *room)
{
	*room = sizeof line->text - 1 - line->length;
	return line->text + line->length;
}

enum hs_line_state hs_request_line_add(struct hs_request_line *line, size_t bytes)
{
	char *piece = line->text + line->length, *end = memchr(piece, '\n', bytes);

	line->length = end ? (size_t)(end - line->text) : line->length + bytes;
	line->text[line->length] = 0;
	/* Behind a zero byte a line would be cut without a word. */
	if (memchr(piece, 0, (size_t)(line->text + line->length - piece)))
		return HS_LINE_REFUSED;
	if (end)
		return HS_LINE_WHOLE;
	return line->length + 1 < sizeof line->text ? HS_LINE_UNFINISHED : HS_LINE_REFUSED;
}

enum hs_command hs_request_line_parse(const char *line, const char **label)
{
	const size_t length = strcspn(line, " ");
	size_t i;

	*label = "";
	for (i = 0; i < sizeof commands / sizeof *commands; i++) {
		if (strlen(commands[i].word) != length ||
		    memcmp(line, commands[i].word, length) != 0)
			continue;
		if (!line[length])
			return commands[i].command;
		if (!commands[i].has_rest)
			break;
		*label = line + length + 1;
		return commands[i].command;
	}
	return HS_COMMAND_UNKNOWN;
}
