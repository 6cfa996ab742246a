/* SPDX-License-Identifier: MIT */
/*
 * Lines of the control socket: as they come in, and what they ask for.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "profiler/request_line.h"

/* Takes TEXT in pieces of up to PIECE bytes. */
static enum hs_line_state receive(struct hs_request_line *line, const char *text, size_t size,
				  size_t piece)
{
	enum hs_line_state state = HS_LINE_UNFINISHED;

	memset(line, 0, sizeof *line);
	while (state == HS_LINE_UNFINISHED && size) {
		size_t n;
		char *at = hs_request_line_room(line, &n);
		if (n > piece)
			n = piece;
		if (n > size)
			n = size;
		memcpy(at, text, n);
		state = hs_request_line_add(line, n);
		text += n;
		size -= n;
	}
	return state;
}

Test(request_line, comes_in_pieces)
{
	static const char text[] = "take after login\nand more";
	struct hs_request_line line;

	for (size_t piece = 1; piece < sizeof text; piece++) {
		cr_assert_eq(receive(&line, text, sizeof text - 1, piece), HS_LINE_WHOLE);
		cr_assert_str_eq(line.text, "take after login");
	}
	cr_assert_eq(receive(&line, "", 0, 1), HS_LINE_UNFINISHED);
	cr_assert_eq(receive(&line, "take", 4, 2), HS_LINE_UNFINISHED);
	cr_assert_eq(receive(&line, "\n", 1, 1), HS_LINE_WHOLE);
	cr_assert_str_eq(line.text, "");
}

Test(request_line, refuses_what_is_too_long_or_no_text)
{
	static char text[4 * sizeof((struct hs_request_line *)0)->text];
	const size_t most = sizeof((struct hs_request_line *)0)->text - 2;
	struct hs_request_line line;

	memset(text, 'x', sizeof text);
	for (size_t piece = 1; piece < 300; piece += 37) {
		cr_assert_eq(receive(&line, text, sizeof text, piece), HS_LINE_REFUSED);
		text[most] = '\n';
		cr_assert_eq(receive(&line, text, sizeof text, piece), HS_LINE_WHOLE);
		cr_assert_eq(strlen(line.text), most);
		text[most] = 'x';
		text[most + 1] = '\n';
		cr_assert_eq(receive(&line, text, sizeof text, piece), HS_LINE_REFUSED);
		text[most + 1] = 'x';
	}
	/* What stands behind a zero byte would be lost without a word. */
	cr_assert_eq(receive(&line, "take a\0b\n", 9, 100), HS_LINE_REFUSED);
	cr_assert_eq(receive(&line, "take a\n\0", 8, 100), HS_LINE_WHOLE);
}

Test(request_line, asks)
{
	static const struct {
		const char *line;
		enum hs_command command;
		const char *label;
	} cases[] = {
		{"take", HS_COMMAND_TAKE, ""},
		{"take ", HS_COMMAND_TAKE, ""},
		{"take a b ", HS_COMMAND_TAKE, "a b "},
		{"stats x", HS_COMMAND_STATS, "x"},
		{"flush", HS_COMMAND_FLUSH, ""},
		{"status", HS_COMMAND_STATUS, ""},
		{"flush /a b", HS_COMMAND_FLUSH, "/a b"},
		{"status ", HS_COMMAND_UNKNOWN, ""},
		{"", HS_COMMAND_UNKNOWN, ""},
		{" take", HS_COMMAND_UNKNOWN, ""},
		{"takes", HS_COMMAND_UNKNOWN, ""},
		{"TAKE", HS_COMMAND_UNKNOWN, ""},
		{"stat", HS_COMMAND_UNKNOWN, ""},
	};
	const char *label;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_assert_eq(hs_request_line_parse(cases[i].line, &label), cases[i].command, "'%s'",
			     cases[i].line);
		cr_assert_str_eq(label, cases[i].label);
	}
}
