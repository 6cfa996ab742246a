/* SPDX-License-Identifier: MIT */
/*
 * --fail-if TYPE.FIELD OPERATOR NUMBER: read from its end, since names of types
 * may hold dots, blanks and angle brackets themselves.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/diff.h"

const char *const diff_field_names[DIFF_FIELDS] = {
	[DIFF_COUNT] = "count",
	[DIFF_BYTES] = "bytes",
	[DIFF_RETAINED] = "retained",
};

static const char *const when_names[] = {
	[DIFF_WHEN_BEFORE] = "before",
	[DIFF_WHEN_AFTER] = "after",
};

static const char *const operations[] = {"<", "<=", "==", "!=", ">=", ">"};

static bool is_operation(const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (strlen(operations[i]) == n && memcmp(operations[i], text, n) == 0)
			return true;
	return false;
}

/* Bytes of TEXT without the blanks at its end. */
static size_t trim(const char *text, size_t n)
{
	while (n > 0 && isblank((unsigned char)text[n - 1]))
		n--;
	return n;
}

static bool parse_limit(const char *text, size_t n, int64_t *limit)
{
	char number[32];
	uint64_t bytes;
	bool is_negative = n > 0 && *text == '-';

	if (n - is_negative >= sizeof(number))
		return false;
	memcpy(number, text + is_negative, n - is_negative);
	number[n - is_negative] = '\0';
	if (!cli_parse_size(number, &bytes) || bytes > INT64_MAX)
		return false;
	*limit = is_negative ? -(int64_t)bytes : (int64_t)bytes;
	return true;
}

/* Takes ".NAME" off the end of TEXT; false when it does not end so. */
static bool take_word(const char *text, size_t *n, const char *name)
{
	const size_t length = strlen(name);

	if (*n <= length || memcmp(text + *n - length, name, length) != 0 ||
	    text[*n - length - 1] != '.')
		return false;
	*n -= length + 1;
	return true;
}

/* NULL, or what is wrong with TEXT. */
static const char *parse(const char *text, struct diff_check *check)
{
	size_t n = trim(text, strlen(text)), end = n, length;
	int field, when;

	*check = (struct diff_check){.text = text};
	while (n > 0 && strchr("<>=!", text[n - 1]) == NULL)
		n--;
	if (n == 0)
		return "an operator and a number are missing, as in 'T.Leak.count > 0'";
	length = strspn(text + n, " \t");
	if (!parse_limit(text + n + length, end - n - length, &check->limit))
		return "the number is wrong: it is as 100, 64k, 10m or 2g";
	for (end = n; n > 0 && strchr("<>=!", text[n - 1]) != NULL;)
		n--;
	if (!is_operation(text + n, end - n))
		return "the operator is none of <, <=, ==, !=, >= and >";
	memcpy(check->operation, text + n, end - n);
	n = trim(text, n);
	for (when = DIFF_WHEN_BEFORE; when <= DIFF_WHEN_AFTER; when++)
		if (take_word(text, &n, when_names[when])) {
			check->when = (enum diff_when)when;
			break;
		}
	for (field = 0; field < DIFF_FIELDS; field++)
		if (take_word(text, &n, diff_field_names[field])) {
			check->field = (enum diff_field)field;
			break;
		}
	length = strspn(text, " \t");
	if (field == DIFF_FIELDS || n <= length)
		return "what is compared is TYPE.count, .bytes or .retained, with .before or "
		       ".after behind it for one snapshot's";
	check->type = strndup(text + length, n - length);
	return check->type != NULL ? NULL : "out of memory";
}

void diff_free_checks(struct diff *diff)
{
	size_t i;

	for (i = 0; i < diff->n_checks; i++)
		free(diff->checks[i].type);
}

int diff_parse_checks(struct diff *diff, const struct cli_command *command)
{
	const struct cli_texts *texts = &diff->arguments->fail_if;
	const char *wrong;

	for (; diff->n_checks < texts->n; diff->n_checks++) {
		wrong = parse(texts->list[diff->n_checks], &diff->checks[diff->n_checks]);
		diff->with_retained |= diff->checks[diff->n_checks].field == DIFF_RETAINED;
		if (wrong != NULL)
			return cli_usage(command, "--fail-if '%s': %s", texts->list[diff->n_checks],
					 wrong);
	}
	return CLI_OK;
}

bool diff_is_checked(const struct diff_check *check, const struct diff_row *row)
{
	char unnamed[32];
	const char *name = type_key_name(&row->key, unnamed);

	if (strpbrk(check->type, "*?") != NULL)
		return text_matches(name, check->type);
	return strcmp(name, check->type) == 0;
}

static bool compare(int64_t value, const char *operation, int64_t limit)
{
	if (strcmp(operation, "==") == 0)
		return value == limit;
	if (strcmp(operation, "!=") == 0)
		return value != limit;
	if (value == limit)
		return operation[1] == '=';
	return operation[0] == '<' ? value < limit : value > limit;
}

int64_t diff_check_value(const struct diff_check *check)
{
	uint64_t before = check->sides[DIFF_BEFORE].of[check->field],
		 after = check->sides[DIFF_AFTER].of[check->field];

	switch (check->when) {
	case DIFF_WHEN_BEFORE:
		return diff_change(0, before);
	case DIFF_WHEN_AFTER:
		return diff_change(0, after);
	case DIFF_CHANGE:
		break;
	}
	return diff_change(before, after);
}

void diff_run_checks(struct diff *diff)
{
	size_t i, k;
	int side;

	for (i = 0; i < diff->n_checks; i++) {
		struct diff_check *check = &diff->checks[i];

		for (k = 0; k < diff->n_rows; k++) {
			if (!diff_is_checked(check, &diff->rows[k]))
				continue;
			check->is_met = true;
			/* What several types retain is no sum: diff_read_graph has it. */
			for (side = 0; check->field != DIFF_RETAINED && side < DIFF_SIDES; side++)
				check->sides[side].of[check->field] +=
					diff->rows[k].sides[side].of[check->field];
		}
		check->holds = compare(diff_check_value(check), check->operation, check->limit);
	}
}

int diff_say_checks(const struct diff *diff)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < diff->n_checks; i++) {
		const struct diff_check *check = &diff->checks[i];
		char before[TEXT_NUMBER_BYTES], after[TEXT_NUMBER_BYTES], change[TEXT_NUMBER_BYTES];

		if (!check->holds)
			continue;
		status = CLI_CHECK_FAILED;
		cli_message("failed: %s: %s %s -> %s (%s)", check->text,
			    diff_field_names[check->field],
			    text_number(before, check->sides[DIFF_BEFORE].of[check->field]),
			    text_number(after, check->sides[DIFF_AFTER].of[check->field]),
			    text_change(change,
					diff_change(check->sides[DIFF_BEFORE].of[check->field],
						    check->sides[DIFF_AFTER].of[check->field])));
	}
	return status;
}
