/* SPDX-License-Identifier: MIT */
/*
 * Text for people: names masked for terminals, numbers with separators, tables.
 */
#ifndef HEAPSHOT_CLI_TEXT_H
#define HEAPSHOT_CLI_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Reads one character of UTF-8 at *TEXT and moves on.  Returns its code point,
 * or -1 (one byte further) where there is no valid one.
 */
int32_t text_next(const char **text);

/* True for what could change a terminal or the order of what it shows. */
bool text_is_unsafe(int32_t point);

/* Columns of a character on a terminal: 0 (it combines with the one before), 1 or 2. */
unsigned text_width(int32_t point);

/* Writes TEXT with everything unsafe replaced by '?'; returns its columns. */
size_t text_put_masked(FILE *out, const char *text);
/* The same of as many characters as fit into COLUMNS. */
size_t text_put_cut(FILE *out, const char *text, size_t columns);
/* Columns it would take. */
size_t text_columns(const char *text);

/* True when NAME contains FILTER, or matches it where that has * or ?; NULL
 * lets everything through. */
bool text_matches(const char *name, const char *filter);
/* Behind a message that nothing matches: " (upper and lower case count)" where FILTER has
 * small letters only, else "". */
const char *text_case_hint(const char *filter);

/* 20 digits and 6 separators fit. */
#define TEXT_NUMBER_BYTES 32
/* "1,234,567" */
const char *text_number(char buffer[TEXT_NUMBER_BYTES], uint64_t number);
/* "+1,234,567", "-5", "0" */
const char *text_change(char buffer[TEXT_NUMBER_BYTES], int64_t change);
#define TEXT_SHARE_BYTES 16
/* "92.1 %": PART of ALL, 0 of nothing. */
const char *text_share(char buffer[TEXT_SHARE_BYTES], uint64_t part, uint64_t all);
/* "12.345 s", "1.2 ms" */
const char *text_duration(char buffer[TEXT_NUMBER_BYTES], uint64_t ns);
/* "2026-01-31 12:34:56", local time */
const char *text_wall_time(char buffer[TEXT_NUMBER_BYTES], uint64_t unix_ns);

/*
 * A table: measure every row first, then print them.  Columns whose letter in
 * ALIGN is 'r' stand to the right, 'l' to the left; the last is not filled up.
 */
#define TEXT_COLUMNS_MAX   10
#define TEXT_COLUMN_WIDEST 44
struct text_table {
	const char *align;
	size_t width[TEXT_COLUMNS_MAX];
	size_t most; /* a row is cut behind so many columns; 0: it is not */
};

void text_table_measure(struct text_table *table, const char *const *cells);
void text_table_print(const struct text_table *table, const char *const *cells, bool is_title);

#endif
