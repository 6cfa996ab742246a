/* SPDX-License-Identifier: MIT */
/*
 * Handle tables as people see them: handles that are alike put together, with the
 * managed objects that they go with, and what those retain.
 */
#ifndef HEAPSHOT_CLI_HANDLE_GROUPS_H
#define HEAPSHOT_CLI_HANDLE_GROUPS_H

#include "contrib/cli/graph.h"

/* Handles of one JavaScript type and name, and of objects of one managed type. */
struct handle_group {
	const struct heapshot_handle *first;
	const char *type; /* NULL: no such object in the snapshot */
	const char *assembly;
	uint64_t count;
	uint64_t objects; /* different ones */
	uint64_t bytes;   /* of the objects themselves */
	/* What goes with them: of those that no other of the group dominates; 0 without dominators. */
	uint64_t retained;
};

struct handle_table {
	const struct heapshot_handle_table *table;
	const char *title;
	uint64_t n_unknown;          /* known from the managed object alone */
	struct handle_group *groups; /* those that retain most first */
	size_t n_groups;
};

struct handle_tables {
	struct handle_table *tables;
	size_t n;
	char *names; /* of types without one */
};

/*
 * Reads the tables of the recording's snapshot and joins them with its GRAPH, whose
 * dominators are made.  IS_SINGLE: each handle is a group.  CLI_OK, or a status, said.
 */
int handle_tables_read(struct recording *recording, const struct heapshot_graph *graph,
		       bool is_single, struct handle_tables *tables);
void handle_tables_free(struct handle_tables *tables);

#endif
