/* SPDX-License-Identifier: MIT */
/*
 * What grows from snapshot to snapshot.  Types are counted in the complete
 * snapshots of the recording, or in some of them where there are many; what grew
 * by a few objects, or shrank as often as it grew, is not told.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/cli/leaks.h"

#define SERIES_MAX 12 /* snapshots that are read */
/* A type grows by this many objects, or bytes. */
#define COUNT_MIN 10
#define BYTES_MIN ((uint64_t)16 << 10)
/* Types that grew most, of which it is looked for what holds them: a pass over all objects each. */
#define HOLDERS_MAX 10

/* Types of one name and assembly, in each snapshot of the series. */
struct row {
	struct type_key key;
	uint64_t count[SERIES_MAX], bytes[SERIES_MAX];
};

struct leaks_growth {
	struct row *rows;
	size_t n, room;
	const struct heapshot_snapshot *series[SERIES_MAX];
	uint32_t n_series;
};

void leaks_growth_free(struct leaks_growth *growth)
{
	if (growth != NULL)
		free(growth->rows);
	free(growth);
}

/* The first, the last, and some between at even distances. */
static void choose_series(const struct leaks *leaks, struct leaks_growth *growth)
{
	const struct heapshot_snapshot *snapshots, *last = leaks->recording->snapshot;
	size_t n, n_complete = 0, seen = 0, i;

	snapshots = heapshot_reader_snapshots(leaks->recording->reader, &n);
	/* What comes behind it has no graph. */
	n = (size_t)(last - snapshots) + 1;
	for (i = 0; i < n; i++)
		n_complete += snapshots[i].is_complete;
	if (leaks->recording->selector != NULL || !last->is_complete || n_complete < 2)
		return;
	for (i = 0; i < n; i++) {
		size_t wanted = growth->n_series;

		if (!snapshots[i].is_complete)
			continue;
		if (n_complete > SERIES_MAX)
			wanted = growth->n_series * (n_complete - 1) / (SERIES_MAX - 1);
		if (seen++ >= wanted && growth->n_series < SERIES_MAX)
			growth->series[growth->n_series++] = &snapshots[i];
	}
}

static bool add(struct leaks_growth *growth, uint32_t at, const struct heapshot_type_total *total,
		struct type_key key)
{
	struct row *row;

	if (growth->n == growth->room) {
		size_t room = growth->room ? growth->room * 2 : 512;
		struct row *rows = reallocarray(growth->rows, room, sizeof(*rows));

		if (rows == NULL)
			return false;
		growth->rows = rows;
		growth->room = room;
	}
	row = &growth->rows[growth->n++];
	*row = (struct row){.key = key};
	row->count[at] = total->objects;
	row->bytes[at] = total->bytes;
	return true;
}

static int by_key(const void *left, const void *right)
{
	return type_key_compare(&((const struct row *)left)->key,
				&((const struct row *)right)->key);
}

/* Joins rows of one name, so that there are never more than two sets of them. */
static void join(struct leaks_growth *growth)
{
	size_t n = 0, i, k;

	if (growth->n > 0)
		qsort(growth->rows, growth->n, sizeof(*growth->rows), by_key);
	for (i = 0; i < growth->n; i++) {
		if (n == 0 || by_key(&growth->rows[n - 1], &growth->rows[i]) != 0) {
			growth->rows[n++] = growth->rows[i];
			continue;
		}
		for (k = 0; k < SERIES_MAX; k++) {
			growth->rows[n - 1].count[k] += growth->rows[i].count[k];
			growth->rows[n - 1].bytes[k] += growth->rows[i].bytes[k];
		}
	}
	growth->n = n;
}

int leaks_read_growth(struct leaks *leaks, struct leaks_growth **out)
{
	struct recording *recording = leaks->recording;
	struct leaks_growth *growth = calloc(1, sizeof(*growth));
	struct heapshot_totals totals;
	uint32_t at;
	size_t i;
	int status;

	*out = growth;
	if (growth == NULL)
		return cli_no_memory();
	choose_series(leaks, growth);
	if (growth->n_series < 2)
		return CLI_OK;
	leaks->first = growth->series[0];
	leaks->n_steps = growth->n_series - 1;
	status = recording_check(recording, heapshot_reader_load_names(recording->reader));
	for (at = 0; at < growth->n_series && status == CLI_OK; at++) {
		status = recording_check(
			recording,
			heapshot_reader_totals(recording->reader, growth->series[at], &totals));
		for (i = 0; status == CLI_OK && i < totals.n_types; i++)
			if (!add(growth, at, &totals.types[i],
				 type_key_of(recording, totals.types[i].type)))
				return cli_no_memory();
		join(growth);
	}
	return status;
}

