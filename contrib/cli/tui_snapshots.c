/* SPDX-License-Identifier: MIT */
/*
 * The view of the recording's snapshots, each with its difference to the one before.
 */
#include <inttypes.h>

#include "contrib/cli/text.h"
#include "contrib/cli/tui.h"

int tui_make_snapshots(struct tui *tui)
{
	size_t n, i;
	const struct heapshot_snapshot *snapshots =
		heapshot_reader_snapshots(tui->recording.reader, &n);
	const struct heapshot_snapshot *before = NULL;
	struct tui_table *table = &tui->table;

	snprintf(table->title, sizeof(table->title), "Snapshots");
	table->numbers[0] = "+BYTES";
	table->numbers[1] = "+OBJECTS";
	table->numbers[2] = "BYTES";
	table->numbers[3] = "OBJECTS";
	table->n_numbers = 4;
	table->changes = 3;
	table->of = "SNAPSHOT";
	table->name = "TIME, TRIGGER, LABEL";
	for (i = 0; i < n; i++) {
		const struct heapshot_snapshot *snapshot = &snapshots[i];
		const bool is_shown = snapshot == tui->recording.snapshot;
		char number[32], text[1024];
		struct tui_row *row;

		snprintf(number, sizeof(number), "%s%" PRIu64, is_shown ? "*" : " ", snapshot->id);
		snprintf(text, sizeof(text), "+%.3f s  %s%s%s%s", (double)snapshot->time_ns / 1e9,
			 snapshot->trigger, *snapshot->label != '\0' ? "  " : "", snapshot->label,
			 !snapshot->is_complete    ? "  INCOMPLETE"
			 : snapshot->is_stats_only ? "  (counts only)"
						   : "");
		row = tui_add_named(table, number, text,
				    (struct tui_place){TUI_SWITCH, snapshot->id});
		if (row == NULL)
			return cli_no_memory();
		row->n_numbers = table->n_numbers;
		row->numbers[2] = snapshot->bytes;
		row->numbers[3] = snapshot->objects;
		if (before != NULL && snapshot->is_complete) {
			row->numbers[0] = snapshot->bytes - before->bytes;
			row->numbers[1] = snapshot->objects - before->objects;
		}
		if (snapshot->is_complete)
			before = snapshot;
		if (is_shown && tui_view(tui)->top == 0 && tui_view(tui)->selected == 0)
			tui_view(tui)->selected = i;
	}
	return CLI_OK;
}
