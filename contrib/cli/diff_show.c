/* SPDX-License-Identifier: MIT */
/*
 * What changed, as a table and as JSON.
 */
#include <string.h>

#include "contrib/cli/diff.h"
#include "contrib/cli/json.h"

/* The first N fields of a side; retained sizes are null where no graph was asked for. */
static void put_values(struct json *json, const struct diff *diff, const struct diff_values *values,
		       int n)
{
	int field;

	for (field = 0; field < n; field++)
		json_put_known(json, diff_field_names[field],
			       field != DIFF_RETAINED || diff->with_retained, values->of[field]);
}

/* The changes, and both sides. */
static void put_change(struct json *json, const struct diff *diff,
		       const struct diff_values sides[DIFF_SIDES], int n)
{
	int field;

	for (field = 0; field < n; field++) {
		json_key(json, diff_field_names[field]);
		if (field != DIFF_RETAINED || diff->with_retained)
			json_signed(json, diff_change(sides[DIFF_BEFORE].of[field],
						      sides[DIFF_AFTER].of[field]));
		else
			json_null(json);
	}
	json_key(json, "before");
	json_begin(json, '{');
	put_values(json, diff, &sides[DIFF_BEFORE], n);
	json_end(json, '}');
	json_key(json, "after");
	json_begin(json, '{');
	put_values(json, diff, &sides[DIFF_AFTER], n);
	json_end(json, '}');
}

static void put_snapshot(struct json *json, const char *key, const struct diff *diff, int side)
{
	const struct recording *recording = &diff->recordings[side];

	json_key(json, key);
	json_begin(json, '{');
	json_put_text(json, "file", recording->path);
	json_put_unsigned(json, "snapshot", recording->snapshot->id);
	json_put_text(json, "label", recording->snapshot->label);
	json_put_unsigned(json, "time_ns", recording->snapshot->time_ns);
	json_put_unsigned(json, "objects", diff->sums[side].of[DIFF_COUNT]);
	json_put_unsigned(json, "bytes", diff->sums[side].of[DIFF_BYTES]);
	json_put_unsigned(json, "references", diff->references[side]);
	json_end(json, '}');
}

static void put_checks(struct json *json, const struct diff *diff)
{
	size_t i;

	json_key(json, "checks");
	json_begin_rows(json);
	for (i = 0; i < diff->n_checks; i++) {
		const struct diff_check *check = &diff->checks[i];

		json_begin(json, '{');
		json_put_text(json, "check", check->text);
		json_put_text(json, "type", check->type);
		json_key(json, "value");
		json_signed(json, diff_check_value(check));
		json_put_bool(json, "failed", check->holds);
		json_end(json, '}');
	}
	json_end(json, ']');
}

/* ---- What holds ---- */

/* From the root, or the first type, to NUMBER; returns how many are in STEPS. */
static size_t find_steps(const struct diff *diff, uint32_t number, const struct diff_holder **steps,
			 size_t max)
{
	size_t n = 0, i;

	/* Beginnings of very long ways are left out. */
	for (; number != 0 && n < max; number = steps[n++]->parent)
		steps[n] = diff_holder(diff->holders, number);
	for (i = 0; i < n / 2; i++) {
		const struct diff_holder *step = steps[i];

		steps[i] = steps[n - 1 - i];
		steps[n - 1 - i] = step;
	}
	return n;
}

#define STEPS_MAX 1024

