/* SPDX-License-Identifier: MIT */
/*
 * What the files of heapshot diff share: two snapshots, a row for each type of
 * either, and checks on what changed.
 */
#ifndef HEAPSHOT_CLI_DIFF_H
#define HEAPSHOT_CLI_DIFF_H

#include "contrib/cli/recording.h"
#include "contrib/cli/text.h"

enum diff_field { DIFF_COUNT, DIFF_BYTES, DIFF_FIELDS };
extern const char *const diff_field_names[DIFF_FIELDS];

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

struct diff_values {
	uint64_t of[DIFF_FIELDS];
};

/* Types of one name and assembly, in both snapshots. */
struct diff_row {
	const char *type, *assembly; /* type "": it has no name, see diff_type_name */
	uint64_t hash;               /* tells names apart that were cut, and types without one */
	uint32_t id;
	struct diff_values sides[DIFF_SIDES];
};

enum diff_when { DIFF_CHANGE, DIFF_WHEN_BEFORE, DIFF_WHEN_AFTER };

/* A condition of --fail-if. */
struct diff_check {
	const char *text; /* as it was given */
	const char *type; /* name or pattern, type_bytes of it */
	size_t type_bytes;
	enum diff_field field;
	enum diff_when when;
	char operation[3]; /* "<", "<=", "==", "!=", ">=", ">" */
	int64_t limit;
	/* What it came to. */
	struct diff_values sides[DIFF_SIDES];
	bool holds;
};

struct diff {
	const struct cli_arguments *arguments;
	struct recording recordings[DIFF_SIDES];
	/* All types, by name; first those that are to be shown. */
	struct diff_row *rows;
	size_t n_rows, room;
	/* Of both snapshots as a whole. */
	struct diff_values sums[DIFF_SIDES];
	uint64_t references[DIFF_SIDES];
	struct diff_check checks[CLI_TEXTS_MAX];
	size_t n_checks;
};

/* AFTER - BEFORE, at the ends of the range where it does not fit. */
int64_t diff_change(uint64_t before, uint64_t after);
/* The same of one field of a row. */
int64_t diff_row_change(const struct diff_row *row, enum diff_field field);

/* Name for people; BUFFER has 32 bytes. */
const char *diff_type_name(const struct diff_row *row, char *buffer);

/* Adds the types of SIDE's snapshot; false without memory. */
bool diff_add_types(struct diff *diff, int side, const struct heapshot_totals *totals);
/* Joins what both sides have. */
void diff_join_rows(struct diff *diff);
/*
 * Puts the rows to be shown in front, in their order; returns how many.
 * *n_matching: those that the filters let through, changed or not.
 */
size_t diff_choose_rows(struct diff *diff, size_t *n_matching);

/* Takes the conditions of --fail-if; CLI_OK, or CLI_USAGE, said. */
int diff_parse_checks(struct diff *diff, const struct cli_command *command);
/* Fills in what they come to. */
void diff_run_checks(struct diff *diff);
/* What is compared with the limit. */
int64_t diff_check_value(const struct diff_check *check);
/* A line for each that holds; CLI_CHECK_FAILED if there is one, else CLI_OK. */
int diff_say_checks(const struct diff *diff);

void diff_put_json(const struct diff *diff, size_t n);
void diff_put_table(const struct diff *diff, size_t n, size_t n_all);

#endif
