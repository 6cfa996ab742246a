/* SPDX-License-Identifier: MIT */
/*
 * Classes of a graph, grouped by name and assembly.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/export/types.h"

/* A class on its way to its group. */
struct item {
	struct export_type type;
	const char *name, *assembly;
	uint32_t class_index;
};

static int by_name(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (order == 0)
		order = strcmp(a->assembly, b->assembly);
	if (order == 0)
		order = (a->type.hash > b->type.hash) - (a->type.hash < b->type.hash);
	return order;
}

static bool fill(struct item *item, const struct heapshot_reader *reader,
		 const struct heapshot_graph_class *class, struct export_names *names)
{
	const struct heapshot_type *type = heapshot_reader_type(reader, class->type);
	const struct heapshot_image *image =
		type != NULL ? heapshot_reader_image(reader, type->image) : NULL;
	char unnamed[32];

	snprintf(unnamed, sizeof(unnamed), "type#%" PRIu32, class->type);
	item->type = (struct export_type){
		.type = class->type,
		.name = export_name(names,
				    type != NULL && *type->name != '\0' ? type->name : unnamed),
		.assembly = export_name(names, type != NULL ? type->assembly : ""),
		.file = image != NULL ? image->file : "",
		.hash = type != NULL ? type->name_hash : 0,
		.objects = class->objects,
		.bytes = class->bytes,
		.live_objects = class->live_objects,
		.live_bytes = class->live_bytes,
	};
	return item->type.name != EXPORT_NO_NAME && item->type.assembly != EXPORT_NO_NAME;
}

static void group(struct export_types *types, const struct item *items, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct export_type *last = types->n > 0 ? &types->list[types->n - 1] : NULL;

		if (last != NULL && by_name(&items[i - 1], &items[i]) == 0) {
			last->objects += items[i].type.objects;
			last->bytes += items[i].type.bytes;
			last->live_objects += items[i].type.live_objects;
			last->live_bytes += items[i].type.live_bytes;
		} else {
			types->list[types->n++] = items[i].type;
		}
		types->of_class[items[i].class_index] = (uint32_t)types->n - 1;
	}
}

bool export_types_make(struct export_types *types, const struct heapshot_reader *reader,
		       const struct heapshot_graph *graph, struct export_names *names)
{
	const struct heapshot_graph_class *classes;
	struct item *items;
	size_t n, i;

	*types = (struct export_types){0};
	classes = heapshot_graph_classes(graph, &n);
	items = calloc(n + 1, sizeof(*items));
	types->list = calloc(n + 1, sizeof(*types->list));
	types->of_class = calloc(n + 1, sizeof(*types->of_class));
	if (items == NULL || types->list == NULL || types->of_class == NULL)
		goto no_memory;
	for (i = 0; i < n; i++) {
		items[i].class_index = (uint32_t)i;
		if (!fill(&items[i], reader, &classes[i], names))
			goto no_memory;
	}
	for (i = 0; i < n; i++) { /* texts stay where they are */
		items[i].name = names->texts[items[i].type.name];
		items[i].assembly = names->texts[items[i].type.assembly];
	}
	qsort(items, n, sizeof(*items), by_name);
	group(types, items, n);
	free(items);
	return true;
no_memory:
	free(items);
	export_types_free(types);
	return false;
}

void export_types_free(struct export_types *types)
{
	free(types->list);
	free(types->of_class);
	*types = (struct export_types){0};
}
