/* SPDX-License-Identifier: MIT */
/*
 * The model: the snapshot that is open, the history of views, and what keys do.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/text.h"
#include "contrib/cli/tui.h"

/* ---- The snapshot ---- */

static void close_graph(struct tui *tui)
{
	tui_clear(&tui->table);
	graph_types_free(&tui->types);
	path_hashes_free(&tui->hashes);
	tui->hashes = (struct path_hashes){0};
	free(tui->path.targets.list);
	heapshot_graph_ways_free(tui->path.ways);
	tui->path = (struct path){0};
	heapshot_graph_free(tui->graph);
	tui->graph = NULL;
}

static int open_graph(struct tui *tui)
{
	struct heapshot_graph_counts counts;
	int status = graph_open(&tui->recording, tui->arguments, &tui->graph);

	if (status == CLI_OK)
		status = recording_check(&tui->recording, heapshot_graph_dominate(tui->graph));
	if (status == CLI_OK)
		status = graph_types_make(&tui->recording, tui->graph, true, &tui->types);
	if (status != CLI_OK)
		return status;
	heapshot_graph_counts(tui->graph, &counts);
	tui->live_objects = counts.live_objects;
	tui->live_bytes = counts.live_bytes;
	tui->path.recording = &tui->recording;
	tui->path.arguments = tui->arguments;
	tui->path.graph = tui->graph;
	tui->n_history = 0;
	return tui_go(tui, (struct tui_place){TUI_TYPES, 0});
}

int tui_begin(struct tui *tui)
{
	return open_graph(tui);
}

void tui_end(struct tui *tui)
{
	close_graph(tui);
}

int tui_want_ways(struct tui *tui)
{
	if (tui->path.ways != NULL)
		return CLI_OK;
	return recording_check(&tui->recording,
			       heapshot_graph_ways_new(tui->graph, NULL, &tui->path.ways));
}

static int switch_to(struct tui *tui, uint64_t id)
{
	const struct heapshot_snapshot *snapshot =
		heapshot_reader_snapshot(tui->recording.reader, id);
	struct tui_view types = {.place = {TUI_TYPES, 0}};
	int status;

	if (snapshot == NULL || snapshot == tui->recording.snapshot) {
		snprintf(tui->message, sizeof(tui->message), "snapshot %" PRIu64 " is shown", id);
		return CLI_OK;
	}
	if (snapshot->is_stats_only || !snapshot->is_complete) {
		snprintf(tui->message, sizeof(tui->message), "snapshot %" PRIu64 " %s", id,
			 snapshot->is_stats_only ? "has types and counts only, no graph"
						 : "is not complete");
		return CLI_OK;
	}
	/* The types are looked at in the same way. */
	if (tui->history[0].place.kind == TUI_TYPES)
		types = tui->history[0];
	close_graph(tui);
	tui->recording.snapshot = snapshot;
	status = open_graph(tui);
	if (status != CLI_OK)
		return status;
	types.selected = types.top = 0;
	*tui_view(tui) = types;
	return tui_refresh(tui);
}

int tui_step_snapshot(struct tui *tui, int step)
{
	size_t n;
	const struct heapshot_snapshot *snapshots =
		heapshot_reader_snapshots(tui->recording.reader, &n);
	size_t i = (size_t)(tui->recording.snapshot - snapshots);

	for (i += (size_t)step; i < n; i += (size_t)step)
		if (snapshots[i].is_complete && !snapshots[i].is_stats_only)
			return switch_to(tui, snapshots[i].id);
	snprintf(tui->message, sizeof(tui->message), "there is no %s snapshot with a graph",
		 step < 0 ? "earlier" : "later");
	return CLI_OK;
}

/* ---- Views ---- */

int tui_refresh(struct tui *tui)
{
	struct tui_view *view = tui_view(tui);
	const uint64_t number = view->place.number;
	int status = CLI_OK;

	tui_clear(&tui->table);
	switch (view->place.kind) {
	case TUI_TYPES:
		status = tui_make_types(tui);
		break;
	case TUI_OBJECTS:
		status = tui_make_objects(tui, (uint32_t)number);
		break;
	case TUI_OBJECT:
		status = tui_make_object(tui, (uint32_t)number);
		break;
	case TUI_PATHS:
		status = tui_make_paths(tui, (uint32_t)number);
		break;
	case TUI_PATH:
		status = tui_make_path(tui, (uint32_t)number);
		break;
	case TUI_KINDS:
		status = tui_make_kinds(tui);
		break;
	case TUI_SOURCES:
		status = tui_make_sources(tui, (uint32_t)number);
		break;
	case TUI_ROOTED:
		status = tui_make_rooted(tui, (uint32_t)number);
		break;
	case TUI_SNAPSHOTS:
		status = tui_make_snapshots(tui);
		break;
	case TUI_CHANGES:
		status = tui_make_changes(tui, number);
		break;
	case TUI_NOWHERE:
	case TUI_SWITCH:
		break;
	}
	if (status != CLI_OK)
		return status;
	tui_filter_rows(&tui->table, view->filter);
	if (tui->table.is_sortable)
		tui_sort_rows(&tui->table, view->sort);
	if (view->selected >= tui->table.n)
		view->selected = tui->table.n > 0 ? tui->table.n - 1 : 0;
	tui_move(tui, 0);
	return CLI_OK;
}

const struct tui_row *tui_selected(const struct tui *tui)
{
	const struct tui_view *view = &tui->history[tui->n_history - 1];

	return view->selected < tui->table.n ? &tui->table.rows[view->selected] : NULL;
}

