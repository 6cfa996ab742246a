/* SPDX-License-Identifier: MIT */
/*
 * The dominator tree with objects of one type under one holder together: what
 * flame graphs show.  First the kind of root, then its source, then types.
 */
#ifndef HEAPSHOT_EXPORT_FLAME_H
#define HEAPSHOT_EXPORT_FLAME_H

#include "contrib/export/export.h"
#include "contrib/export/names.h"

/* Deeper down everything counts for the last one above. */
#define FLAME_DEPTH_MAX 200

struct flame_node {
	uint32_t parent;         /* of the first one: itself */
	uint32_t name;           /* in names */
	uint32_t depth;          /* of the first one: 0 */
	uint64_t objects, bytes; /* its own, without those below */
};

struct flame {
	struct export_names names;
	struct flame_node *nodes; /* a parent stands before its children */
	size_t n, room;
	uint32_t *index; /* by parent and name; numbers from 1 */
	size_t index_room;
};

/* Makes the tree; false without memory. */
bool flame_make(struct flame *flame, struct export *export);
void flame_free(struct flame *flame);

/* The nodes on the way to NODE, from below the first one on; returns how many. */
size_t flame_path(const struct flame *flame, uint32_t node, uint32_t path[FLAME_DEPTH_MAX + 1]);

#endif
