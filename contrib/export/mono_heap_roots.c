/* SPDX-License-Identifier: MIT */
/*
 * Roots of a mono-heap file by kind, and the handles.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/export/mono_heap.h"
#include "contrib/export/roots.h"

/* What the format calls the type of the handle that SOURCE is; NULL: no handle. */
static const char *handle_type(const struct heapshot_graph_source *source)
{
	static const char *const words[] = {"weak", "weak_track", "normal", "pinned",
					    "weak_fields"};
	const char *type = source->source.handle_type;
	size_t i;

	if (strcmp(type, "weak_track_resurrection") == 0)
		return "weak_track";
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(type, words[i]) == 0)
			return words[i];
	return NULL;
}

/* A weak handle holds nothing, so it is no root. */
static bool is_root(const struct heapshot_graph_source *source)
{
	return strncmp(source->source.handle_type, "weak", 4) != 0;
}

bool mono_heap_make_roots(struct mono_heap *heap)
{
	const struct heapshot_graph_source *sources;
	const struct heapshot_graph_kind *kinds;
	size_t n_kinds, n, i;

	kinds = heapshot_graph_kinds(heap->graph, &n_kinds);
	sources = heapshot_graph_sources(heap->graph, &n);
	heap->kind_names = calloc(n_kinds + 1, sizeof(*heap->kind_names));
	heap->handle_names = calloc(n + 1, sizeof(*heap->handle_names));
	if (heap->kind_names == NULL || heap->handle_names == NULL)
		return false;
	for (i = 0; i < n_kinds; i++) {
		heap->kind_names[i] = export_name(&heap->names, kinds[i].name);
		if (heap->kind_names[i] == EXPORT_NO_NAME)
			return false;
	}
	for (i = 0; i < n; i++) {
		const char *type = handle_type(&sources[i]);

		heap->handle_names[i] = export_name(&heap->names, type != NULL ? type : "");
		if (heap->handle_names[i] == EXPORT_NO_NAME)
			return false;
	}
	return export_roots_by_source(heap->graph, &heap->roots, &heap->first_root);
}

/*
 * The address of a root is its object's id: viewers show an object by the address
 * of its last root, and slots have no place among 32 bits.
 */
static void put_kind(struct mono_heap *heap, struct mono_heap_out *out,
		     const struct heapshot_graph_kind *kind, uint32_t name)
{
	const struct heapshot_graph_root *roots;
	const struct heapshot_graph_source *sources;
	const uint32_t end = kind->first_source + kind->n_sources;
	uint64_t n = 0, k;
	size_t n_all;
	uint32_t i;

	roots = heapshot_graph_roots(heap->graph, &n_all);
	sources = heapshot_graph_sources(heap->graph, &n_all);
	for (i = kind->first_source; i < end; i++)
		if (is_root(&sources[i]))
			n += sources[i].n_roots;
	if (n == 0)
		return;
	mono_heap_put_number(out, name);
	mono_heap_put_number(out, n);
	for (i = kind->first_source; i < end; i++) {
		if (!is_root(&sources[i]))
			continue;
		for (k = heap->first_root[i]; k < heap->first_root[i + 1]; k++) {
			const uint32_t id = mono_heap_id(heap, roots[heap->roots[k]].object);

			mono_heap_put_u32(out, id);
			mono_heap_put_u32(out, id);
		}
	}
	heap->n_roots += n;
}

void mono_heap_put_roots(struct mono_heap *heap, struct mono_heap_out *out)
{
	const struct heapshot_graph_kind *kinds;
	size_t n, i;

	kinds = heapshot_graph_kinds(heap->graph, &n);
	heap->n_roots = 0;
	for (i = 0; i < n; i++)
		put_kind(heap, out, &kinds[i], heap->kind_names[i]);
}

void mono_heap_put_handles(struct mono_heap *heap, struct mono_heap_out *out)
{
	const struct heapshot_graph_root *roots;
	size_t n, i;
	uint64_t k;

	roots = heapshot_graph_roots(heap->graph, &n);
	heapshot_graph_sources(heap->graph, &n);
	for (i = 0; i < n; i++) {
		if (heap->handle_names[i] == 0) /* "": no handle */
			continue;
		for (k = heap->first_root[i]; k < heap->first_root[i + 1]; k++) {
			const uint32_t object = roots[heap->roots[k]].object;

			mono_heap_put_number(out, heap->handle_names[i]);
			mono_heap_put_u32(out, mono_heap_id(heap, object));
		}
	}
}
