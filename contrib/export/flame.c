/* SPDX-License-Identifier: MIT */
/*
 * The merged dominator tree, made by one walk over the tree without a stack.
 */
#include <stdio.h>
#include <stdlib.h>

#include "contrib/export/flame.h"
#include "contrib/export/types.h"

static uint32_t *find(const struct flame *flame, uint32_t parent, uint32_t name)
{
	const uint64_t hash = ((uint64_t)parent << 32 | name) * 0x9E3779B97F4A7C15ull;
	size_t i = (size_t)(hash >> 24);

	for (;; i++) {
		uint32_t *entry = &flame->index[i & (flame->index_room - 1)];

		if (*entry == 0 || (flame->nodes[*entry - 1].parent == parent &&
				    flame->nodes[*entry - 1].name == name))
			return entry;
	}
}

static bool grow(struct flame *flame)
{
	if (flame->n == flame->room) {
		size_t room = flame->room != 0 ? flame->room * 2 : 256;
		void *nodes = reallocarray(flame->nodes, room, sizeof(*flame->nodes));

		if (nodes == NULL)
			return false;
		flame->nodes = nodes;
		flame->room = room;
	}
	if (flame->n * 2 >= flame->index_room) {
		size_t room = flame->index_room != 0 ? flame->index_room * 2 : 1024, i;
		uint32_t *index = calloc(room, sizeof(*index));

		if (index == NULL)
			return false;
		free(flame->index);
		flame->index = index;
		flame->index_room = room;
		for (i = 1; i < flame->n; i++)
			*find(flame, flame->nodes[i].parent, flame->nodes[i].name) =
				(uint32_t)i + 1;
	}
	return true;
}

/* The node of NAME below PARENT; UINT32_MAX without memory. */
static uint32_t below(struct flame *flame, uint32_t parent, uint32_t name)
{
	uint32_t *entry;

	if (name == EXPORT_NO_NAME)
		return UINT32_MAX;
	/* A list or tree of one type is one holder of itself. */
	if (flame->n > 0 && (flame->nodes[parent].depth >= FLAME_DEPTH_MAX ||
			     (parent != 0 && flame->nodes[parent].name == name)))
		return parent;
	if (flame->n >= UINT32_MAX - 1 || !grow(flame))
		return UINT32_MAX;
	entry = find(flame, parent, name);
	if (flame->n > 0 && *entry != 0)
		return *entry - 1;
	flame->nodes[flame->n] = (struct flame_node){
		.parent = parent,
		.name = name,
		.depth = flame->n > 0 ? flame->nodes[parent].depth + 1 : 0,
	};
	if (flame->n++ > 0) /* the first one is below nothing */
		*entry = (uint32_t)flame->n;
	return (uint32_t)flame->n - 1;
}

/* The number of the name of NODE of the graph. */
static uint32_t name_of(struct flame *flame, const struct heapshot_graph *graph,
			const struct export_types *types, uint32_t node)
{
	const struct heapshot_graph_source *source;
	char name[1024];
	uint32_t index;
	size_t n;

	switch (heapshot_graph_node(graph, node, &index)) {
	case HEAPSHOT_NODE_OBJECT:
		return types->list[types->of_class[heapshot_graph_class_of(graph, node)]].name;
	case HEAPSHOT_NODE_KIND:
		snprintf(name, sizeof(name), "(%.1000s)",
			 heapshot_graph_kinds(graph, &n)[index].name);
		return export_name(&flame->names, name);
	case HEAPSHOT_NODE_SOURCE:
		source = &heapshot_graph_sources(graph, &n)[index];
		snprintf(name, sizeof(name), "(%.200s %.800s)",
			 heapshot_graph_kinds(graph, &n)[source->kind].name, source->source.name);
		return export_name(&flame->names, name);
	default:
		return export_name(&flame->names, "(several roots)");
	}
}

/* Where in the tree of GRAPH the walk goes from NODE: down, else to the next, else up. */
static uint32_t next_node(const struct heapshot_graph *graph, uint32_t node, uint32_t root)
{
	uint32_t next = heapshot_graph_first_child(graph, node);

	while (next == HEAPSHOT_GRAPH_NONE && node != root) {
		next = heapshot_graph_next_child(graph, node);
		node = heapshot_graph_dominator(graph, node);
	}
	return next;
}

/* Merges NODE below its dominator, whose place is known. */
static bool merge(struct flame *flame, const struct heapshot_graph *graph,
		  const struct export_types *types, uint32_t *places, uint32_t node, uint32_t root)
{
	const uint32_t dominator = heapshot_graph_dominator(graph, node);
	uint32_t parent = places[dominator];

	if (dominator == root && heapshot_graph_node(graph, node, NULL) == HEAPSHOT_NODE_OBJECT)
		parent = below(flame, 0, name_of(flame, graph, types, root));
	places[node] = parent != UINT32_MAX
			       ? below(flame, parent, name_of(flame, graph, types, node))
			       : UINT32_MAX;
	if (places[node] == UINT32_MAX)
		return false;
	if (heapshot_graph_node(graph, node, NULL) == HEAPSHOT_NODE_OBJECT) {
		flame->nodes[places[node]].objects++;
		flame->nodes[places[node]].bytes += heapshot_graph_size(graph, node);
	}
	return true;
}

bool flame_make(struct flame *flame, struct export *export)
{
	const struct heapshot_graph *graph = export->graph;
	const uint32_t root = heapshot_graph_root_node(graph);
	struct heapshot_graph_counts counts;
	struct export_types types;
	uint32_t *places, node;
	bool is_good;

	*flame = (struct flame){0};
	heapshot_graph_counts(graph, &counts);
	export->all = counts.live_objects;
	places = calloc((size_t)counts.nodes, sizeof(*places));
	is_good = export_types_make(&types, export->reader, graph, &flame->names);
	if (!is_good || places == NULL) {
		free(places);
		export_types_free(&types);
		return false;
	}
	places[root] = below(flame, 0, export_name(&flame->names, "heap"));
	is_good = places[root] == 0;
	for (node = next_node(graph, root, root); is_good && node != HEAPSHOT_GRAPH_NONE;
	     node = next_node(graph, node, root)) {
		is_good = merge(flame, graph, &types, places, node, root);
		export_advance(export, 1);
	}
	free(places);
	export_types_free(&types);
	return is_good;
}

void flame_free(struct flame *flame)
{
	export_names_free(&flame->names);
	free(flame->nodes);
	free(flame->index);
	*flame = (struct flame){0};
}

size_t flame_path(const struct flame *flame, uint32_t node, uint32_t path[FLAME_DEPTH_MAX + 1])
{
	const size_t n = flame->nodes[node].depth;
	size_t i;

	for (i = n; i > 0; i--) {
		path[i - 1] = node;
		node = flame->nodes[node].parent;
	}
	return n;
}
