/* SPDX-License-Identifier: MIT */
/*
 * heapshot path on many objects: shortest paths that read the same, but for the
 * indexes of arrays and for steps that come again and again, are one row.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/cli/path.h"
#include "contrib/cli/text.h"

#define DEFAULT_LIMIT 10

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
	return hash ^ hash >> 29;
}

/* What a slot is but for the index of an element. */
static uint64_t slot_key(const struct path *path, uint32_t type,
			 const struct heapshot_graph_step *step)
{
	uint64_t index, inner;

	if (step->is_ephemeron)
		return UINT64_MAX;
	if (heapshot_reader_element(path->recording->reader, type, step->offset, &index, &inner))
		return UINT64_MAX / 2 + inner;
	return step->offset;
}

void path_hashes_free(struct path_hashes *hashes)
{
	free(hashes->of_node);
	free(hashes->way.list);
	*hashes = (struct path_hashes){0};
}

static uint64_t step_hash(const struct path *path, const struct heapshot_graph_class *classes,
			  const struct heapshot_graph_step *step)
{
	uint32_t class_index = heapshot_graph_class_of(path->graph, step->node);

	return mix(mix(1, class_index), slot_key(path, classes[class_index].type, step));
}

/*
 * The hash of the way to NODE, from its source on; 0 without memory.  Those of nodes on
 * the way are kept, so that each is made once: 0 is "not made yet".
 */
static uint64_t hash_way(const struct path *path, const struct heapshot_graph_class *classes,
			 struct path_hashes *hashes, uint32_t node)
{
	struct heapshot_graph_step step, before;
	uint64_t hash;

	hashes->way.n = 0;
	while (hashes->of_node[node] == 0) {
		if (!graph_nodes_push(&hashes->way, node))
			return 0;
		if (!graph_is_object(path->graph, node) ||
		    !heapshot_graph_way_before(path->ways, node, &step))
			break;
		node = step.node;
	}
	while (hashes->way.n > 0) {
		node = hashes->way.list[--hashes->way.n];
		if (!graph_is_object(path->graph, node) ||
		    !heapshot_graph_way_before(path->ways, node, &step)) {
			hashes->of_node[node] = mix(2, node) | 1;
			continue;
		}
		hash = hashes->of_node[step.node];
		if (graph_is_object(path->graph, step.node)) {
			bool is_again = heapshot_graph_way_before(path->ways, step.node, &before) &&
					graph_is_object(path->graph, before.node) &&
					step_hash(path, classes, &before) ==
						step_hash(path, classes, &step);

			if (!is_again)
				hash = mix(hash, step_hash(path, classes, &step));
		}
		hashes->of_node[node] = hash | 1;
	}
	return hashes->of_node[node];
}

static bool grow(struct path_groups *groups)
{
	struct path_groups old = *groups;
	size_t i, at;

	groups->room = old.room ? old.room * 2 : 256;
	groups->list = calloc(groups->room, sizeof(*groups->list));
	if (groups->list == NULL) {
		*groups = old;
		return false;
	}
	for (i = 0; i < old.room; i++) {
		if (!old.list[i].is_used)
			continue;
		for (at = old.list[i].hash & (groups->room - 1); groups->list[at].is_used;
		     at = (at + 1) & (groups->room - 1))
			;
		groups->list[at] = old.list[i];
	}
	free(old.list);
	return true;
}

static bool count(struct path_groups *groups, const struct path *path, uint64_t hash,
		  uint32_t target)
{
	uint32_t length = heapshot_graph_way_length(path->ways, target);
	struct path_group *group;
	size_t at;

	if (groups->n * 4 >= groups->room * 3 && !grow(groups))
		return false;
	for (at = hash & (groups->room - 1);
	     groups->list[at].is_used && groups->list[at].hash != hash;
	     at = (at + 1) & (groups->room - 1))
		;
	group = &groups->list[at];
	if (!group->is_used) {
		*group = (struct path_group){.hash = hash, .target = target, .length = length};
		group->longest = length;
		group->is_used = true;
		groups->n++;
	}
	if (length < group->length) {
		group->length = length;
		group->target = target;
	}
	if (length > group->longest)
		group->longest = length;
	group->count++;
	group->bytes += heapshot_graph_size(path->graph, target);
	return true;
}

/* The class of the target belongs to the path too. */
static bool add_targets(const struct path *path, struct path_hashes *hashes,
			struct path_groups *groups)
{
	size_t n, i;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(path->graph, &n);
	bool is_done = true;

