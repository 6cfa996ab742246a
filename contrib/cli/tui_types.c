/* SPDX-License-Identifier: MIT */
/*
 * Views of types: all of them, and what changed since the snapshot before.
 */
#include <inttypes.h>
#include <string.h>

#include "contrib/cli/growth.h"
#include "contrib/cli/text.h"
#include "contrib/cli/tui.h"

int tui_make_types(struct tui *tui)
{
	static const char *const sorts[] = {"retained size", "bytes", "count"};
	struct tui_table *table = &tui->table;
	char unnamed[32];
	size_t i;

	snprintf(table->title, sizeof(table->title), "Types, by %s", sorts[tui_view(tui)->sort]);
	table->numbers[0] = "RETAINED";
	table->numbers[1] = "BYTES";
	table->numbers[2] = "COUNT";
	table->n_numbers = 3;
	table->of = "ASSEMBLY";
	table->name = "TYPE";
	table->is_sortable = true;
	for (i = 0; i < tui->types.n; i++) {
		const struct graph_type *type = &tui->types.types[i];
		struct tui_row *row;

		if (type->live_objects == 0)
			continue;
		row = tui_add_named(table, type->key.assembly, type_key_name(&type->key, unnamed),
				    (struct tui_place){TUI_OBJECTS, i});
		if (row == NULL)
			return cli_no_memory();
		row->n_numbers = table->n_numbers;
		row->numbers[0] = type->retained;
		row->numbers[1] = type->live_bytes;
		row->numbers[2] = type->live_objects;
	}
	return CLI_OK;
}

/* ---- What changed ---- */

/* The complete snapshot before SNAPSHOT, of statistics too; NULL: it is the first. */
static const struct heapshot_snapshot *before(const struct recording *recording,
					      const struct heapshot_snapshot *snapshot)
{
	size_t n;
	const struct heapshot_snapshot *snapshots =
		heapshot_reader_snapshots(recording->reader, &n);
	size_t i;

	for (i = (size_t)(snapshot - snapshots); i > 0; i--)
		if (snapshots[i - 1].is_complete)
			return &snapshots[i - 1];
	return NULL;
}

static bool add_change(struct tui *tui, const struct growth_row *change, bool is_shown)
{
	const struct graph_type *type =
		is_shown ? graph_types_find(&tui->types, &change->key) : NULL;
	struct tui_place to = {0};
	struct tui_row *row;
	char unnamed[32];

	if (change->bytes_change == 0 && change->objects_change == 0)
		return true;
	if (type != NULL)
		to = (struct tui_place){TUI_OBJECTS, (uint64_t)(type - tui->types.types)};
	row = tui_add_named(&tui->table, change->key.assembly, type_key_name(&change->key, unnamed),
			    to);
	if (row == NULL)
		return false;
	row->n_numbers = tui->table.n_numbers;
	row->numbers[0] = (uint64_t)change->bytes_change;
	row->numbers[1] = (uint64_t)change->objects_change;
	row->numbers[2] = change->bytes;
	row->numbers[3] = change->objects;
	return true;
}

int tui_make_changes(struct tui *tui, uint64_t id)
{
	const struct heapshot_snapshot *snapshots[2] = {
		NULL, heapshot_reader_snapshot(tui->recording.reader, id)};
	struct tui_table *table = &tui->table;
	struct heapshot_totals totals;
	struct growth growth = {0};
	int status = CLI_OK;
	size_t i;

	snapshots[0] = before(&tui->recording, snapshots[1]);
	table->numbers[0] = "+BYTES";
	table->numbers[1] = "+COUNT";
	table->numbers[2] = "BYTES";
	table->numbers[3] = "COUNT";
	table->n_numbers = 4;
	table->changes = 3;
	table->of = "ASSEMBLY";
	table->name = "TYPE";
	table->is_sortable = true;
	if (snapshots[0] == NULL) {
		snprintf(table->title, sizeof(table->title),
			 "Snapshot %" PRIu64 " is the first: there is none to compare it with", id);
		return CLI_OK;
	}
	snprintf(table->title, sizeof(table->title),
		 "What changed from snapshot %" PRIu64 " to %" PRIu64 ", by %s", snapshots[0]->id,
		 id, tui_view(tui)->sort == TUI_BY_COUNT ? "count" : "bytes");
	for (i = 0; i < 2 && status == CLI_OK; i++) {
		status = recording_check(
			&tui->recording,
			heapshot_reader_totals(tui->recording.reader, snapshots[i], &totals));
		if (status == CLI_OK && !growth_take(&growth, &tui->recording, &totals))
			status = cli_no_memory();
	}
	for (i = 0; i < growth.n && status == CLI_OK; i++)
		if (!add_change(tui, &growth.rows[i], snapshots[1] == tui->recording.snapshot))
			status = cli_no_memory();
	growth_free(&growth);
	return status;
}
