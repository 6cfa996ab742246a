/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes what comes in at the control socket: the first byte says in how large
 * pieces, the rest is what a client sends.
 */
#include "profiler/request_line.h"
#include "profiler/text.h"
#include "tests/fuzz/fuzz.h"

/* Takes the input in pieces of up to PIECE bytes, as read() may give them. */
static enum hs_line_state receive(struct hs_request_line *line, struct fuzz_input input,
				  size_t piece)
{
	enum hs_line_state state = HS_LINE_UNFINISHED;

	while (state == HS_LINE_UNFINISHED && input.size) {
		size_t room;
		char *at = hs_request_line_room(line, &room);
		FUZZ_CHECK(room > 0 && at + room < line->text + sizeof line->text);
		if (room > piece)
			room = piece;
		state = hs_request_line_add(line, fuzz_bytes(&input, at, room));
	}
	return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hs_request_line whole = {.length = 0}, *line = calloc(1, sizeof *line);
	struct fuzz_input input = {data, size};
	const size_t piece = 1 + (size_t)fuzz_number(&input, 1);
	enum hs_line_state state;
	enum hs_command command;
	struct hs_text copy;
	const char *label;

	FUZZ_CHECK(line != NULL);
	state = receive(line, input, piece);
	/* The pieces make no difference. */
	FUZZ_CHECK(receive(&whole, input, sizeof whole.text) == state);
	if (state == HS_LINE_WHOLE) {
		FUZZ_CHECK(strcmp(whole.text, line->text) == 0);
		FUZZ_CHECK(strlen(line->text) == line->length && !strchr(line->text, '\n'));
		FUZZ_CHECK(memcmp(line->text, input.data, line->length) == 0);
		command = hs_request_line_parse(line->text, &label);
		FUZZ_CHECK(command >= HS_COMMAND_UNKNOWN && command <= HS_COMMAND_STATUS);
		FUZZ_CHECK(!*label || command == HS_COMMAND_TAKE || command == HS_COMMAND_STATS ||
			   command == HS_COMMAND_FLUSH);
		copy = hs_text_of(label, HS_LABEL_MAX - 1);
		FUZZ_CHECK(copy.text && copy.bytes < HS_LABEL_MAX &&
			   strlen(copy.text) == copy.bytes);
		hs_text_free(&copy);
	}
	free(line);
	return 0;
}
