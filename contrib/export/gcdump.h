/* SPDX-License-Identifier: MIT */
/*
 * What the files of the gcdump format share.  Nodes are the objects, by their
 * numbers in the graph, and behind them pseudo nodes for what holds objects.
 */
#ifndef HEAPSHOT_EXPORT_GCDUMP_H
#define HEAPSHOT_EXPORT_GCDUMP_H

#include "contrib/export/export.h"
#include "contrib/export/types.h"

/* Numbers in the file are signed and have 32 bits. */
#define GCDUMP_MAX ((uint64_t)INT32_MAX)

/* "[.NET Roots]", "[static vars]", "[static var T.Pub.Root]", ... */
struct gcdump_pseudo {
	uint32_t name;   /* in names */
	uint32_t type;   /* place of that name among the pseudo types */
	uint32_t parent; /* pseudo node; the first one is its own */
	uint32_t source; /* of the graph, whose objects are its children too; or NONE */
};

struct gcdump {
	struct export *export;
	const struct heapshot_graph *graph;
	uint32_t n_objects;
	struct export_names names;
	struct export_types types;
	struct gcdump_pseudo *pseudos;
	size_t n_pseudos, room_pseudos;
	uint32_t *children, *first_child; /* pseudo nodes by parent; first_child has one more */
	uint32_t *pseudo_names;           /* names of the types of pseudo nodes */
	size_t n_pseudo_names;
};

/* Makes the pseudo nodes; false without memory. */
bool gcdump_make_pseudos(struct gcdump *dump);

/* Where nodes are put, or, without OUTPUT, what they would take. */
struct gcdump_blob {
	struct export_output *output;
	uint64_t bytes;
};

/* Puts node NUMBER; false when it has more than the format can tell (EXPORT_REFUSED). */
bool gcdump_put_node(struct gcdump *dump, struct gcdump_blob *blob, uint64_t number);

#endif
