/* SPDX-License-Identifier: MIT */
/*
 * What the files of the heapsnapshot format share.  Nodes are the root, the kinds
 * of roots, their sources, and the objects.  All children of the root are
 * synthetic, so that distances count from them and no size is moved from one node
 * to another.
 */
#ifndef HEAPSHOT_EXPORT_HEAPSNAPSHOT_H
#define HEAPSHOT_EXPORT_HEAPSNAPSHOT_H

#include "contrib/export/export.h"
#include "contrib/export/slots.h"
#include "contrib/export/types.h"

/* Numbers of a node and of an edge in the lists. */
#define NODE_FIELDS 7
#define EDGE_FIELDS 3

struct snapshot_writer {
	struct export *export;
	struct export_output *output;
	const struct heapshot_graph *graph;
	uint32_t n_objects;
	const struct heapshot_graph_kind *kinds;
	const struct heapshot_graph_source *sources;
	const struct heapshot_graph_class *classes;
	size_t n_kinds, n_sources;
	struct export_names names;
	struct export_types types;
	struct export_slots slots;
	bool by_address; /* ids are made of addresses */
	uint32_t *texts; /* of strings, see strings.h */
	uint32_t weak, value;
	uint64_t n_nodes, n_edges; /* that were written */
	enum export_result result;
};

/* Whether ids can be made of addresses: those of all objects differ in their low 31 bits. */
bool snapshot_fit_ids(const struct snapshot_writer *writer);
/* All nodes: names has the name of each type, by place in types. */
void snapshot_put_nodes(struct snapshot_writer *writer, const uint32_t *names);
/* The number of edges that snapshot_put_edges will put. */
uint64_t snapshot_count_edges(const struct snapshot_writer *writer);
/* All edges, those of a node together and in the order of nodes; false without memory. */
bool snapshot_put_edges(struct snapshot_writer *writer);

#endif
