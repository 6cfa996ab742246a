/* SPDX-License-Identifier: MIT */
/*
 * The types of a snapshot's objects as people see them: those of one name and
 * assembly are one, however many domains loaded them.  As in heapshot top.
 */
#ifndef HEAPSHOT_EXPORT_TYPES_H
#define HEAPSHOT_EXPORT_TYPES_H

#include "contrib/export/names.h"
#include "contrib/reader/heapshot-graph.h"

struct export_type {
	uint32_t type;           /* id of one of them */
	uint32_t name;           /* in names */
	uint32_t assembly;       /* in names; "" when unknown */
	const char *file;        /* of the assembly, or "" */
	uint64_t hash;           /* tells names apart that were cut */
	uint64_t objects, bytes; /* all of them */
	uint64_t live_objects, live_bytes;
};

struct export_types {
	struct export_type *list;
	size_t n;
	uint32_t *of_class; /* class_index of the graph -> place in list */
};

/* Makes the list, by name; false without memory. */
bool export_types_make(struct export_types *types, const struct heapshot_reader *reader,
		       const struct heapshot_graph *graph, struct export_names *names);
void export_types_free(struct export_types *types);

#endif
