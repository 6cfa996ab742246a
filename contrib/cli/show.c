/* SPDX-License-Identifier: MIT */
/*
 * heapshot show: one object, what it refers to, what refers to it and holds it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/show.h"

#define DEFAULT_LIMIT 20

static bool find_object(struct show *show)
{
	char hint[GRAPH_HINT_BYTES];

	show->object = heapshot_graph_find(show->graph, show->asked);
	if (show->object == HEAPSHOT_GRAPH_NONE)
		show->object = heapshot_graph_find_around(show->graph, show->asked);
	if (show->object == HEAPSHOT_GRAPH_NONE) {
		cli_message("%s: no object at 0x%" PRIx64 " in snapshot %" PRIu64 "%s",
			    show->recording->path, show->asked, show->recording->snapshot->id,
			    graph_decimal_hint(show->graph, show->asked, hint));
		return false;
	}
	heapshot_graph_object(show->graph, show->object, &show->facts);
	return true;
}

/* The references to the object, with the slots that they stand in. */
static bool find_referrers(struct show *show)
{
	uint64_t n, i;
	const uint32_t *objects = heapshot_graph_referrers(show->graph, show->object, &n);
	size_t room = n < show->limit ? (size_t)n : show->limit;

	show->referrers = calloc(room + 1, sizeof(*show->referrers));
	if (show->referrers == NULL)
		return false;
	for (i = 0; i < n && show->n_referrers < room; i++) {
		struct heapshot_graph_walk walk;
		struct heapshot_graph_edge edge;

		/* One that refers several times is there as often. */
		if (i > 0 && objects[i] == objects[i - 1])
			continue;
		heapshot_graph_walk_begin(show->graph, objects[i], &walk);
		while (show->n_referrers < room && heapshot_graph_walk_next(&walk, &edge))
			if (edge.target == show->object && !edge.is_ephemeron)
				show->referrers[show->n_referrers++] =
					(struct show_referrer){objects[i], edge.offset};
	}
	return true;
}

static bool find_ephemerons(struct show *show)
{
	const uint32_t of_any =
		HEAPSHOT_GRAPH_KEY | HEAPSHOT_GRAPH_VALUE | HEAPSHOT_GRAPH_EPH_TABLE;
	size_t n, i, k;
	const struct heapshot_graph_ephemeron *edges = heapshot_graph_ephemerons(show->graph, &n);

	if ((show->facts.flags & of_any) == 0)
		return true;
	/* One object may be all three. */
	show->ephemerons =
		calloc((n < show->limit / 3 ? 3 * n : show->limit) + 1, sizeof(*show->ephemerons));
	if (show->ephemerons == NULL)
		return false;
	for (i = 0; i < n; i++) {
		const struct {
			const char *role;
			uint32_t object;
		} parts[] = {{"key", edges[i].key},
			     {"value", edges[i].value},
			     {"table", edges[i].table}};

		for (k = 0; k < sizeof(parts) / sizeof(*parts); k++) {
			if (parts[k].object != show->object)
				continue;
			if (show->n_all_ephemerons++ < show->limit)
				show->ephemerons[show->n_ephemerons++] =
					(struct show_ephemeron){parts[k].role, &edges[i]};
		}
	}
	return true;
}

static int find_way(struct show *show)
{
	int status;

	show->path = (struct path){
		.recording = show->recording,
		.arguments = show->arguments,
		.graph = show->graph,
	};
	status = recording_check(show->recording,
				 heapshot_graph_ways_new(show->graph, NULL, &show->path.ways));
	if (status == CLI_OK && !path_find(&show->path, show->object, &show->steps))
		status = cli_no_memory();
	heapshot_graph_ways_free(show->path.ways);
	return status;
}

static int look(struct show *show)
{
	int status;

	if (!find_object(show))
		return CLI_NOT_FOUND;
	status = object_read_details(show->recording, show->facts.address, &show->details);
	if (status == CLI_OK)
		status = recording_check(show->recording, heapshot_graph_dominate(show->graph));
	if (status == CLI_OK)
		status = find_way(show);
	if (status != CLI_OK)
		return status;
	show->slots = object_slots(show->recording, show->graph, show->object, show->limit,
				   &show->n_slots);
	show->roots = heapshot_graph_roots_of(show->graph, show->object, &show->n_roots);
	if (show->slots == NULL || !find_referrers(show) || !find_ephemerons(show))
		return cli_no_memory();
	return CLI_OK;
}

int cli_show(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct show show = {.arguments = &arguments, .recording = &recording};
	int status = cli_parse(command, argc, argv, 2, 2, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	if (!cli_parse_address(arguments.operands[1], &show.asked))
		return cli_usage(
			command,
			"'%s' is no address: it is in hexadecimal, such as 0x7f1c2a400010; "
			"'heapshot find' shows those of a type",
			arguments.operands[1]);
	status = recording_open(&recording, command, &arguments, RECORDING_GRAPH);
	if (status != CLI_OK)
		return status;
	show.limit = cli_limit(&arguments, DEFAULT_LIMIT, SIZE_MAX);
	if (show.limit > SIZE_MAX / 2)
		show.limit = SIZE_MAX / 2;
	status = graph_open(&recording, &arguments, &show.graph);
	if (status == CLI_OK)
		status = look(&show);
	progress_stop();
	if (status == CLI_OK && arguments.is_json)
		show_put_json(&show);
	else if (status == CLI_OK)
		show_put_tables(&show);
	free(show.slots);
	free(show.referrers);
	free(show.ephemerons);
	free(show.steps.list);
	free(show.details.text);
	heapshot_graph_free(show.graph);
	return recording_close(&recording, status);
}
