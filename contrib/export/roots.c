/* SPDX-License-Identifier: MIT */
/*
 * Roots by source.
 */
#include <stdlib.h>

#include "contrib/export/roots.h"
#include "schema/heapshot.pb-c.h"

bool export_is_holding(const struct heapshot_graph *graph, const struct heapshot_graph_root *root)
{
	const struct heapshot_graph_source *source;
	struct heapshot_graph_object object;
	size_t n;

	source = &heapshot_graph_sources(graph, &n)[root->source];
	if (source->source.kind != HEAPSHOT__ROOT_KIND__ROOT_KIND_SAVED_REGISTERS)
		return source->is_holding;
	/* What a thread saved holds only what nothing else does. */
	heapshot_graph_object(graph, root->object, &object);
	return object.flags & HEAPSHOT_GRAPH_SAVED;
}

bool export_roots_by_source(const struct heapshot_graph *graph, uint32_t **list, uint64_t **first)
{
	const struct heapshot_graph_root *roots;
	size_t n, n_sources, i;

	roots = heapshot_graph_roots(graph, &n);
	heapshot_graph_sources(graph, &n_sources);
	*list = calloc(n + 1, sizeof(**list));
	*first = calloc(n_sources + 2, sizeof(**first));
	if (*list == NULL || *first == NULL) {
		free(*list);
		free(*first);
		*list = NULL;
		*first = NULL;
		return false;
	}
	for (i = 0; i < n; i++)
		(*first)[roots[i].source + 2]++;
	for (i = 2; i < n_sources + 2; i++)
		(*first)[i] += (*first)[i - 1];
	for (i = 0; i < n; i++)
		(*list)[(*first)[roots[i].source + 1]++] = (uint32_t)i;
	return true;
}
