/* SPDX-License-Identifier: MIT */
/*
 * The shortest ways, as the files that make and use them see them.
 */
#ifndef HEAPSHOT_READER_GRAPH_WAYS_H
#define HEAPSHOT_READER_GRAPH_WAYS_H

#include "contrib/reader/graph.h"

struct hs_way {
	uint32_t before; /* NONE: no way */
	uint32_t words;  /* of the slot's offset, or one of these: */
	uint32_t length; /* 0: no way */
};
#define HS_WAY_EPHEMERON UINT32_MAX
#define HS_WAY_FAR       (UINT32_MAX - 1) /* too far for the column: look for it */

struct heapshot_graph_ways {
	struct heapshot_graph *graph;
	struct heapshot_graph_ways_options options;
	struct hs_way *ways;
};

bool hs_is_way_out(const struct heapshot_graph_ways *ways, uint32_t source);

#endif