int tui_go(struct tui *tui, struct tui_place place)
{
	if (place.kind == TUI_NOWHERE)
		return CLI_OK;
	if (place.kind == TUI_SWITCH)
		return switch_to(tui, place.number);
	if (tui->n_history > 0 && tui_view(tui)->place.kind == place.kind &&
	    tui_view(tui)->place.number == place.number)
		return CLI_OK;
	if (tui->n_history == TUI_HISTORY_MAX) {
		memmove(tui->history, tui->history + 1,
			(TUI_HISTORY_MAX - 1) * sizeof(*tui->history));
		tui->n_history--;
	}
	tui->history[tui->n_history++] = (struct tui_view){
		.place = place,
		/* What changed is in no order of what is retained. */
		.sort = place.kind == TUI_CHANGES ? TUI_BY_BYTES : TUI_BY_RETAINED,
	};
	return tui_refresh(tui);
}

int tui_follow(struct tui *tui)
{
	const struct tui_row *row = tui_selected(tui);

	if (row == NULL || row->to.kind == TUI_NOWHERE) {
		snprintf(tui->message, sizeof(tui->message), "this row leads nowhere");
		return CLI_OK;
	}
	return tui_go(tui, row->to);
}

int tui_back(struct tui *tui)
{
	if (tui->n_history < 2) {
		snprintf(tui->message, sizeof(tui->message), "this is the first view; q quits");
		return CLI_OK;
	}
	tui->n_history--;
	return tui_refresh(tui);
}

int tui_sort(struct tui *tui, enum tui_sort sort)
{
	if (!tui->table.is_sortable) {
		snprintf(tui->message, sizeof(tui->message), "this view has an order of its own");
		return CLI_OK;
	}
	tui_view(tui)->sort = sort;
	tui_view(tui)->selected = tui_view(tui)->top = 0;
	return tui_refresh(tui);
}

int tui_filter(struct tui *tui, const char *filter)
{
	struct tui_view *view = tui_view(tui);

	snprintf(view->filter, sizeof(view->filter), "%s", filter);
	view->selected = view->top = 0;
	return tui_refresh(tui);
}

void tui_move(struct tui *tui, long rows)
{
	struct tui_view *view = tui_view(tui);
	const struct tui_table *table = &tui->table;
	const long step = rows < 0 ? -1 : 1;
	long at = (long)view->selected + rows, k;

	if (table->n == 0)
		return;
	if (at < 0)
		at = 0;
	if (at > (long)table->n - 1)
		at = (long)table->n - 1;
	/* The next one that is no section, or else the one before. */
	for (k = at; k >= 0 && k < (long)table->n && table->rows[k].is_section;)
		k += step;
	if (k < 0 || k >= (long)table->n)
		for (k = at; k >= 0 && k < (long)table->n && table->rows[k].is_section;)
			k -= step;
	if (k >= 0 && k < (long)table->n)
		view->selected = (size_t)k;
	/* A section's name is seen with its first row. */
	if (rows < 0 && view->selected < view->top + 1 && view->selected > 0 &&
	    table->rows[view->selected - 1].is_section)
		view->top = view->selected - 1;
}

/* ---- What keys lead to ---- */

/* The object that is meant: the selected one, or the one that is shown; NONE. */
static uint32_t meant_object(struct tui *tui)
{
	const struct tui_row *row = tui_selected(tui);
	const struct tui_place place = tui_view(tui)->place;

	if (place.kind == TUI_OBJECT || place.kind == TUI_PATH)
		return (uint32_t)place.number;
	if (row != NULL && (row->to.kind == TUI_OBJECT || row->to.kind == TUI_PATH))
		return (uint32_t)row->to.number;
	return HEAPSHOT_GRAPH_NONE;
}

int tui_go_to_paths(struct tui *tui)
{
	const struct tui_row *row = tui_selected(tui);
	const struct tui_place place = tui_view(tui)->place;
	const uint32_t object = meant_object(tui);

	if (place.kind == TUI_OBJECTS)
		return tui_go(tui, (struct tui_place){TUI_PATHS, place.number});
	if (object != HEAPSHOT_GRAPH_NONE)
		return tui_go(tui, (struct tui_place){TUI_PATH, object});
	if (row != NULL && row->to.kind == TUI_OBJECTS)
		return tui_go(tui, (struct tui_place){TUI_PATHS, row->to.number});
	snprintf(tui->message, sizeof(tui->message), "paths lead to a type or an object");
	return CLI_OK;
}

int tui_go_to_dominator(struct tui *tui)
{
	const uint32_t object = meant_object(tui);
	uint32_t node;

	if (object == HEAPSHOT_GRAPH_NONE) {
		snprintf(tui->message, sizeof(tui->message), "an object has a dominator");
		return CLI_OK;
	}
	node = heapshot_graph_dominator(tui->graph, object);
	if (node == HEAPSHOT_GRAPH_NONE) {
		snprintf(tui->message, sizeof(tui->message), "no root leads to this object");
		return CLI_OK;
	}
	return tui_go(tui, tui_place_of(tui->graph, node));
}

int tui_go_to_changes(struct tui *tui)
{
	const struct tui_row *row = tui_selected(tui);
	uint64_t id = tui->recording.snapshot->id;

	if (row != NULL && row->to.kind == TUI_SWITCH)
		id = row->to.number;
	return tui_go(tui, (struct tui_place){TUI_CHANGES, id});
}
