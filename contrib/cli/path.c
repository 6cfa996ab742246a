/* SPDX-License-Identifier: MIT */
/*
 * heapshot path: what holds an object, or the instances of a type.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/path.h"
#include "contrib/cli/text.h"

/* Types of this very name, else those whose name contains or matches it. */
static int find_instances(struct path *path)
{
	struct heapshot_graph_counts counts;
	bool *is_wanted, is_exact = false;
	struct graph_types types;
	char unnamed[32];
	size_t i;
	int status = graph_types_make(path->recording, path->graph, false, &types);

	if (status != CLI_OK)
		return status;
	is_wanted = calloc(types.n + 1, sizeof(*is_wanted));
	if (is_wanted == NULL) {
		graph_types_free(&types);
		return cli_no_memory();
	}
	for (i = 0; i < types.n; i++) {
		is_wanted[i] =
			strcmp(type_key_name(&types.types[i].key, unnamed), path->wanted) == 0;
		is_exact |= is_wanted[i];
	}
	for (i = 0; !is_exact && i < types.n; i++)
		is_wanted[i] =
			text_matches(type_key_name(&types.types[i].key, unnamed), path->wanted);
	heapshot_graph_counts(path->graph, &counts);
	for (i = 0; i < counts.objects && status == CLI_OK; i++)
		if (is_wanted[types.of_class[heapshot_graph_class_of(path->graph, (uint32_t)i)]] &&
		    !graph_nodes_push(&path->targets, (uint32_t)i))
			status = cli_no_memory();
	free(is_wanted);
	graph_types_free(&types);
	return status;
}

/* 0x7f0000000010, or the same without 0x if it cannot be a name. */
static bool parse_address(const char *text, uint64_t *address)
{
	return isdigit((unsigned char)*text) && cli_parse_address(text, address);
}

static int find_targets(struct path *path)
{
	char hint[GRAPH_HINT_BYTES];
	uint64_t address;
	uint32_t object;
	int status = CLI_OK;

	if (parse_address(path->wanted, &address)) {
		object = heapshot_graph_find_around(path->graph, address);
		if (object != HEAPSHOT_GRAPH_NONE)
			return graph_nodes_push(&path->targets, object) ? CLI_OK : cli_no_memory();
		cli_message("%s: no object lies at %s%s", path->recording->path, path->wanted,
			    graph_decimal_hint(path->graph, address, hint));
		return CLI_NOT_FOUND;
	}
	status = find_instances(path);
	if (status == CLI_OK && path->targets.n == 0) {
		cli_message("%s: no object of type '%s'%s", path->recording->path, path->wanted,
			    text_case_hint(path->wanted));
		status = CLI_NOT_FOUND;
	}
	return status;
}

/* ---- --exclude ---- */

/* Sets what WORD, a kind of root or a shorter word for some, leaves out. */
static bool exclude(const char *word, size_t length, struct heapshot_graph_ways_options *options)
{
	static const struct {
		const char *word, *kind;
	} shorter[] = {{"finalizer", "finalizer_queue"}, {"weak", "ephemeron"}};
	char name[64];
	uint32_t kind;
	size_t i;

	if (length == 0 || length >= sizeof(name))
		return false;
	memcpy(name, word, length);
	name[length] = '\0';
	if (strcmp(name, "weak") == 0)
		options->without_ephemerons = true;
	for (i = 0; i < sizeof(shorter) / sizeof(*shorter); i++)
		if (strcmp(name, shorter[i].word) == 0)
			snprintf(name, sizeof(name), "%s", shorter[i].kind);
	for (kind = 0; kind < HEAPSHOT_ROOT_KINDS_MAX; kind++)
		if (strcmp(heapshot_root_kind_name(kind), name) == 0 &&
		    (kind == 0 || strcmp(name, heapshot_root_kind_name(0)) != 0)) {
			options->excluded_kinds |= (uint64_t)1 << kind;
			return true;
		}
	return false;
}

static int parse_exclude(const struct cli_command *command, const char *list,
			 struct heapshot_graph_ways_options *options)
{
	while (list != NULL && *list != '\0') {
		size_t length = strcspn(list, ",+");

		if (!exclude(list, length, options))
			return cli_usage(command,
					 "'%.*s' is not to be excluded: it is 'weak', 'finalizer', "
					 "'stack' or another kind of root, see 'heapshot roots'",
					 (int)length, list);
		list += length + (list[length] != '\0');
	}
	return CLI_OK;
}

/* ---- Paths ---- */

static bool add_step(struct path_steps *steps, const struct heapshot_graph_step *step)
{
	if (steps->n == steps->room) {
		size_t room = steps->room ? steps->room * 2 : 64;
		struct heapshot_graph_step *list = reallocarray(steps->list, room, sizeof(*list));

		if (list == NULL)
			return false;
		steps->list = list;
		steps->room = room;
	}
	steps->list[steps->n++] = *step;
	return true;
}