static void put_holder_json(struct json *json, const struct diff *diff, uint32_t number)
{
	const struct diff_holder *steps[STEPS_MAX], *holder = diff_holder(diff->holders, number);
	const size_t n = find_steps(diff, number, steps, STEPS_MAX);
	const struct diff_row *row = &diff->rows[holder->row];
	char unnamed[32];
	size_t i;

	json_begin(json, '{');
	json_put_text(json, "type", type_key_name(&row->key, unnamed));
	json_put_text(json, "assembly", row->key.assembly);
	put_change(json, diff, holder->sides, DIFF_RETAINED);
	json_put_text(json, "root",
		      steps[0]->row == DIFF_NO_ROW
			      ? diff_holder_label(diff->holders, steps[0]->label)
			      : NULL);
	json_key(json, "path");
	json_begin(json, '[');
	for (i = steps[0]->row == DIFF_NO_ROW; i < n; i++) {
		json_begin(json, '{');
		json_put_text(json, "type", type_key_name(&diff->rows[steps[i]->row].key, unnamed));
		json_put_text(json, "slot",
			      i + 1 < n ? diff_holder_label(diff->holders, steps[i + 1]->label)
					: NULL);
		json_end(json, '}');
	}
	json_end(json, ']');
	json_end(json, '}');
}

/* "static T.Pub.Root -> T.List._items -> T.Leak[] [*] -> T.Leak" */
static void put_way(const struct diff *diff, uint32_t number)
{
	const struct diff_holder *steps[STEPS_MAX];
	const size_t n = find_steps(diff, number, steps, STEPS_MAX);
	char unnamed[32];
	size_t i;

	for (i = 0; i < n; i++) {
		const char *label = diff_holder_label(diff->holders, steps[i]->label);

		if (steps[i]->row == DIFF_NO_ROW || (i == 0 && *label != '\0')) {
			text_put_masked(stdout, label);
		} else if (i == 0) {
			fputs("nothing", stdout);
		} else if (*label != '\0') {
			putchar(strchr("[(+", *label) != NULL ? ' ' : '.');
			text_put_masked(stdout, label);
		}
		if (steps[i]->row == DIFF_NO_ROW)
			continue;
		fputs(" -> ", stdout);
		text_put_masked(stdout, type_key_name(&diff->rows[steps[i]->row].key, unnamed));
	}
	putchar('\n');
}

void diff_put_holders(const struct diff *diff, const uint32_t *holders, size_t n, size_t n_all)
{
	char numbers[3][TEXT_NUMBER_BYTES];
	size_t i;

	if (n_all == 0) {
		puts("\nnothing changed in what holds objects");
		return;
	}
	puts("\nchange by what holds the objects");
	for (i = 0; i < n; i++) {
		const struct diff_values *sides = diff_holder(diff->holders, holders[i])->sides;

		printf("%*s bytes, %*s objects: ", 15,
		       text_change(numbers[0], diff_change(sides[DIFF_BEFORE].of[DIFF_BYTES],
							   sides[DIFF_AFTER].of[DIFF_BYTES])),
		       11,
		       text_change(numbers[1], diff_change(sides[DIFF_BEFORE].of[DIFF_COUNT],
							   sides[DIFF_AFTER].of[DIFF_COUNT])));
		put_way(diff, holders[i]);
	}
	if (n < n_all)
		printf("... and %s more ways (--limit 0 shows all)\n",
		       text_number(numbers[2], n_all - n));
}

void diff_put_unmet(const struct diff *diff)
{
	size_t i;

	for (i = 0; i < diff->n_checks; i++) {
		if (diff->checks[i].is_met)
			continue;
		fputs("neither snapshot has a type ", stdout);
		text_put_masked(stdout, diff->checks[i].type);
		fputs("; it counts as 0 in --fail-if\n", stdout);
	}
}

