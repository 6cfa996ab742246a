/* SPDX-License-Identifier: MIT */
/*
 * heapshot roots: what holds objects from outside of the heap, grouped by kind,
 * name and the type of the object.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/json.h"
#include "contrib/cli/recording.h"
#include "contrib/cli/text.h"

#define DEFAULT_LIMIT 50
/* Groups of roots that are kept, and what one takes. */
#define DEFAULT_GROUPS 200000
#define GROUP_BYTES    128

struct group {
	const char *kind, *name;
	const char *type; /* NULL: no object starts there */
	char unnamed[32];
	uint64_t count;
};

static const char *type_of(const struct group *group)
{
	return group->type == NULL || *group->type != '\0' ? group->type : group->unnamed;
}

static int by_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int by_name(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int order = strcmp(a->kind, b->kind);

	if (order == 0)
		order = strcmp(a->name, b->name);
	return order != 0 ? order : by_text(type_of(a), type_of(b));
}

/* Kinds in order, within one the largest groups first. */
static int by_count(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int order = strcmp(a->kind, b->kind);

	if (order == 0)
		order = a->count != b->count ? (a->count < b->count ? 1 : -1) : 0;
	return order != 0 ? order : by_name(left, right);
}

/* Keeps the groups whose object's type the filter lets through; returns how many. */
static size_t keep_wanted(struct group *groups, size_t n, const char *filter)
{
	size_t out = 0, i;

	for (i = 0; i < n; i++) {
		const char *type = type_of(&groups[i]);

		if (filter == NULL || (type != NULL && text_matches(type, filter)))
			groups[out++] = groups[i];
	}
	return out;
}

/* Roots counted by source and type of the object: open addressing. */
struct counts {
	struct count {
		uint32_t source, type;
		uint64_t count; /* 0: free */
	} * list;
	size_t n, room; /* room: a power of two */
};

static struct count *find_count(const struct counts *counts, uint32_t source, uint32_t type)
{
	uint64_t hash = ((uint64_t)source << 32 | type) * 0x9E3779B97F4A7C15ull;
	size_t i = (size_t)(hash >> 20);

	for (;; i++) {
		struct count *count = &counts->list[i & (counts->room - 1)];

		if (count->count == 0 || (count->source == source && count->type == type))
			return count;
	}
}

static bool grow_counts(struct counts *counts)
{
	struct counts old = *counts;
	size_t i;

	counts->room = old.room != 0 ? old.room * 2 : 256;
	counts->list = calloc(counts->room, sizeof(*counts->list));
	if (counts->list == NULL) {
		*counts = old;
		return false;
	}
	for (i = 0; i < old.room; i++)
		if (old.list[i].count != 0)
			*find_count(counts, old.list[i].source, old.list[i].type) = old.list[i];
	free(old.list);
	return true;
}

static bool count_roots(const struct heapshot_roots *roots, struct counts *counts,
			size_t max_groups)
{
	size_t i;

	for (i = 0; i < roots->n_roots; i++) {
		const struct heapshot_root *root = &roots->roots[i];
		struct count *count;

		if (counts->n >= max_groups ||
		    (counts->n * 2 >= counts->room && !grow_counts(counts)))
			return false;
		count = find_count(counts, root->source, root->type);
		counts->n += count->count == 0;
		count->source = root->source;
		count->type = root->type;
		count->count++;
	}
	return true;
}

/* Groups the roots; returns how many groups there are, SIZE_MAX without memory. */
static size_t make_groups(const struct recording *recording, const struct heapshot_roots *roots,
			  size_t max_groups, struct group **groups)
{
	struct counts counts = {0};
	size_t n = 0, out = 0, i;

	*groups = NULL;
	if (!count_roots(roots, &counts, max_groups) ||
	    (*groups = calloc(counts.n + 1, sizeof(**groups))) == NULL) {
		free(counts.list);
		return SIZE_MAX;
	}
	for (i = 0; i < counts.room; i++) {
		const struct count *count = &counts.list[i];
		const struct heapshot_root_source *source = &roots->sources[count->source];
		struct group *group = &(*groups)[n];

		if (count->count == 0)
			continue;
		group->kind = *source->kind_text ? source->kind_text
						 : heapshot_root_kind_name(source->kind);
		group->name = source->name;
		group->count = count->count;
		if (count->type != 0)
			group->type = recording_type_name(recording, count->type, group->unnamed);
		if (group->type == group->unnamed)
			group->type = ""; /* groups move; type_of finds it again */
		n++;
	}
	free(counts.list);
	qsort(*groups, n, sizeof(**groups), by_name);
	for (i = 0; i < n; i++) {
		if (out > 0 && by_name(&(*groups)[out - 1], &(*groups)[i]) == 0)
			(*groups)[out - 1].count += (*groups)[i].count;
		else
			(*groups)[out++] = (*groups)[i];
	}
	qsort(*groups, out, sizeof(**groups), by_count);
	return out;
}