/* "; most hang on static T.Pub.Cache, which retains ..." */
static void put_holder(const struct leaks *leaks, uint32_t holder, char *text, size_t size)
{
	char node[512], number[TEXT_NUMBER_BYTES], share[TEXT_SHARE_BYTES];
	uint64_t retained;

	if (holder == HEAPSHOT_GRAPH_NONE)
		return;
	graph_put_node(leaks->recording, leaks->graph, holder, node, sizeof(node));
	retained = heapshot_graph_retained(leaks->graph, holder);
	snprintf(text, size, "; most hang on %s, which retains %s bytes (%s)", node,
		 text_number(number, retained), text_share(share, retained, leaks->live_bytes));
}

/* A type that grew enough to be told, most and most steadily first. */
struct grown {
	const struct row *row;
	uint32_t n_grew;
	double score;
};

static int by_score(const void *left, const void *right)
{
	const struct grown *a = left, *b = right;

	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	return by_key(a->row, b->row);
}

static bool has_grown(const struct leaks_growth *growth, const struct row *row, struct grown *grown)
{
	uint32_t last = growth->n_series - 1, n_shrank = 0, i;

	*grown = (struct grown){.row = row};
	for (i = 0; i < last; i++) {
		grown->n_grew += row->bytes[i + 1] > row->bytes[i];
		n_shrank += row->bytes[i + 1] < row->bytes[i];
	}
	if (row->bytes[last] <= row->bytes[0] || grown->n_grew <= n_shrank ||
	    (row->count[last] < row->count[0] + COUNT_MIN &&
	     row->bytes[last] - row->bytes[0] < BYTES_MIN))
		return false;
	grown->score =
		(double)(row->bytes[last] - row->bytes[0]) * (grown->n_grew - n_shrank) / last;
	return true;
}

static int add_grown(struct leaks *leaks, const struct leaks_growth *growth,
		     const struct grown *grown, bool with_holder)
{
	const struct row *row = grown->row;
	uint32_t last = growth->n_series - 1;
	char numbers[4][TEXT_NUMBER_BYTES], steps[64] = "", where[640] = "";
	struct leak leak = {
		.kind = LEAK_GROWTH,
		.holder = HEAPSHOT_GRAPH_NONE,
		.target = HEAPSHOT_GRAPH_NONE,
		.type = row->key.name,
		.bytes = row->bytes[last] - row->bytes[0],
		.before = row->count[0],
		.after = row->count[last],
		.n_steps = last,
		.n_grew = grown->n_grew,
		.score = grown->score,
	};
	const struct graph_type *type = graph_types_find(&leaks->types, &row->key);

	leak.count = leak.after > leak.before ? leak.after - leak.before : 0;
	if (type_key_name(&row->key, leak.unnamed) == leak.unnamed)
		leak.type = NULL;
	if (with_holder && type != NULL &&
	    !leaks_find_holder(leaks, (uint32_t)(type - leaks->types.types), &leak))
		return cli_no_memory();
	if (last > 1)
		snprintf(steps, sizeof(steps), ", in %" PRIu32 " of %" PRIu32 " steps",
			 grown->n_grew, last);
	put_holder(leaks, leak.holder, where, sizeof(where));
	return leaks_add(leaks, &leak, "%s grew from %s to %s objects, by %s bytes%s%s",
			 leak_type(&leak), text_number(numbers[0], leak.before),
			 text_number(numbers[1], leak.after), text_number(numbers[2], leak.bytes),
			 steps, where);
}

int leaks_find_growth(struct leaks *leaks, const struct leaks_growth *growth)
{
	struct grown *grown = calloc(growth->n + 1, sizeof(*grown));
	int status = CLI_OK;
	size_t n = 0, i;

	if (grown == NULL)
		return cli_no_memory();
	for (i = 0; growth->n_series > 1 && i < growth->n; i++)
		n += has_grown(growth, &growth->rows[i], &grown[n]);
	if (n > 0)
		qsort(grown, n, sizeof(*grown), by_score);
	for (i = 0; i < n && status == CLI_OK; i++)
		status = add_grown(leaks, growth, &grown[i], i < HOLDERS_MAX);
	free(grown);
	return status;
}
