/* SPDX-License-Identifier: MIT */
/*
 * The view of what holds the objects of a type: their shortest paths, those that
 * read the same put together.
 */
#include <stdlib.h>

#include "contrib/cli/text.h"
#include "contrib/cli/tui.h"

/* Different paths that are shown: those that most objects share. */
#define PATHS_MAX 200

static int put_groups(struct tui *tui, const struct path_groups *groups)
{
	struct tui_table *table = &tui->table;
	struct path_steps steps = {0};
	char numbers[2][TEXT_NUMBER_BYTES];
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < groups->n && i < PATHS_MAX && status == CLI_OK; i++) {
		const struct path_group *group = &groups->list[i];
		struct tui_row *row = NULL;
		char *text = path_find(&tui->path, group->target, &steps)
				     ? path_text(&tui->path, steps.list, steps.n, group->count > 1)
				     : NULL;

		if (text != NULL)
			row = tui_add_named(table, NULL, text,
					    (struct tui_place){TUI_PATH, group->target});
		free(text);
		if (row == NULL) {
			status = cli_no_memory();
			break;
		}
		row->n_numbers = table->n_numbers;
		row->numbers[0] = group->count;
		row->numbers[1] = group->bytes;
	}
	if (groups->n > PATHS_MAX)
		snprintf(table->heads[0], sizeof(table->heads[0]),
			 "the %s of %s different paths that most objects share",
			 text_number(numbers[0], PATHS_MAX), text_number(numbers[1], groups->n));
	free(steps.list);
	return status;
}

int tui_make_paths(struct tui *tui, uint32_t type)
{
	struct tui_table *table = &tui->table;
	struct heapshot_graph_counts counts;
	struct path_groups groups = {0};
	char number[TEXT_NUMBER_BYTES], unnamed[32];
	int status = tui_want_ways(tui);
	uint32_t i;

	if (status != CLI_OK)
		return status;
	heapshot_graph_counts(tui->graph, &counts);
	tui->path.wanted = type_key_name(&tui->types.types[type].key, unnamed);
	tui->path.targets.n = 0;
	for (i = 0; i < counts.objects && status == CLI_OK; i++)
		if (tui->types.of_class[heapshot_graph_class_of(tui->graph, i)] == type &&
		    heapshot_graph_is_live(tui->graph, i) &&
		    !graph_nodes_push(&tui->path.targets, i))
			status = cli_no_memory();
	if (status == CLI_OK && !path_groups_make(&tui->path, &tui->hashes, &groups))
		status = cli_no_memory();
	snprintf(table->title, sizeof(table->title), "Paths to %s object%s of %.200s",
		 text_number(number, tui->path.targets.n), tui->path.targets.n == 1 ? "" : "s",
		 tui->path.wanted);
	table->numbers[0] = "OBJECTS";
	table->numbers[1] = "BYTES";
	table->n_numbers = 2;
	table->name = "PATH";
	if (status == CLI_OK)
		status = put_groups(tui, &groups);
	free(groups.list);
	tui->path.wanted = NULL;
	return status;
}
