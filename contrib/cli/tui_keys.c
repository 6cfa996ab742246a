/* SPDX-License-Identifier: MIT */
/*
 * Keys and signals: what they ask of the model.  Every way out goes through
 * tui_run(), which gives the terminal back.
 */
#include "config.h"

#include <curses.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "contrib/cli/signals.h"
#include "contrib/cli/tui.h"

#define CONTROL(letter) ((letter)&0x1F)
#define ESCAPE          27

struct keys {
	struct tui *tui;
	int signals; /* descriptor */
	bool is_over, is_help, is_prompt;
	char text[TUI_FILTER_MAX]; /* what was typed into the prompt */
};

/* ---- The prompt ---- */

static void drop_last(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && ((unsigned char)text[--n] & 0xC0) == 0x80)
		;
	text[n] = '\0';
}

static void append(char *text, wint_t key)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};
	size_t n = wcrtomb(bytes, (wchar_t)key, &state), used = strlen(text);

	if (n == (size_t)-1 || used + n + 1 > TUI_FILTER_MAX)
		return;
	memcpy(text + used, bytes, n);
	text[used + n] = '\0';
}

static int type_key(struct keys *keys, bool is_function, wint_t key)
{
	if (!is_function && (key == '\r' || key == '\n')) {
		keys->is_prompt = false;
		return tui_filter(keys->tui, keys->text);
	}
	if (is_function && key == KEY_ENTER) {
		keys->is_prompt = false;
		return tui_filter(keys->tui, keys->text);
	}
	if (!is_function && key == ESCAPE)
		keys->is_prompt = false;
	else if ((is_function && key == KEY_BACKSPACE) ||
		 (!is_function && (key == 127 || key == 8)))
		drop_last(keys->text);
	else if (!is_function && key == CONTROL('u'))
		keys->text[0] = '\0';
	else if (!is_function && key >= ' ')
		append(keys->text, key);
	return CLI_OK;
}

/* ---- Keys ---- */

static int wait_and(int (*act)(struct tui *tui), struct tui *tui)
{
	tui_screen_wait("one moment ...");
	return act(tui);
}

static int go(struct tui *tui, enum tui_kind kind)
{
	return tui_go(tui, (struct tui_place){kind, 0});
}

static int step(struct tui *tui, int by)
{
	tui_screen_wait("reading the snapshot ...");
	return tui_step_snapshot(tui, by);
}

/* Keys that have a name of their own, as the letter that does the same. */
static wint_t letter_of(wint_t key)
{
	switch (key) {
	case KEY_UP:
		return 'k';
	case KEY_DOWN:
		return 'j';
	case KEY_PPAGE:
		return CONTROL('b');
	case KEY_NPAGE:
		return CONTROL('f');
	case KEY_HOME:
		return 'g';
	case KEY_END:
		return 'G';
	case KEY_ENTER:
	case KEY_RIGHT:
		return 'l';
	case KEY_LEFT:
	case KEY_BACKSPACE:
		return 'h';
	default:
		return 0;
	}
}

static int take_key(struct keys *keys, wint_t key)
{
	struct tui *tui = keys->tui;
	const long page = (long)tui_screen_rows(tui);

	switch (key) {
	case 'q':
		keys->is_over = true;
		break;
	case '?':
		keys->is_help = true;
		break;
	case 'k':
		tui_move(tui, -1);
		break;
	case 'j':
		tui_move(tui, 1);
		break;
	case CONTROL('b'):
		tui_move(tui, -page);
		break;
	case CONTROL('f'):
	case ' ':
		tui_move(tui, page);
		break;
	case CONTROL('u'):
		tui_move(tui, -(page + 1) / 2);
		break;
	case CONTROL('d'):
		tui_move(tui, (page + 1) / 2);
		break;
	case 'g':
		tui_move(tui, LONG_MIN / 2);
		break;
	case 'G':
		tui_move(tui, LONG_MAX / 2);
		break;
	case 'l':
	case '\r':
	case '\n':
		return wait_and(tui_follow, tui);
	case 'h':
	case 127:
	case 8:
		return wait_and(tui_back, tui);
	case 't':
		return go(tui, TUI_TYPES);
	case 'x':
		return go(tui, TUI_KINDS);
	case 'n':
		return go(tui, TUI_SNAPSHOTS);
	case 'p':
		return wait_and(tui_go_to_paths, tui);
	case 'D':
		return wait_and(tui_go_to_dominator, tui);
	case 'd':
		return wait_and(tui_go_to_changes, tui);
	case '[':
		return step(tui, -1);
	case ']':
		return step(tui, 1);
	case 'r':
		return tui_sort(tui, TUI_BY_RETAINED);
	case 'b':
		return tui_sort(tui, TUI_BY_BYTES);
	case 'c':
		return tui_sort(tui, TUI_BY_COUNT);
	case '/':
		keys->is_prompt = true;
		keys->text[0] = '\0';
		break;
	case ESCAPE:
		return tui_filter(tui, "");
	case CONTROL('l'):
		clearok(stdscr, TRUE);
		break;
	default:
		snprintf(tui->message, sizeof(tui->message), "no such key; ? shows all");
		break;
	}
	return CLI_OK;
}

/* All keys that were pressed; a status. */
static int take_keys(struct keys *keys)
{
	int status = CLI_OK, result;
	wint_t key;

	while (!keys->is_over && status == CLI_OK && (result = get_wch(&key)) != ERR) {
		const bool is_function = result == KEY_CODE_YES;

		keys->tui->message[0] = '\0';
		if (is_function && key == KEY_RESIZE)
			continue;
		if (keys->is_help)
			keys->is_help = false;
		else if (keys->is_prompt)
			status = type_key(keys, is_function, key);
		else
			status = take_key(keys, is_function ? letter_of(key) : key);
	}
	return status;
}

static void draw(struct keys *keys)
{
	if (keys->is_help) {
		tui_screen_help();
		return;
	}
	tui_screen_draw(keys->tui);
	if (keys->is_prompt)
		tui_screen_prompt("show only: ", keys->text);
}

static int loop(struct keys *keys)
{
	struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				  {.fd = keys->signals, .events = POLLIN}};
	int status = CLI_OK;

	while (!keys->is_over && status == CLI_OK) {
		draw(keys);
		/* A resized terminal interrupts it, and is a key then. */
		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			return CLI_IO;
		if (polled[1].revents != 0 ||
		    (polled[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
			return CLI_OK;
		status = take_keys(keys);
	}
	return status;
}

int tui_run(struct tui *tui)
{
	static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, 0};
	struct keys keys = {.tui = tui, .signals = signals_open(end_signals)};
	int status;

	if (keys.signals < 0) {
		cli_message("tui: %s", strerror(errno));
		return CLI_IO;
	}
	if (!tui_screen_begin()) {
		close(keys.signals);
		return CLI_USAGE;
	}
	cli_before_message = tui_screen_end;
	status = loop(&keys);
	tui_screen_end();
	close(keys.signals);
	return status;
}
