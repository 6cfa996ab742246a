/* SPDX-License-Identifier: MIT */
/*
 * What holds objects, as the pseudo nodes that viewers of gcdumps know: PerfView
 * prefers ways by these names.  Kinds of .NET's keep their names, all others go
 * under "[other roots]" by the name of the kind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/export/gcdump.h"
#include "schema/heapshot.pb-c.h"

#define NAME_BYTES 1024

/* Adds a pseudo node; its number, or NONE without memory. */
static uint32_t add(struct gcdump *dump, const char *name, uint32_t parent, uint32_t source)
{
	struct gcdump_pseudo *node;

	if (dump->n_pseudos == dump->room_pseudos) {
		size_t room = dump->room_pseudos != 0 ? dump->room_pseudos * 2 : 64;
		void *grown = reallocarray(dump->pseudos, room, sizeof(*dump->pseudos));

		if (grown == NULL)
			return HEAPSHOT_GRAPH_NONE;
		dump->pseudos = grown;
		dump->room_pseudos = room;
	}
	node = &dump->pseudos[dump->n_pseudos];
	*node = (struct gcdump_pseudo){
		.name = export_name(&dump->names, name),
		.parent = parent,
		.source = source,
	};
	return node->name != EXPORT_NO_NAME ? (uint32_t)dump->n_pseudos++ : HEAPSHOT_GRAPH_NONE;
}

/* The node of that name below PARENT, added when it is new. */
static uint32_t get(struct gcdump *dump, const char *name, uint32_t parent)
{
	uint32_t i;

	/* Kinds are few, and sources do not come in between. */
	for (i = 0; i < dump->n_pseudos; i++)
		if (dump->pseudos[i].parent == parent &&
		    strcmp(dump->names.texts[dump->pseudos[i].name], name) == 0)
			return i;
	return add(dump, name, parent, HEAPSHOT_GRAPH_NONE);
}

/* The node for the kind of SOURCE. */
static uint32_t get_kind(struct gcdump *dump, const struct heapshot_graph_source *source,
			 const char *kind)
{
	const char *handle = source->source.handle_type;
	char name[NAME_BYTES];
	uint32_t other;

	switch (source->source.kind) {
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_STATIC:
		return get(dump, "[static vars]", 0);
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_THREAD_STATIC:
		return get(dump, "[thread static vars]", 0);
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_STACK:
		return get(dump, "[local vars]", 0);
	default:
		break;
	}
	other = get(dump, "[other roots]", 0);
	if (other == HEAPSHOT_GRAPH_NONE)
		return other;
	switch (source->source.kind) {
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_GC_HANDLE:
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_HANDLE:
		return get(dump,
			   strcmp(handle, "normal") == 0   ? "[strong Handles]"
			   : strcmp(handle, "pinned") == 0 ? "[pinning Handles]"
							   : "[other Handles]",
			   other);
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_FINALIZER_QUEUE:
		return get(dump, "[finalizer Handles]", other);
	default:
		snprintf(name, sizeof(name), "[%.1000s]", kind);
		return get(dump, name, other);
	}
}

static void name_source(const struct heapshot_graph_source *source, const char *group,
			const char *kind, char name[NAME_BYTES])
{
	const char *own = source->source.name;

	if (*own == '\0')
		snprintf(name, NAME_BYTES, "%s", group);
	else if (source->source.kind == HEAPSHOT__ROOT_KIND__ROOT_KIND_STATIC)
		snprintf(name, NAME_BYTES, "[static var %.1000s]", own);
	else if (source->source.kind == HEAPSHOT__ROOT_KIND__ROOT_KIND_THREAD_STATIC)
		snprintf(name, NAME_BYTES, "[thread static var %.980s]", own);
	else
		snprintf(name, NAME_BYTES, "[%.200s %.800s]", kind, own);
}

/* Pseudo nodes below each one, and a type for each distinct name. */
static bool arrange(struct gcdump *dump)
{
	size_t n = dump->n_pseudos, i;
	uint32_t *types = calloc(dump->names.n + 1, sizeof(*types));

	dump->first_child = calloc(n + 2, sizeof(*dump->first_child));
	dump->children = calloc(n + 1, sizeof(*dump->children));
	dump->pseudo_names = calloc(n + 1, sizeof(*dump->pseudo_names));
	if (types == NULL || dump->first_child == NULL || dump->children == NULL ||
	    dump->pseudo_names == NULL) {
		free(types);
		return false;
	}
	memset(types, 0xFF, (dump->names.n + 1) * sizeof(*types));
	for (i = 0; i < n; i++) {
		uint32_t *type = &types[dump->pseudos[i].name];

		if (*type == UINT32_MAX) {
			*type = (uint32_t)dump->n_pseudo_names;
			dump->pseudo_names[dump->n_pseudo_names++] = dump->pseudos[i].name;
		}
		dump->pseudos[i].type = *type;
		if (i > 0) /* the first is nobody's child */
			dump->first_child[dump->pseudos[i].parent + 2]++;
	}
	free(types);
	for (i = 2; i < n + 2; i++)
		dump->first_child[i] += dump->first_child[i - 1];
	for (i = 1; i < n; i++)
		dump->children[dump->first_child[dump->pseudos[i].parent + 1]++] = (uint32_t)i;
	return true;
}

bool gcdump_make_pseudos(struct gcdump *dump)
{
	const struct heapshot_graph_source *sources;
	const struct heapshot_graph_kind *kinds;
	size_t n, n_kinds, i;
	uint32_t *groups;
	bool is_good = true;

	sources = heapshot_graph_sources(dump->graph, &n);
	kinds = heapshot_graph_kinds(dump->graph, &n_kinds);
	groups = calloc(n + 1, sizeof(*groups));
	if (groups == NULL)
		return false;
	is_good = add(dump, "[.NET Roots]", 0, HEAPSHOT_GRAPH_NONE) != HEAPSHOT_GRAPH_NONE;
	for (i = 0; i < n && is_good; i++) {
		groups[i] = HEAPSHOT_GRAPH_NONE;
		if (!sources[i].is_holding || sources[i].n_roots == 0)
			continue;
		groups[i] = get_kind(dump, &sources[i], kinds[sources[i].kind].name);
		is_good = groups[i] != HEAPSHOT_GRAPH_NONE;
	}
	for (i = 0; i < n && is_good; i++) {
		char name[NAME_BYTES];

		if (groups[i] == HEAPSHOT_GRAPH_NONE)
			continue;
		name_source(&sources[i], dump->names.texts[dump->pseudos[groups[i]].name],
			    kinds[sources[i].kind].name, name);
		is_good = add(dump, name, groups[i], (uint32_t)i) != HEAPSHOT_GRAPH_NONE;
	}
	free(groups);
	return is_good && arrange(dump);
}
