/* SPDX-License-Identifier: MIT */
/*
 * The parts of `heapshot tui`, a browser for terminals.
 *
 * Two halves.  The model knows the snapshot, the history of places, and the rows
 * of the place that is shown; it knows nothing of terminals.  The screen
 * (tui_screen.c, tui_keys.c) draws these rows and turns keys into calls of the model.
 */
#ifndef HEAPSHOT_CLI_TUI_H
#define HEAPSHOT_CLI_TUI_H

#include "contrib/cli/graph.h"
#include "contrib/cli/path.h"

/* Rows of lists that grow with the heap: of more objects those that retain most. */
#define TUI_ROWS_MAX 1000
/* Places to go back to; the oldest are forgotten. */
#define TUI_HISTORY_MAX 256
#define TUI_NUMBERS_MAX 4
#define TUI_HEADS_MAX   3
#define TUI_FILTER_MAX  64

enum tui_kind {
	TUI_NOWHERE,
	TUI_TYPES,
	TUI_OBJECTS, /* of type NUMBER */
	TUI_OBJECT,  /* NUMBER */
	TUI_PATHS,   /* to the objects of type NUMBER, put together */
	TUI_PATH,    /* to object NUMBER, step by step */
	TUI_KINDS,   /* of roots */
	TUI_SOURCES, /* of kind NUMBER */
	TUI_ROOTED,  /* objects that source NUMBER leads to */
	TUI_SNAPSHOTS,
	TUI_CHANGES, /* from the snapshot before to snapshot NUMBER, by id */
	TUI_SWITCH,  /* to snapshot NUMBER: leads to its types */
};

/* What can be shown; numbers are those of graph and types. */
struct tui_place {
	enum tui_kind kind;
	uint64_t number;
};

enum tui_sort { TUI_BY_RETAINED, TUI_BY_BYTES, TUI_BY_COUNT };

/* A place, and how it is looked at. */
struct tui_view {
	struct tui_place place;
	enum tui_sort sort;
	char filter[TUI_FILTER_MAX];
	size_t selected, top; /* rows */
};

struct tui_row {
	uint64_t numbers[TUI_NUMBERS_MAX];
	size_t n_numbers;    /* that are shown */
	bool is_section;     /* its name stands alone */
	char *of, *name;     /* of: what stands before the name, or NULL */
	struct tui_place to; /* where Enter leads */
};

/* The rows of a view. */
struct tui_table {
	char title[256];
	char heads[TUI_HEADS_MAX][512]; /* lines above the rows; "": none */
	const char *numbers[TUI_NUMBERS_MAX];
	size_t n_numbers;
	unsigned changes; /* bit N: column N is a change, with a sign */
	const char *of, *name;
	bool is_sortable; /* by keys; a row is what it says */
	struct tui_row *rows;
	size_t n, room;
};

struct tui {
	const struct cli_command *command;
	const struct cli_arguments *arguments;
	struct recording recording;
	struct heapshot_graph *graph;
	struct graph_types types;
	struct path path; /* its ways are made when they are first wanted */
	struct path_hashes hashes;
	uint64_t live_bytes, live_objects;
	struct tui_view history[TUI_HISTORY_MAX]; /* the last is shown */
	size_t n_history;
	struct tui_table table;
	char message[256]; /* to be shown until the next key */
};

/* ---- The model (tui_model.c): all return CLI_OK or a status, said ---- */

/* Reads the recording's snapshot, and shows its types. */
int tui_begin(struct tui *tui);
void tui_end(struct tui *tui);

static inline struct tui_view *tui_view(struct tui *tui)
{
	return &tui->history[tui->n_history - 1];
}

/* The row that is selected, or NULL. */
const struct tui_row *tui_selected(const struct tui *tui);
/* Shows PLACE, and remembers the one before. */
int tui_go(struct tui *tui, struct tui_place place);
/* Shows what the selected row leads to. */
int tui_follow(struct tui *tui);
int tui_back(struct tui *tui);
/* Makes the rows of the view anew. */
int tui_refresh(struct tui *tui);
int tui_sort(struct tui *tui, enum tui_sort sort);
/* Shows the rows only that contain FILTER, or match it where that has * or ?; "": all. */
int tui_filter(struct tui *tui, const char *filter);
/* Moves by ROWS, over sections. */
void tui_move(struct tui *tui, long rows);
/* What the keys p and D, and d and [ ], lead to from here. */
int tui_go_to_paths(struct tui *tui);
int tui_go_to_dominator(struct tui *tui);
int tui_go_to_changes(struct tui *tui);
int tui_step_snapshot(struct tui *tui, int step);

/* ---- Rows (tui_rows.c) ---- */

/* A new, empty row; NULL without memory. */
struct tui_row *tui_add(struct tui_table *table);
/* The same with a name and what stands before it (may be NULL), which are copied. */
struct tui_row *tui_add_named(struct tui_table *table, const char *of, const char *name,
			      struct tui_place to);
bool tui_add_section(struct tui_table *table, const char *name);
/* What shows NODE: an object, a kind of roots, a root; all kinds for the root node. */
struct tui_place tui_place_of(const struct heapshot_graph *graph, uint32_t node);
/* Of an object or what stands for roots: RETAINED and BYTES, OF, its words, the way to it. */
bool tui_add_node(struct tui *tui, const char *of, uint32_t node);
void tui_clear(struct tui_table *table);
/* Sorts by a column that has this meaning, if there is one. */
void tui_sort_rows(struct tui_table *table, enum tui_sort sort);
void tui_filter_rows(struct tui_table *table, const char *filter);

/* ---- Views: they fill the empty table ---- */

int tui_make_types(struct tui *tui);
int tui_make_objects(struct tui *tui, uint32_t type);
int tui_make_rooted(struct tui *tui, uint32_t source);
int tui_make_object(struct tui *tui, uint32_t object);
int tui_make_paths(struct tui *tui, uint32_t type);
int tui_make_path(struct tui *tui, uint32_t object);
int tui_make_kinds(struct tui *tui);
int tui_make_sources(struct tui *tui, uint32_t kind);
int tui_make_snapshots(struct tui *tui);
int tui_make_changes(struct tui *tui, uint64_t snapshot);
/* Makes the ways from the roots, if they are not there. */
int tui_want_ways(struct tui *tui);

/* ---- The screen ---- */

/* Whether it is known, and can place its cursor (tui_terminal.c). */
bool tui_terminal_is_usable(void);
/* Until the user has enough.  A status, said. */
int tui_run(struct tui *tui);
/* False, with a message, where there is no terminal that it could use. */
bool tui_screen_begin(void);
void tui_screen_end(void);
void tui_screen_draw(struct tui *tui);
/* Help instead of the table, until a key. */
void tui_screen_help(void);
/* In the bottom line: something takes a while. */
void tui_screen_wait(const char *text);
/* Rows of the table that are seen. */
size_t tui_screen_rows(const struct tui *tui);
/* The line at the bottom while TEXT is typed behind PROMPT. */
void tui_screen_prompt(const char *prompt, const char *text);

#endif
