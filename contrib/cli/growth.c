/* SPDX-License-Identifier: MIT */
/*
 * Types by growth since the first count.  Numbers of types are never used
 * twice in a recording, so what a type had is found by its number; types of one
 * name and assembly are one row.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/growth.h"

static int by_type(const void *left, const void *right)
{
	const struct growth_count *a = left, *b = right;

	return (a->type > b->type) - (a->type < b->type);
}

static int by_key(const void *left, const void *right)
{
	return type_key_compare(&((const struct growth_row *)left)->key,
				&((const struct growth_row *)right)->key);
}

static int by_growth(const void *left, const void *right)
{
	const struct growth_row *a = left, *b = right;

	if (a->bytes_change != b->bytes_change)
		return a->bytes_change < b->bytes_change ? 1 : -1;
	if (a->objects_change != b->objects_change)
		return a->objects_change < b->objects_change ? 1 : -1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return by_key(left, right);
}

/* The counts of TOTALS by type; NULL without memory. */
static struct growth_count *counts_of(const struct heapshot_totals *totals)
{
	struct growth_count *counts = calloc(totals->n_types + 1, sizeof(*counts));
	size_t i;

	for (i = 0; counts != NULL && i < totals->n_types; i++)
		counts[i] = (struct growth_count){
			.type = totals->types[i].type,
			.objects = totals->types[i].objects,
			.bytes = totals->types[i].bytes,
		};
	if (counts != NULL && totals->n_types > 0)
		qsort(counts, totals->n_types, sizeof(*counts), by_type);
	return counts;
}

static struct growth_row row_of(const struct recording *recording,
				const struct growth_count *before, const struct growth_count *now)
{
	struct growth_row row = {.key = type_key_of(recording, (now ? now : before)->type)};

	if (now != NULL) {
		row.objects = now->objects;
		row.bytes = now->bytes;
	}
	/* Below 2^63 both in any heap; of others the change wraps. */
	row.objects_change = (int64_t)(row.objects - (before ? before->objects : 0));
	row.bytes_change = (int64_t)(row.bytes - (before ? before->bytes : 0));
	return row;
}

/* One row a name. */
static void join(struct growth *growth)
{
	size_t n = 0, i;

	if (growth->n > 0)
		qsort(growth->rows, growth->n, sizeof(*growth->rows), by_key);
	for (i = 0; i < growth->n; i++) {
		const struct growth_row *row = &growth->rows[i];

		if (n > 0 && by_key(&growth->rows[n - 1], row) == 0) {
			growth->rows[n - 1].objects += row->objects;
			growth->rows[n - 1].bytes += row->bytes;
			growth->rows[n - 1].objects_change += row->objects_change;
			growth->rows[n - 1].bytes_change += row->bytes_change;
		} else {
			growth->rows[n++] = *row;
		}
	}
	growth->n = n;
}

bool growth_take(struct growth *growth, const struct recording *recording,
		 const struct heapshot_totals *totals)
{
	struct growth_count *counts = counts_of(totals);
	struct growth_row *rows;
	size_t i = 0, k = 0;

	if (counts == NULL)
		return false;
	if (growth->first == NULL) {
		growth->first = counts;
		growth->n_first = totals->n_types;
	}
	rows = calloc(growth->n_first + totals->n_types + 1, sizeof(*rows));
	if (rows == NULL) {
		if (counts != growth->first)
			free(counts);
		return false;
	}
	free(growth->rows);
	growth->rows = rows;
	growth->n = 0;
	while (i < growth->n_first || k < totals->n_types) {
		const struct growth_count *before = i < growth->n_first ? &growth->first[i] : NULL;
		const struct growth_count *now = k < totals->n_types ? &counts[k] : NULL;

		if (before != NULL && now != NULL && before->type != now->type) {
			if (before->type < now->type)
				now = NULL;
			else
				before = NULL;
		}
		i += before != NULL;
		k += now != NULL;
		rows[growth->n++] = row_of(recording, before, now);
	}
	if (counts != growth->first)
		free(counts);
	join(growth);
	if (growth->n > 0)
		qsort(growth->rows, growth->n, sizeof(*growth->rows), by_growth);
	return true;
}

void growth_free(struct growth *growth)
{
	free(growth->first);
	free(growth->rows);
	*growth = (struct growth){0};
}