static void put_json(const struct recording *recording, const struct group *groups, size_t n)
{
	struct json json = {0};
	size_t i;

	json_begin(&json, '{');
	json_put_unsigned(&json, "snapshot", recording->snapshot->id);
	json_key(&json, "roots");
	json_begin_rows(&json);
	for (i = 0; i < n; i++) {
		json_begin(&json, '{');
		json_put_text(&json, "kind", groups[i].kind);
		json_put_text(&json, "name", groups[i].name);
		json_put_text(&json, "type", type_of(&groups[i]));
		json_put_unsigned(&json, "count", groups[i].count);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static void put_row(struct text_table *table, const struct group *group, bool is_measure)
{
	char number[TEXT_NUMBER_BYTES];
	const char *cells[] = {
		text_number(number, group->count),
		group->kind,
		type_of(group) != NULL ? type_of(group) : "(no object)",
		*group->name ? group->name : "-",
	};

	if (is_measure)
		text_table_measure(table, cells);
	else
		text_table_print(table, cells, false);
}

static void put_table(const struct recording *recording, const struct heapshot_roots *roots,
		      const struct group *groups, size_t n, size_t n_all)
{
	static const char *const titles[] = {"COUNT", "KIND", "TYPE", "NAME"};
	struct text_table table = {.align = "rlll"};
	char number[TEXT_NUMBER_BYTES];
	size_t i;

	recording_print_title(recording);
	printf("%s roots\n", text_number(number, roots->n_roots));
	text_table_measure(&table, titles);
	for (i = 0; i < n; i++)
		put_row(&table, &groups[i], true);
	text_table_print(&table, titles, true);
	for (i = 0; i < n; i++)
		put_row(&table, &groups[i], false);
	if (n < n_all)
		printf("... and %s more rows (--limit 0 shows all)\n",
		       text_number(number, n_all - n));
}

int cli_roots(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct heapshot_roots roots;
	struct group *groups = NULL;
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);
	size_t n, n_all, limit;

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments, RECORDING_GRAPH);
	if (status != CLI_OK)
		return status;
	status = recording_check(&recording, heapshot_reader_load_names(recording.reader));
	if (status == CLI_OK)
		status = recording_check(
			&recording,
			heapshot_reader_roots(recording.reader, recording.snapshot, &roots));
	progress_stop();
	if (status == CLI_OK) {
		n = make_groups(&recording, &roots,
				arguments.memory_bytes != 0 ? arguments.memory_bytes / GROUP_BYTES
							    : DEFAULT_GROUPS,
				&groups);
		if (n == SIZE_MAX) {
			cli_message("%s: too many different roots; give more by --memory",
				    recording.path);
			return recording_close(&recording, CLI_IO);
		}
		n = n_all = keep_wanted(groups, n, arguments.filter);
		if (recording.snapshot->is_stats_only) {
			cli_message("%s: snapshot %" PRIu64 " has types and counts only, no roots",
				    recording.path, recording.snapshot->id);
		} else if (n == 0 && arguments.filter != NULL) {
			cli_message("%s: no root holds an object whose type matches --filter %s%s",
				    recording.path, arguments.filter,
				    text_case_hint(arguments.filter));
			free(groups);
			return recording_close(&recording, CLI_NOT_FOUND);
		}
		limit = cli_limit(&arguments, DEFAULT_LIMIT, SIZE_MAX);
		if (limit < n)
			n = limit;
		if (arguments.is_json)
			put_json(&recording, groups, n);
		else
			put_table(&recording, &roots, groups, n, n_all);
		free(groups);
	}
	return recording_close(&recording, status);
}
