/* SPDX-License-Identifier: MIT */
/*
 * Merged shortest paths to the objects of the largest types.
 */
#include <stdlib.h>

#include "contrib/cli/report.h"

/* Types that are largest by each measure, and paths of each type. */
#define TYPES_OF_LAST  40
#define TYPES_OF_OTHER 15
#define PATHS_OF_TYPE  8

struct paths {
	struct report *report;
	struct report_snapshot *snapshot;
	struct path *path;
	const struct graph_types *types;
	size_t most;      /* paths of a type */
	uint32_t *chosen; /* types, by number */
	size_t n_chosen;
	uint64_t *first; /* by number of type: place of its objects in list; counts before that */
	uint32_t *list;
	struct path_hashes hashes;
};

/* ---- Which types ---- */

struct measured {
	uint64_t value;
	uint32_t type;
};

static int by_value(const void *left, const void *right)
{
	const struct measured *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return (a->type > b->type) - (a->type < b->type);
}

static uint64_t measure(const struct graph_type *type, unsigned by)
{
	return by == 0 ? type->retained : by == 1 ? type->live_bytes : type->live_objects;
}

static bool choose(struct paths *paths, const bool *wanted)
{
	size_t n = paths->types->n, most = wanted != NULL ? TYPES_OF_LAST : TYPES_OF_OTHER, i;
	struct measured *list = calloc(n + 1, sizeof(*list));
	bool *is_chosen = calloc(n + 1, sizeof(*is_chosen));
	unsigned by;

	paths->chosen = calloc(n + 1, sizeof(*paths->chosen));
	if (list == NULL || is_chosen == NULL || paths->chosen == NULL) {
		free(list);
		free(is_chosen);
		return false;
	}
	for (i = 0; i < n && wanted != NULL; i++)
		is_chosen[i] = wanted[i];
	for (by = 0; by < 3; by++) {
		for (i = 0; i < n; i++)
			list[i] = (struct measured){measure(&paths->types->types[i], by),
						    (uint32_t)i};
		qsort(list, n, sizeof(*list), by_value);
		for (i = 0; i < n && i < most && list[i].value > 0; i++)
			is_chosen[list[i].type] = true;
	}
	for (i = 0; i < n; i++)
		list[i] = (struct measured){measure(&paths->types->types[i], 0), (uint32_t)i};
	qsort(list, n, sizeof(*list), by_value);
	for (i = 0; i < n; i++)
		if (is_chosen[list[i].type] && paths->types->types[list[i].type].live_objects > 0)
			paths->chosen[paths->n_chosen++] = list[i].type;
	free(list);
	free(is_chosen);
	return true;
}

/* Lists the objects of each chosen type, in one pass over all objects. */
static bool list_objects(struct paths *paths)
{
	const struct heapshot_graph *graph = paths->path->graph;
	const size_t n = paths->types->n;
	struct heapshot_graph_counts counts;
	uint64_t *next = calloc(n + 1, sizeof(*next)), all = 0;
	bool *is_chosen = calloc(n + 1, sizeof(*is_chosen));
	size_t n_classes, i;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(graph, &n_classes);
	uint32_t object, type;

	heapshot_graph_counts(graph, &counts);
	paths->first = calloc(n + 2, sizeof(*paths->first));
	if (next == NULL || is_chosen == NULL || paths->first == NULL) {
		free(next);
		free(is_chosen);
		return false;
	}
	for (i = 0; i < paths->n_chosen; i++)
		is_chosen[paths->chosen[i]] = true;
	for (i = 0; i < n_classes; i++)
		if (is_chosen[paths->types->of_class[i]])
			next[paths->types->of_class[i]] += classes[i].objects;
	for (i = 0; i < n; i++) {
		paths->first[i] = all;
		all += next[i];
		next[i] = paths->first[i];
	}
	paths->first[n] = all;
	paths->list = calloc((size_t)all + 1, sizeof(*paths->list));
	for (object = 0; paths->list != NULL && object < counts.objects; object++) {
		type = paths->types->of_class[heapshot_graph_class_of(graph, object)];
		if (is_chosen[type] && next[type] < paths->first[type + 1])
			paths->list[next[type]++] = object;
	}
	free(next);
	free(is_chosen);
	return paths->list != NULL;
}

/* ---- The paths of a type ---- */

static bool add_part(void *user_data, const struct path_part *part)
{
	struct paths *paths = user_data;
	struct report_snapshot *snapshot = paths->snapshot;
	struct report_part *to;

	if (snapshot->n_parts == snapshot->room_parts) {
		size_t room = snapshot->room_parts != 0 ? snapshot->room_parts * 2 : 1024;
		struct report_part *parts = reallocarray(snapshot->parts, room, sizeof(*parts));

		if (parts == NULL)
			return false;
		snapshot->parts = parts;
		snapshot->room_parts = room;
	}
	to = &snapshot->parts[snapshot->n_parts++];
	*to = (struct report_part){
		.type = UINT32_MAX,
		.slot = UINT32_MAX,
		.times = part->times,
		.n_left_out = part->n_left_out,
	};
	if (part->times == 0)
		return true;
	to->type = report_name(paths->report, part->type);
	if (*part->slot != '\0')
		to->slot = report_name(paths->report, part->slot);
	return to->type != UINT32_MAX && (*part->slot == '\0' || to->slot != UINT32_MAX);
}

