/* SPDX-License-Identifier: MIT */
/*
 * Types by growth since the first refresh.  Numbers of types are never used
 * twice in a recording, so what a type had is found by its number; types of one
 * name and assembly are one row.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/watch.h"

static int by_type(const void *left, const void *right)
{
	const struct watch_count *a = left, *b = right;

	return (a->type > b->type) - (a->type < b->type);
}

static int by_key(const void *left, const void *right)
{
	return type_key_compare(&((const struct watch_row *)left)->key,
				&((const struct watch_row *)right)->key);
}

static int by_growth(const void *left, const void *right)
{
	const struct watch_row *a = left, *b = right;

	if (a->bytes_change != b->bytes_change)
		return a->bytes_change < b->bytes_change ? 1 : -1;
	if (a->objects_change != b->objects_change)
		return a->objects_change < b->objects_change ? 1 : -1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return by_key(left, right);
}

/* The counts of TOTALS by type; NULL without memory. */
static struct watch_count *counts_of(const struct heapshot_totals *totals)
{
	struct watch_count *counts = calloc(totals->n_types + 1, sizeof(*counts));
	size_t i;

	for (i = 0; counts != NULL && i < totals->n_types; i++)
		counts[i] = (struct watch_count){
			.type = totals->types[i].type,
			.objects = totals->types[i].objects,
			.bytes = totals->types[i].bytes,
		};
	if (counts != NULL && totals->n_types > 0)
		qsort(counts, totals->n_types, sizeof(*counts), by_type);
	return counts;
}

static struct watch_row row_of(const struct recording *recording, const struct watch_count *before,
			       const struct watch_count *now)
{
	struct watch_row row = {.key = type_key_of(recording, (now ? now : before)->type)};

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
static void join(struct watch_types *types)
{
	size_t n = 0, i;

	if (types->n > 0)
		qsort(types->rows, types->n, sizeof(*types->rows), by_key);
	for (i = 0; i < types->n; i++) {
		const struct watch_row *row = &types->rows[i];

		if (n > 0 && by_key(&types->rows[n - 1], row) == 0) {
			types->rows[n - 1].objects += row->objects;
			types->rows[n - 1].bytes += row->bytes;
			types->rows[n - 1].objects_change += row->objects_change;
			types->rows[n - 1].bytes_change += row->bytes_change;
		} else {
			types->rows[n++] = *row;
		}
	}
	types->n = n;
}

bool watch_types_take(struct watch_types *types, const struct recording *recording,
		      const struct heapshot_totals *totals)
{
	struct watch_count *counts = counts_of(totals);
	struct watch_row *rows;
	size_t i = 0, k = 0;

	if (counts == NULL)
		return false;
	if (types->first == NULL) {
		types->first = counts;
		types->n_first = totals->n_types;
	}
	rows = calloc(types->n_first + totals->n_types + 1, sizeof(*rows));
	if (rows == NULL) {
		if (counts != types->first)
			free(counts);
		return false;
	}
	free(types->rows);
	types->rows = rows;
	types->n = 0;
	while (i < types->n_first || k < totals->n_types) {
		const struct watch_count *before = i < types->n_first ? &types->first[i] : NULL;
		const struct watch_count *now = k < totals->n_types ? &counts[k] : NULL;

		if (before != NULL && now != NULL && before->type != now->type) {
			if (before->type < now->type)
				now = NULL;
			else
				before = NULL;
		}
		i += before != NULL;
		k += now != NULL;
		rows[types->n++] = row_of(recording, before, now);
	}
	if (counts != types->first)
		free(counts);
	join(types);
	if (types->n > 0)
		qsort(types->rows, types->n, sizeof(*types->rows), by_growth);
	return true;
}

void watch_types_free(struct watch_types *types)
{
	free(types->first);
	free(types->rows);
	*types = (struct watch_types){0};
}
