/* SPDX-License-Identifier: MIT */
/*
 * Drawing, by ncurses.  Names are cut and masked as everywhere; where the locale
 * knows no UTF-8, other characters are shown as '?'.
 */
#include "config.h"

#include <curses.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/cli/text.h"
#include "contrib/cli/tui.h"

/* Fewer columns for names than this, and columns of numbers go. */
#define NAME_COLUMNS 20
/* Most of what stands before the name. */
#define OF_COLUMNS 28

enum { PAIR_TITLE = 1, PAIR_SECTION, PAIR_KEYS };

static SCREEN *screen;

/* It fits into 80 columns. */
static const char keys_line[] = "?:help q:quit Enter <-:back /:filter t:types p:paths x:roots "
				"n:snapshots d:diff";

bool tui_screen_begin(void)
{
	const char *term = getenv("TERM");

	setlocale(LC_CTYPE, "");
	/* Unlike initscr() it does not end the process. */
	screen = tui_terminal_is_usable() ? newterm(NULL, stdout, stdin) : NULL;
	if (screen == NULL) {
		cli_message("tui: the terminal '%s' cannot be used; is TERM right?",
			    term != NULL ? term : "");
		return false;
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	if (cli_has_colour() && has_colors() && start_color() == OK) {
		use_default_colors();
		init_pair(PAIR_TITLE, COLOR_WHITE, COLOR_BLUE);
		init_pair(PAIR_SECTION, COLOR_CYAN, -1);
		init_pair(PAIR_KEYS, COLOR_BLACK, COLOR_WHITE);
	}
	return true;
}

void tui_screen_end(void)
{
	if (screen == NULL)
		return;
	if (!isendwin())
		endwin();
}

/* Attributes with a colour, where there are colours, or with PLAIN. */
static attr_t look(int pair, attr_t plain)
{
	return cli_has_colour() && has_colors() ? (attr_t)COLOR_PAIR(pair) : plain;
}

/* Writes TEXT at Y, X in at most WIDTH columns; returns how many it took. */
static int put(int y, int x, int width, const char *text)
{
	char *cut = NULL;
	size_t bytes, i, columns;
	FILE *out;

	if (width <= 0 || y >= LINES)
		return 0;
	out = open_memstream(&cut, &bytes);
	if (out == NULL)
		return 0;
	columns = text_put_cut(out, text, (size_t)width);
	if (fclose(out) != 0) {
		free(cut);
		return 0;
	}
	if (MB_CUR_MAX == 1)
		for (i = 0; i < bytes; i++)
			if ((unsigned char)cut[i] >= 0x80)
				cut[i] = '?';
	mvaddstr(y, x, cut);
	free(cut);
	return (int)columns;
}

/* A whole line in one look. */
static void put_bar(int y, attr_t attributes, const char *text)
{
	if (y < 0 || y >= LINES)
		return;
	attrset(attributes);
	move(y, 0);
	hline(' ', COLS);
	put(y, 0, COLS, text);
	attrset(A_NORMAL);
}

static void put_title(const struct tui *tui)
{
	const struct heapshot_snapshot *snapshot = tui->recording.snapshot;
	char text[1024], numbers[2][TEXT_NUMBER_BYTES];
	const char *slash = strrchr(tui->recording.path, '/');

	snprintf(text, sizeof(text), "%s, snapshot %llu%s%s%s%s: %s objects, %s bytes live",
		 slash != NULL ? slash + 1 : tui->recording.path, (unsigned long long)snapshot->id,
		 *snapshot->label ? " \"" : "", snapshot->label, *snapshot->label ? "\"" : "",
		 snapshot->is_complete ? "" : " INCOMPLETE",
		 text_number(numbers[0], tui->live_objects),
		 text_number(numbers[1], tui->live_bytes));
	put_bar(0, look(PAIR_TITLE, A_REVERSE), text);
}

/* ---- The table ---- */

static int n_heads(const struct tui_table *table)
{
	int n = 0, i;

	for (i = 0; i < TUI_HEADS_MAX; i++)
		n += table->heads[i][0] != '\0';
	return n;
}

size_t tui_screen_rows(const struct tui *tui)
{
	const int rows = LINES - 4 - n_heads(&tui->table);

	return rows > 1 ? (size_t)rows : 1;
}

static const char *number_text(const struct tui_table *table, size_t column, uint64_t number,
			       char buffer[TEXT_NUMBER_BYTES])
{
	return (table->changes >> column & 1) != 0 ? text_change(buffer, (int64_t)number)
						   : text_number(buffer, number);
}

/* Widths of the columns; the last of numbers go where the name would have no room. */
struct layout {
	int numbers[TUI_NUMBERS_MAX];
	size_t n_numbers;
	int of;
};

static int number_width(const struct tui_table *table, size_t column)
{
	uint64_t largest = 0;
	char text[TEXT_NUMBER_BYTES];
	const bool is_change = (table->changes >> column & 1) != 0;
	int width, title = (int)strlen(table->numbers[column]);
	size_t i;

	for (i = 0; i < table->n; i++) {
		uint64_t number = table->rows[i].numbers[column];

		if (is_change && (int64_t)number < 0)
			number = 0 - number;
		if (number > largest)
			largest = number;
	}
	width = (int)strlen(text_number(text, largest)) + is_change;
	return width > title ? width : title;
}

static struct layout lay_out(const struct tui *tui)
{
	const struct tui_table *table = &tui->table;
	struct layout layout = {.n_numbers = table->n_numbers};
	int used = 0, width;
	size_t i;

	for (i = 0; i < table->n_numbers; i++) {
		layout.numbers[i] = number_width(table, i);
		used += layout.numbers[i] + 2;
	}
	if (table->of != NULL) {
		layout.of = (int)strlen(table->of);
		for (i = 0; i < table->n; i++) {
			width = table->rows[i].of != NULL ? (int)text_columns(table->rows[i].of)
							  : 0;
			if (width > layout.of)
				layout.of = width;
		}
		if (layout.of > OF_COLUMNS)
			layout.of = OF_COLUMNS;
	}
	/* One number always stays, then what stands before the name goes. */
	while (layout.n_numbers > 1 && used + layout.of + 2 + NAME_COLUMNS > COLS)
		used -= layout.numbers[--layout.n_numbers] + 2;
	if (used + layout.of + 2 + NAME_COLUMNS / 2 > COLS)
		layout.of = 0;
	return layout;
}

static void put_titles(const struct tui_table *table, const struct layout *layout, int y)
{
	int x = 0;
	size_t i;

	if (y >= LINES - 1)
		return;
	attrset(A_BOLD);
	for (i = 0; i < layout->n_numbers; i++) {
		const int width = layout->numbers[i], title = (int)strlen(table->numbers[i]);

		put(y, x + width - title, COLS - (x + width - title), table->numbers[i]);
		x += width + 2;
	}
	if (layout->of > 0) {
		put(y, x, COLS - x, table->of);
		x += layout->of + 2;
	}
	if (table->name != NULL)
		put(y, x, COLS - x, table->name);
	attrset(A_NORMAL);
}

static void put_row(const struct tui_table *table, const struct layout *layout, int y,
		    const struct tui_row *row, bool is_selected)
{
	char text[TEXT_NUMBER_BYTES];
	int x = 0;
	size_t i;

	if (is_selected) {
		attrset(A_REVERSE);
		move(y, 0);
		hline(' ', COLS);
	}
	if (row->is_section) {
		attrset(look(PAIR_SECTION, A_NORMAL) | A_BOLD);
		put(y, 0, COLS, row->name);
		attrset(A_NORMAL);
		return;
	}
	for (i = 0; i < layout->n_numbers; i++) {
		const int width = layout->numbers[i];

		if (i < row->n_numbers) {
			const char *number = number_text(table, i, row->numbers[i], text);
			const int length = (int)strlen(number);

			put(y, x + width - length, COLS - (x + width - length), number);
		}
		x += width + 2;
	}
	if (layout->of > 0) {
		put(y, x, layout->of < COLS - x ? layout->of : COLS - x,
		    row->of != NULL ? row->of : "");
		x += layout->of + 2;
	}
	put(y, x, COLS - x, row->name);
	attrset(A_NORMAL);
}

static void put_table(struct tui *tui, int y)
{
	const struct tui_table *table = &tui->table;
	const struct layout layout = lay_out(tui);
	struct tui_view *view = tui_view(tui);
	const size_t rows = tui_screen_rows(tui);
	size_t i;

	put_titles(table, &layout, y++);
	if (view->selected < view->top)
		view->top = view->selected;
	if (view->selected >= view->top + rows)
		view->top = view->selected - rows + 1;
	if (view->top + rows > table->n)
		view->top = table->n > rows ? table->n - rows : 0;
	for (i = view->top; i < table->n && i < view->top + rows && y < LINES - 1; i++, y++)
		put_row(table, &layout, y, &table->rows[i], i == view->selected);
	if (table->n == 0 && y < LINES - 1)
		put(y, 0, COLS, *view->filter ? "nothing matches" : "nothing");
}

static void put_subtitle(struct tui *tui, int y)
{
	const struct tui_view *view = tui_view(tui);
	char text[512], numbers[2][TEXT_NUMBER_BYTES];

	snprintf(text, sizeof(text), "%s%s%s%s", tui->table.title, *view->filter ? ", only /" : "",
		 view->filter, *view->filter ? "/" : "");
	put(y, 0, COLS, text);
	/* Where one is in a long list. */
	if (tui->table.n > tui_screen_rows(tui)) {
		const int room = COLS - (int)text_columns(text);

		snprintf(text, sizeof(text), "  %s/%s", text_number(numbers[0], view->selected + 1),
			 text_number(numbers[1], tui->table.n));
		if (room >= (int)strlen(text))
			put(y, COLS - (int)strlen(text), (int)strlen(text), text);
	}
}

void tui_screen_draw(struct tui *tui)
{
	int y = 1, i;

	erase();
	put_title(tui);
	if (LINES > 3)
		put_subtitle(tui, y++);
	for (i = 0; i < TUI_HEADS_MAX; i++)
		if (tui->table.heads[i][0] != '\0' && y < LINES - 2)
			put(y++, 0, COLS, tui->table.heads[i]);
	if (LINES > 2)
		put_table(tui, y);
	if (LINES > 1)
		put_bar(LINES - 1, look(PAIR_KEYS, A_REVERSE),
			*tui->message ? tui->message : keys_line);
	refresh();
}

void tui_screen_wait(const char *text)
{
	put_bar(LINES - 1, look(PAIR_KEYS, A_REVERSE), text);
	refresh();
}

void tui_screen_prompt(const char *prompt, const char *text)
{
	char line[256];

	snprintf(line, sizeof(line), "%s%s_", prompt, text);
	put_bar(LINES - 1, look(PAIR_KEYS, A_REVERSE), line);
	refresh();
}

void tui_screen_help(void)
{
	static const char *const lines[] = {
		"Keys",
		"",
		"q            quit",
		"up k down j  one row up, down",
		"page up ^B   a page up; page down ^F space: down; ^U ^D: half of one",
		"home g end G the first row, the last row",
		"Enter right l  open what the row names",
		"Backspace left h  back to the view before",
		"t            types",
		"r b c        sort by retained size, bytes, count",
		"/            show only rows that contain a text, or match it where it",
		"             has * or ?; an empty text, or Esc in the view, shows all",
		"p            paths from roots: to the objects of a type, or to an object",
		"D            the dominator: without it the object would be gone",
		"x            roots by kind",
		"n            snapshots; Enter shows one",
		"[ ]          the snapshot before, the one after",
		"d            what changed since the snapshot before",
		"^L           draw anew",
		"",
		"RETAINED is what would go with an object or all of a type.",
	};
	int y;

	erase();
	for (y = 0; y < (int)(sizeof(lines) / sizeof(*lines)) && y < LINES - 1; y++) {
		attrset(y == 0 ? A_BOLD : A_NORMAL);
		put(y, 0, COLS, lines[y]);
	}
	put_bar(LINES - 1, look(PAIR_KEYS, A_REVERSE), "any key goes back");
	refresh();
}
