/* SPDX-License-Identifier: MIT */
/*
 * Roots as formats want them: by source, and told apart by whether they hold.
 */
#ifndef HEAPSHOT_EXPORT_ROOTS_H
#define HEAPSHOT_EXPORT_ROOTS_H

#include "contrib/reader/heapshot-graph.h"

/* Whether ROOT keeps its object alive: weak handles and the like do not. */
bool export_is_holding(const struct heapshot_graph *graph, const struct heapshot_graph_root *root);

/*
 * Numbers of roots by source: those of source I are [first[I], first[I + 1]) of
 * list.  Free both.  False without memory.
 */
bool export_roots_by_source(const struct heapshot_graph *graph, uint32_t **list, uint64_t **first);

#endif
