/* SPDX-License-Identifier: MIT */
/*
 * What changed, as a table and as JSON.
 */
#include "contrib/cli/diff.h"
#include "contrib/cli/json.h"

static void put_values(struct json *json, const char *key, const struct diff_values *values)
{
	int field;

	json_key(json, key);
	json_begin(json, '{');
	for (field = 0; field < DIFF_FIELDS; field++)
		json_put_unsigned(json, diff_field_names[field], values->of[field]);
	json_end(json, '}');
}

/* The changes, and both sides. */
static void put_change(struct json *json, const struct diff_values sides[DIFF_SIDES])
{
	int field;

	for (field = 0; field < DIFF_FIELDS; field++) {
		json_key(json, diff_field_names[field]);
		json_signed(json,
			    diff_change(sides[DIFF_BEFORE].of[field], sides[DIFF_AFTER].of[field]));
	}
	put_values(json, "before", &sides[DIFF_BEFORE]);
	put_values(json, "after", &sides[DIFF_AFTER]);
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
		json_key(json, "type");
		json_text_bytes(json, check->type, check->type_bytes);
		json_key(json, "value");
		json_signed(json, diff_check_value(check));
		json_put_bool(json, "failed", check->holds);
		json_end(json, '}');
	}
	json_end(json, ']');
}

void diff_put_json(const struct diff *diff, size_t n)
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
		json_put_text(&json, "type", diff_type_name(&diff->rows[i], unnamed));
		json_put_text(&json, "assembly", diff->rows[i].assembly);
		put_change(&json, diff->rows[i].sides);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	put_checks(&json, diff);
	json_end(&json, '}');
	json_line(&json);
}

static void put_row(struct text_table *table, const struct diff_row *row, bool is_measure)
{
	char numbers[4][TEXT_NUMBER_BYTES], unnamed[32];
	const char *cells[] = {
		text_change(numbers[0], diff_row_change(row, DIFF_BYTES)),
		text_change(numbers[1], diff_row_change(row, DIFF_COUNT)),
		text_number(numbers[2], row->sides[DIFF_AFTER].of[DIFF_BYTES]),
		text_number(numbers[3], row->sides[DIFF_AFTER].of[DIFF_COUNT]),
		*row->assembly ? row->assembly : "-",
		diff_type_name(row, unnamed),
	};

	if (is_measure)
		text_table_measure(table, cells);
	else
		text_table_print(table, cells, false);
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
	static const char *const titles[] = {"+BYTES", "+COUNT",   "BYTES",
					     "COUNT",  "ASSEMBLY", "TYPE"};
	struct text_table table = {.align = "rrrrll"};
	char number[TEXT_NUMBER_BYTES];
	size_t i;

	fputs("before: ", stdout);
	recording_print_title(&diff->recordings[DIFF_BEFORE]);
	fputs("after:  ", stdout);
	recording_print_title(&diff->recordings[DIFF_AFTER]);
	put_sum("objects", diff->sums[DIFF_BEFORE].of[DIFF_COUNT],
		diff->sums[DIFF_AFTER].of[DIFF_COUNT], ", ");
	put_sum("bytes", diff->sums[DIFF_BEFORE].of[DIFF_BYTES],
		diff->sums[DIFF_AFTER].of[DIFF_BYTES], "\n");
	if (n_all == 0) {
		puts("no type changed");
		return;
	}
	text_table_measure(&table, titles);
	for (i = 0; i < n; i++)
		put_row(&table, &diff->rows[i], true);
	text_table_print(&table, titles, true);
	for (i = 0; i < n; i++)
		put_row(&table, &diff->rows[i], false);
	if (n < n_all)
		printf("... and %s more types (--limit 0 shows all)\n",
		       text_number(number, n_all - n));
}