	for (i = 0; i < path->targets.n && is_done; i++) {
		uint32_t target = path->targets.list[i];
		uint64_t hash;

		if (heapshot_graph_way_length(path->ways, target) == 0)
			continue;
		groups->n_reached++;
		hash = hash_way(path, classes, hashes, target);
		is_done = hash != 0 &&
			  count(groups, path,
				mix(hash, heapshot_graph_class_of(path->graph, target)), target);
	}
	return is_done;
}

static int by_count(const void *left, const void *right)
{
	const struct path_group *a = left, *b = right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return (a->target > b->target) - (a->target < b->target);
}

bool path_groups_make(const struct path *path, struct path_hashes *hashes,
		      struct path_groups *groups)
{
	struct heapshot_graph_counts counts;
	size_t n = 0, i;

	*groups = (struct path_groups){0};
	heapshot_graph_counts(path->graph, &counts);
	if (hashes->of_node == NULL)
		hashes->of_node = calloc((size_t)counts.nodes + 1, sizeof(*hashes->of_node));
	if (hashes->of_node == NULL || !add_targets(path, hashes, groups))
		return false;
	for (i = 0; i < groups->room; i++)
		if (groups->list[i].is_used)
			groups->list[n++] = groups->list[i];
	if (n > 0)
		qsort(groups->list, n, sizeof(*groups->list), by_count);
	return true;
}

static void put_group(const struct path *path, const struct path_group *group,
		      const struct path_steps *steps, struct json *json)
{
	char numbers[2][TEXT_NUMBER_BYTES];

	if (json != NULL) {
		json_begin(json, '{');
		json_put_unsigned(json, "count", group->count);
		json_put_unsigned(json, "bytes", group->bytes);
		json_put_unsigned(json, "longest", steps->n - 1 + group->longest - group->length);
		path_json(path, json, steps->list, steps->n, group->count > 1);
		json_end(json, '}');
		return;
	}
	if (path->targets.n > 1)
		printf("%s object%s, %s bytes: ", text_number(numbers[0], group->count),
		       group->count == 1 ? "" : "s", text_number(numbers[1], group->bytes));
	path_put(path, steps->list, steps->n, group->count > 1);
	if (group->longest > group->length)
		printf(" (up to %s steps longer)",
		       text_number(numbers[0], group->longest - group->length));
	putchar('\n');
}

static void put_title(const struct path *path, uint64_t n_reached)
{
	char numbers[2][TEXT_NUMBER_BYTES];

	recording_print_title(path->recording);
	if (path->targets.n > 1)
		printf("%s objects of %s, %s of them reached\n",
		       text_number(numbers[0], path->targets.n), path->wanted,
		       text_number(numbers[1], n_reached));
}

static bool put_groups(const struct path *path, const struct path_groups *groups)
{
	const struct cli_arguments *arguments = path->arguments;
	size_t limit = cli_limit(arguments, DEFAULT_LIMIT, SIZE_MAX);
	char number[TEXT_NUMBER_BYTES];
	struct path_steps steps = {0};
	struct json json = {0};
	bool is_done = true;
	size_t i;

	if (limit > groups->n)
		limit = groups->n;
	if (arguments->is_json) {
		json_begin(&json, '{');
		json_put_unsigned(&json, "snapshot", path->recording->snapshot->id);
		json_put_text(&json, "target", path->wanted);
		json_put_unsigned(&json, "objects", path->targets.n);
		json_put_unsigned(&json, "reached", groups->n_reached);
		json_key(&json, "paths");
		json_begin_rows(&json);
	} else {
		put_title(path, groups->n_reached);
	}
	for (i = 0; i < limit && is_done; i++) {
		is_done = path_find(path, groups->list[i].target, &steps);
		if (is_done)
			put_group(path, &groups->list[i], &steps,
				  arguments->is_json ? &json : NULL);
	}
	if (arguments->is_json) {
		json_end(&json, ']');
		json_end(&json, '}');
		json_line(&json);
	} else if (limit < groups->n) {
		printf("... and %s more paths (--limit 0 shows all)\n",
		       text_number(number, groups->n - limit));
	}
	free(steps.list);
	return is_done;
}

int path_show_merged(struct path *path)
{
	struct path_hashes hashes = {0};
	struct path_groups groups;
	bool is_done = path_groups_make(path, &hashes, &groups) && put_groups(path, &groups);

	path_hashes_free(&hashes);
	free(groups.list);
	return is_done ? CLI_OK : cli_no_memory();
}
