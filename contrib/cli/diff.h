/* SPDX-License-Identifier: MIT */
/*
 * What the files of heapshot diff share: two snapshots, a row for each type of
 * either, and checks on what changed.
 */
#ifndef HEAPSHOT_CLI_DIFF_H
#define HEAPSHOT_CLI_DIFF_H

#include "contrib/cli/graph.h"
#include "contrib/cli/recording.h"
#include "contrib/cli/text.h"

enum diff_field { DIFF_COUNT, DIFF_BYTES, DIFF_RETAINED, DIFF_FIELDS };
extern const char *const diff_field_names[DIFF_FIELDS];

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

struct diff_values {
	uint64_t of[DIFF_FIELDS];
};

/* Types of one name and assembly, in both snapshots. */
struct diff_row {
	struct type_key key;
	struct diff_values sides[DIFF_SIDES];
};

enum diff_when { DIFF_CHANGE, DIFF_WHEN_BEFORE, DIFF_WHEN_AFTER };

/* A condition of --fail-if. */
struct diff_check {
	const char *text; /* as it was given */
	char *type;       /* name or pattern */
	enum diff_field field;
	enum diff_when when;
	char operation[3]; /* "<", "<=", "==", "!=", ">=", ">" */
	int64_t limit;
	/* What it came to. */
	struct diff_values sides[DIFF_SIDES];
	bool holds;
	bool is_met; /* there is such a type in either snapshot */
};

struct diff {
	const struct cli_arguments *arguments;
	struct recording recordings[DIFF_SIDES];
	/* All types, by name, and those to be shown. */
	struct diff_row *rows;
	size_t n_rows;
	const struct diff_row **shown;
	/* Of both snapshots as a whole. */
	struct diff_values sums[DIFF_SIDES];
	uint64_t references[DIFF_SIDES];
	struct diff_check checks[CLI_TEXTS_MAX];
	size_t n_checks;
	bool with_retained;           /* else no graph is made for it, and it is 0 */
	struct diff_holders *holders; /* NULL: not asked for */
};

/* AFTER - BEFORE, at the ends of the range where it does not fit. */
int64_t diff_change(uint64_t before, uint64_t after);
/* The same of one field of a row. */
int64_t diff_row_change(const struct diff_row *row, enum diff_field field);

/* Adds the types of SIDE's snapshot; false without memory. */
bool diff_add_types(struct diff *diff, int side, const struct heapshot_totals *totals);
/* Joins what both sides have. */
void diff_join_rows(struct diff *diff);
/*
 * Chooses the rows to be shown, in their order; returns how many, SIZE_MAX without
 * memory.  *n_matching: those that the filters let through, changed or not.
 */
size_t diff_choose_rows(struct diff *diff, size_t *n_matching);

/* Number of a type's row, or DIFF_NO_ROW. */
uint32_t diff_find_row(const struct diff *diff, int side, uint32_t type);

/* Reads the graph of SIDE for what was asked of it; CLI_OK to go on. */
int diff_read_graph(struct diff *diff, int side);

/* Takes the conditions of --fail-if; CLI_OK, or CLI_USAGE, said. */
int diff_parse_checks(struct diff *diff, const struct cli_command *command);
void diff_free_checks(struct diff *diff);
/* Fills in what they come to. */
void diff_run_checks(struct diff *diff);
/* What is compared with the limit. */
int64_t diff_check_value(const struct diff_check *check);
/* A line for each that holds; CLI_CHECK_FAILED if there is one, else CLI_OK. */
int diff_say_checks(const struct diff *diff);

/* Whether the type of ROW is what CHECK is about. */
bool diff_is_checked(const struct diff_check *check, const struct diff_row *row);

/*
 * What holds objects: the ways to them by roots, types and slots, merged.  The
 * first is no way, and what nothing holds hangs there.
 */
struct diff_holder {
	uint32_t parent;
	uint32_t label; /* of the slot, or of the root */
	uint32_t row;   /* type of the objects; DIFF_NO_ROW for roots */
	uint32_t depth;
	struct diff_values sides[DIFF_SIDES]; /* count and bytes of the objects */
};
#define DIFF_NO_ROW UINT32_MAX

struct diff_holders *diff_holders_new(void);
void diff_holders_free(struct diff_holders *holders);
/* Adds all objects of GRAPH; ROW_OF_CLASS by class_index.  CLI_OK, or a status, said. */
int diff_holders_add(struct diff *diff, int side, struct heapshot_graph *graph,
		     const uint32_t *row_of_class);
/* Those that changed, and whose type the filters let through, in their order; NULL without memory. */
uint32_t *diff_holders_choose(const struct diff *diff, size_t *n);
const struct diff_holder *diff_holder(const struct diff_holders *holders, uint32_t number);
const char *diff_holder_label(const struct diff_holders *holders, uint32_t label);
/* True when the filters let the type of ROW through. */
bool diff_is_wanted(const struct diff *diff, const struct diff_row *row);

/* HOLDERS, n_holders of them, may be NULL. */
void diff_put_json(const struct diff *diff, size_t n, const uint32_t *holders, size_t n_holders);
void diff_put_table(const struct diff *diff, size_t n, size_t n_all);
/* A line for each check of which neither snapshot has a type: it may be misspelt. */
void diff_put_unmet(const struct diff *diff);
void diff_put_holders(const struct diff *diff, const uint32_t *holders, size_t n, size_t n_all);

#endif