void diff_put_json(const struct diff *diff, size_t n, const uint32_t *holders, size_t n_holders)
{
	struct json json = {0};
	char unnamed[32];
	size_t i;

	json_begin(&json, '{');
	put_snapshot(&json, "before", diff, DIFF_BEFORE);
	put_snapshot(&json, "after", diff, DIFF_AFTER);
	json_key(&json, "types");
	json_begin_rows(&json);
	for (i = 0; i < n; i++) {
		json_begin(&json, '{');
		json_put_text(&json, "type", type_key_name(&diff->shown[i]->key, unnamed));
		json_put_text(&json, "assembly", diff->shown[i]->key.assembly);
		put_change(&json, diff, diff->shown[i]->sides, DIFF_FIELDS);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_key(&json, "holders");
	if (diff->holders != NULL) {
		json_begin_rows(&json);
		for (i = 0; i < n_holders; i++)
			put_holder_json(&json, diff, holders[i]);
		json_end(&json, ']');
	} else {
		json_null(&json);
	}
	put_checks(&json, diff);
	json_end(&json, '}');
	json_line(&json);
}

/* ---- Types ---- */

static void put_cells(const struct diff *diff, struct text_table *table, const char *const *cells,
		      bool is_measure, bool is_title)
{
	/* Those of retained sizes stand first. */
	if (is_measure)
		text_table_measure(table, diff->with_retained ? cells : cells + 2);
	else
		text_table_print(table, diff->with_retained ? cells : cells + 2, is_title);
}

static void put_row(const struct diff *diff, struct text_table *table, const struct diff_row *row,
		    bool is_measure)
{
	char numbers[6][TEXT_NUMBER_BYTES], unnamed[32];
	const char *cells[] = {
		text_change(numbers[0], diff_row_change(row, DIFF_RETAINED)),
		text_number(numbers[1], row->sides[DIFF_AFTER].of[DIFF_RETAINED]),
		text_change(numbers[2], diff_row_change(row, DIFF_BYTES)),
		text_change(numbers[3], diff_row_change(row, DIFF_COUNT)),
		text_number(numbers[4], row->sides[DIFF_AFTER].of[DIFF_BYTES]),
		text_number(numbers[5], row->sides[DIFF_AFTER].of[DIFF_COUNT]),
		*row->key.assembly ? row->key.assembly : "-",
		type_key_name(&row->key, unnamed),
	};

	put_cells(diff, table, cells, is_measure, false);
}

static void put_sum(const char *name, uint64_t before, uint64_t after, const char *behind)
{
	char numbers[3][TEXT_NUMBER_BYTES];

	printf("%s %s -> %s (%s)%s", name, text_number(numbers[0], before),
	       text_number(numbers[1], after), text_change(numbers[2], diff_change(before, after)),
	       behind);
}

void diff_put_table(const struct diff *diff, size_t n, size_t n_all)
{
	static const char *const titles[] = {"+RETAINED", "RETAINED", "+BYTES",   "+COUNT",
					     "BYTES",     "COUNT",    "ASSEMBLY", "TYPE"};
	struct text_table table = {.align = diff->with_retained ? "rrrrrrll" : "rrrrll"};
	char number[TEXT_NUMBER_BYTES];
	size_t i;

	fputs("before: ", stdout);
	recording_print_title(&diff->recordings[DIFF_BEFORE]);
	fputs("after:  ", stdout);
	recording_print_title(&diff->recordings[DIFF_AFTER]);
	put_sum("objects", diff->sums[DIFF_BEFORE].of[DIFF_COUNT],
		diff->sums[DIFF_AFTER].of[DIFF_COUNT], ", ");
	put_sum("bytes", diff->sums[DIFF_BEFORE].of[DIFF_BYTES],
		diff->sums[DIFF_AFTER].of[DIFF_BYTES], diff->with_retained ? ", " : "\n");
	if (diff->with_retained)
		put_sum("live", diff->sums[DIFF_BEFORE].of[DIFF_RETAINED],
			diff->sums[DIFF_AFTER].of[DIFF_RETAINED], "\n");
	if (n_all == 0) {
		puts("no type changed");
		return;
	}
	put_cells(diff, &table, titles, true, false);
	for (i = 0; i < n; i++)
		put_row(diff, &table, diff->shown[i], true);
	put_cells(diff, &table, titles, false, true);
	for (i = 0; i < n; i++)
		put_row(diff, &table, diff->shown[i], false);
	if (n < n_all)
		printf("... and %s more types (--limit 0 shows all)\n",
		       text_number(number, n_all - n));
}