static bool add_path(struct paths *paths, const struct path_group *group,
		     const struct path_steps *steps)
{
	struct report_snapshot *snapshot = paths->snapshot;
	struct report_path *to = &snapshot->path_list[snapshot->n_path_list++];
	size_t n;
	const struct heapshot_graph_source *sources =
		heapshot_graph_sources(paths->path->graph, &n);
	const struct heapshot_graph_kind *kinds = heapshot_graph_kinds(paths->path->graph, &n);
	uint32_t index;

	*to = (struct report_path){
		.count = group->count,
		.bytes = group->bytes,
		.longest = group->longest - group->length,
		.first_part = snapshot->n_parts,
		.root = UINT32_MAX,
		.root_kind = UINT32_MAX,
	};
	if (steps->n > 0 && heapshot_graph_node(paths->path->graph, steps->list[0].node, &index) ==
				    HEAPSHOT_NODE_SOURCE) {
		to->root = report_name(paths->report, graph_source_name(&sources[index]));
		to->root_kind = report_name(paths->report, kinds[sources[index].kind].name);
		if (to->root == UINT32_MAX || to->root_kind == UINT32_MAX)
			return false;
	}
	if (!path_parts(paths->path, steps->list, steps->n, group->count > 1, add_part, paths))
		return false;
	to->n_parts = snapshot->n_parts - to->first_part;
	return true;
}

static bool add_type(struct paths *paths, uint32_t type)
{
	struct report_snapshot *snapshot = paths->snapshot;
	struct report_paths *to = &snapshot->paths[snapshot->n_paths++];
	struct path_groups groups;
	struct path_steps steps = {0};
	bool is_done;
	size_t i;

	paths->path->targets.list = paths->list + paths->first[type];
	paths->path->targets.n = (size_t)(paths->first[type + 1] - paths->first[type]);
	is_done = path_groups_make(paths->path, &paths->hashes, &groups);
	*to = (struct report_paths){
		.type = report_type(paths->report, snapshot->recording,
				    &paths->types->types[type].key),
		.objects = paths->path->targets.n,
		.n_reached = groups.n_reached,
		.n_all = groups.n,
		.first_path = snapshot->n_path_list,
	};
	is_done &= to->type != UINT32_MAX;
	for (i = 0; is_done && i < groups.n && i < paths->most; i++)
		is_done = path_find(paths->path, groups.list[i].target, &steps) &&
			  add_path(paths, &groups.list[i], &steps);
	to->n_paths = snapshot->n_path_list - to->first_path;
	paths->path->targets = (struct graph_nodes){0};
	free(groups.list);
	free(steps.list);
	return is_done;
}

/* The paths of the types that were chosen. */
static int add_chosen(struct paths *paths, bool is_done)
{
	struct report_snapshot *snapshot = paths->snapshot;
	size_t i;

	is_done = is_done && list_objects(paths);
	snapshot->paths = calloc(paths->n_chosen + 1, sizeof(*snapshot->paths));
	snapshot->path_list =
		calloc(paths->n_chosen * paths->most + 1, sizeof(*snapshot->path_list));
	is_done &= snapshot->paths != NULL && snapshot->path_list != NULL;
	for (i = 0; is_done && i < paths->n_chosen; i++)
		is_done = add_type(paths, paths->chosen[i]);
	free(paths->chosen);
	free(paths->first);
	free(paths->list);
	path_hashes_free(&paths->hashes);
	return is_done ? CLI_OK : cli_no_memory();
}

int report_read_paths(struct report *report, struct report_snapshot *snapshot, struct path *path,
		      const struct graph_types *types, const bool *wanted)
{
	struct paths paths = {
		.report = report,
		.snapshot = snapshot,
		.path = path,
		.types = types,
		.most = PATHS_OF_TYPE,
	};

	return add_chosen(&paths, choose(&paths, wanted));
}

int report_read_paths_to(struct report *report, struct report_snapshot *to, struct path *path,
			 const struct graph_types *types, uint32_t type, size_t most)
{
	struct paths paths = {
		.report = report,
		.snapshot = to,
		.path = path,
		.types = types,
		.most = most,
		.chosen = calloc(1, sizeof(*paths.chosen)),
		.n_chosen = 1,
	};

	if (paths.chosen != NULL)
		paths.chosen[0] = type;
	return add_chosen(&paths, paths.chosen != NULL);
}
