/* SPDX-License-Identifier: MIT */
/*
 * Types of two snapshots, joined by full name and assembly: ids and addresses
 * mean nothing from one process to the next.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/diff.h"

int64_t diff_change(uint64_t before, uint64_t after)
{
	if (after >= before)
		return after - before > INT64_MAX ? INT64_MAX : (int64_t)(after - before);
	return before - after > INT64_MAX ? INT64_MIN : -(int64_t)(before - after);
}

int64_t diff_row_change(const struct diff_row *row, enum diff_field field)
{
	return diff_change(row->sides[DIFF_BEFORE].of[field], row->sides[DIFF_AFTER].of[field]);
}

static int by_key(const void *left, const void *right)
{
	return type_key_compare(&((const struct diff_row *)left)->key,
				&((const struct diff_row *)right)->key);
}

/* Ids of types without a name are the same thing within one recording only. */
static bool is_one_recording(const struct diff *diff)
{
	return diff->recordings[DIFF_AFTER].is_shared ||
	       heapshot_reader_summary(diff->recordings[DIFF_BEFORE].reader)->stream ==
		       heapshot_reader_summary(diff->recordings[DIFF_AFTER].reader)->stream;
}

static struct diff_row make_row(const struct diff *diff, int side, uint32_t id)
{
	struct diff_row row = {.key = type_key_of(&diff->recordings[side], id)};

	if (*row.key.name == '\0' && side == DIFF_AFTER && !is_one_recording(diff))
		row.key.hash |= (uint64_t)1 << 63;
	return row;
}

bool diff_add_types(struct diff *diff, int side, const struct heapshot_totals *totals)
{
	size_t i, n = diff->n_rows + totals->n_types;
	struct diff_row *rows = reallocarray(diff->rows, n + 1, sizeof(*rows));

	if (rows == NULL)
		return false;
	diff->rows = rows;
	for (i = 0; i < totals->n_types; i++) {
		const struct heapshot_type_total *total = &totals->types[i];
		struct diff_row *row = &diff->rows[diff->n_rows++];

		*row = make_row(diff, side, total->type);
		row->sides[side].of[DIFF_COUNT] = total->objects;
		row->sides[side].of[DIFF_BYTES] = total->bytes;
	}
	diff->sums[side].of[DIFF_COUNT] = totals->objects;
	diff->sums[side].of[DIFF_BYTES] = totals->bytes;
	diff->references[side] = totals->references;
	return true;
}

void diff_join_rows(struct diff *diff)
{
	size_t n = 0, i;
	int side, field;

	if (diff->n_rows > 0)
		qsort(diff->rows, diff->n_rows, sizeof(*diff->rows), by_key);
	for (i = 0; i < diff->n_rows; i++) {
		struct diff_row *row = &diff->rows[i], *before = n > 0 ? &diff->rows[n - 1] : NULL;

		if (before == NULL || by_key(before, row) != 0) {
			diff->rows[n++] = *row;
			continue;
		}
		for (side = 0; side < DIFF_SIDES; side++)
			for (field = 0; field < DIFF_FIELDS; field++)
				before->sides[side].of[field] += row->sides[side].of[field];
	}
	diff->n_rows = n;
}

uint32_t diff_find_row(const struct diff *diff, int side, uint32_t type)
{
	const struct diff_row key = make_row(diff, side, type),
			      *row = bsearch(&key, diff->rows, diff->n_rows, sizeof(key), by_key);

	return row != NULL ? (uint32_t)(row - diff->rows) : DIFF_NO_ROW;
}

bool diff_is_wanted(const struct diff *diff, const struct diff_row *row)
{
	return type_key_matches(&row->key, diff->arguments->assembly, diff->arguments->filter);
}

static bool is_changed(const struct diff_row *row)
{
	return memcmp(&row->sides[DIFF_BEFORE], &row->sides[DIFF_AFTER], sizeof(*row->sides)) != 0;
}

/* What grew most first, what shrank most last. */
static int by_growth(const struct diff_row *a, const struct diff_row *b, enum diff_field field)
{
	int64_t left = diff_row_change(a, field), right = diff_row_change(b, field);

	return (left < right) - (left > right);
}

static int by_bytes(const void *left, const void *right)
{
	const struct diff_row *a = *(const struct diff_row *const *)left,
			      *b = *(const struct diff_row *const *)right;
	int order = by_growth(a, b, DIFF_BYTES);

	if (order == 0)
		order = by_growth(a, b, DIFF_COUNT);
	return order != 0 ? order : by_key(a, b);
}

static int by_count(const void *left, const void *right)
{
	int order = by_growth(*(const struct diff_row *const *)left,
			      *(const struct diff_row *const *)right, DIFF_COUNT);

	return order != 0 ? order : by_bytes(left, right);
}

static int by_retained(const void *left, const void *right)
{
	int order = by_growth(*(const struct diff_row *const *)left,
			      *(const struct diff_row *const *)right, DIFF_RETAINED);

	return order != 0 ? order : by_bytes(left, right);
}

static int (*const orders[DIFF_FIELDS])(const void *, const void *) = {
	[DIFF_COUNT] = by_count,
	[DIFF_BYTES] = by_bytes,
	[DIFF_RETAINED] = by_retained,
};

size_t diff_choose_rows(struct diff *diff, size_t *n_matching)
{
	const char *sort = diff->arguments->sort;
	enum diff_field field = DIFF_BYTES;
	size_t n = 0, i;

	*n_matching = 0;
	diff->shown = calloc(diff->n_rows + 1, sizeof(*diff->shown));
	if (diff->shown == NULL)
		return SIZE_MAX;
	for (i = 0; i < diff->n_rows; i++) {
		if (!diff_is_wanted(diff, &diff->rows[i]))
			continue;
		++*n_matching;
		if (is_changed(&diff->rows[i]))
			diff->shown[n++] = &diff->rows[i];
	}
	while (sort != NULL && strcmp(sort, diff_field_names[field]) != 0)
		field = (field + 1) % DIFF_FIELDS;
	qsort(diff->shown, n, sizeof(*diff->shown), orders[field]);
	return n;
}