bool path_find(const struct path *path, uint32_t target, struct path_steps *steps)
{
	struct heapshot_graph_step step = {.node = target};
	size_t i;

	steps->n = 0;
	if (heapshot_graph_way_length(path->ways, target) == 0)
		return true;
	do {
		if (!add_step(steps, &step))
			return false;
		if (heapshot_graph_node(path->graph, step.node, NULL) == HEAPSHOT_NODE_SOURCE)
			break;
	} while (heapshot_graph_way_before(path->ways, step.node, &step));
	for (i = 0; i < steps->n / 2; i++) {
		step = steps->list[i];
		steps->list[i] = steps->list[steps->n - 1 - i];
		steps->list[steps->n - 1 - i] = step;
	}
	return true;
}

static void begin_json(const struct path *path, struct json *json)
{
	json_begin(json, '{');
	json_put_unsigned(json, "snapshot", path->recording->snapshot->id);
	json_put_text(json, "target", path->wanted);
	json_put_unsigned(json, "objects", path->targets.n);
	json_key(json, "paths");
	json_begin_rows(json);
}

/* --all: paths one by one, to each of the targets. */
static int show_all(struct path *path)
{
	bool is_json = path->arguments->is_json;
	uint64_t n, most = path->arguments->all != 0 ? path->arguments->all : UINT64_MAX;
	enum heapshot_read_result result;
	const struct heapshot_graph_step *steps;
	struct heapshot_graph_paths *paths;
	struct json json = {0};
	size_t n_steps;

	result = heapshot_graph_paths_new(path->graph, path->ways, path->targets.list,
					  path->targets.n, &paths);
	if (result != HEAPSHOT_READ_OK)
		return recording_check(path->recording, result);
	if (is_json)
		begin_json(path, &json);
	else
		recording_print_title(path->recording);
	for (n = 0; n < most; n++) {
		result = heapshot_graph_paths_next(paths, &steps, &n_steps);
		if (result != HEAPSHOT_READ_OK)
			break;
		if (is_json) {
			json_begin(&json, '{');
			json_put_unsigned(&json, "count", 1);
			json_put_unsigned(
				&json, "bytes",
				heapshot_graph_size(path->graph, steps[n_steps - 1].node));
			json_put_unsigned(&json, "longest", n_steps - 1);
			path_json(path, &json, steps, n_steps, false);
			json_end(&json, '}');
			continue;
		}
		path_put(path, steps, n_steps, false);
		putchar('\n');
	}
	heapshot_graph_paths_free(paths);
	if (is_json) {
		json_end(&json, ']');
		json_end(&json, '}');
		json_line(&json);
	}
	return recording_check(path->recording, result);
}

/* Whether there is any way to a target; says why when there is none. */
static int check_ways(const struct path *path)
{
	const struct cli_arguments *arguments = path->arguments;
	bool is_live = false;
	size_t i;

	for (i = 0; i < path->targets.n; i++) {
		if (heapshot_graph_way_length(path->ways, path->targets.list[i]) != 0)
			return CLI_OK;
		is_live |= heapshot_graph_is_live(path->graph, path->targets.list[i]);
	}
	if (is_live)
		cli_message("%s: nothing but %s holds %s", path->recording->path,
			    arguments->exclude != NULL ? arguments->exclude : "itself",
			    path->wanted);
	else
		cli_message("%s: no root reaches %s: it is garbage, or its roots are missing",
			    path->recording->path, path->wanted);
	return CLI_NOT_FOUND;
}

static int show(struct path *path, const struct heapshot_graph_ways_options *options)
{
	int status = find_targets(path);

	if (status == CLI_OK)
		status =
			recording_check(path->recording,
					heapshot_graph_ways_new(path->graph, options, &path->ways));
	if (status != CLI_OK)
		return status;
	progress_stop();
	status = check_ways(path);
	if (status != CLI_OK)
		return status;
	return path->arguments->has_all ? show_all(path) : path_show_merged(path);
}

int cli_path(const struct cli_command *command, int argc, char **argv)
{
	struct heapshot_graph_ways_options options = {.size = sizeof(options)};
	struct cli_arguments arguments;
	struct recording recording;
	struct path path = {.recording = &recording, .arguments = &arguments};
	int status = cli_parse(command, argc, argv, 2, 2, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = parse_exclude(command, arguments.exclude, &options);
	if (status != CLI_OK)
		return status;
	path.wanted = arguments.operands[1];
	status = recording_open(&recording, command, &arguments, RECORDING_GRAPH);
	if (status != CLI_OK)
		return status;
	status = graph_open(&recording, &arguments, &path.graph);
	if (status == CLI_OK)
		status = show(&path, &options);
	free(path.targets.list);
	heapshot_graph_ways_free(path.ways);
	heapshot_graph_free(path.graph);
	return recording_close(&recording, status);
}
