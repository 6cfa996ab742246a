/* SPDX-License-Identifier: MIT */
/*
 * What JavaScript and the runtime hold of each other, in a mono-heap file: numbers
 * with what JavaScript calls them.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/export/mono_heap.h"

/* A record of CSOB or JSOB. */
struct mono_heap_handle {
	uint32_t handle, type, name; /* the latter in names */
};

static int by_handle(const void *left, const void *right)
{
	const struct mono_heap_handle *a = left, *b = right;

	return (a->handle > b->handle) - (a->handle < b->handle);
}

/* Sorts, and leaves one of those with the same number. */
static void tidy(struct mono_heap_handles *handles)
{
	size_t n = 0;

	qsort(handles->list, handles->n, sizeof(*handles->list), by_handle);
	for (size_t i = 0; i < handles->n; i++)
		if (n == 0 || handles->list[n - 1].handle != handles->list[i].handle)
			handles->list[n++] = handles->list[i];
	handles->n = n;
}

/* Viewers want a word for the type. */
static bool make_table(struct mono_heap *heap, const struct heapshot_handle_table *table,
		       struct mono_heap_handles *out)
{
	if (out->list != NULL) /* one table has the name */
		return true;
	out->list = calloc(table->n_handles + 1, sizeof(*out->list));
	if (out->list == NULL)
		return false;
	for (size_t i = 0; i < table->n_handles; i++) {
		const struct heapshot_handle *from = &table->handles[i];
		const struct mono_heap_handle handle = {
			.handle = (uint32_t)from->handle,
			.type = export_name(&heap->names,
					    *from->js_type != '\0' ? from->js_type : "unknown"),
			.name = export_name(&heap->names, from->js_name),
		};

		if (handle.type == EXPORT_NO_NAME || handle.name == EXPORT_NO_NAME)
			return false;
		/* Those that do not fit are no numbers of the runtime's. */
		if (handle.handle != 0 && from->handle >= INT32_MIN && from->handle <= UINT32_MAX)
			out->list[out->n++] = handle;
	}
	tidy(out);
	return true;
}

bool mono_heap_make_javascript(struct mono_heap *heap)
{
	struct heapshot_handles handles;

	if (heap->export->snapshot->handle_tables == 0)
		return true;
	/* What is wrong with them the graph has said; what is there is put. */
	if (heapshot_reader_handles(heap->export->reader, heap->export->snapshot, &handles) ==
	    HEAPSHOT_READ_MEMORY)
		return false;
	for (size_t i = 0; i < handles.n_tables; i++) {
		const struct heapshot_handle_table *table = &handles.tables[i];

		if (strcmp(table->name, "js_proxy") == 0 &&
		    !make_table(heap, table, &heap->js_proxies))
			return false;
		if (strcmp(table->name, "js_object") == 0 &&
		    !make_table(heap, table, &heap->js_objects))
			return false;
	}
	return true;
}

static void put(const struct mono_heap_handles *handles, struct mono_heap_out *out)
{
	for (size_t i = 0; i < handles->n; i++) {
		mono_heap_put_u32(out, handles->list[i].handle);
		mono_heap_put_number(out, handles->list[i].type);
		mono_heap_put_number(out, handles->list[i].name);
	}
}

void mono_heap_put_js_proxies(struct mono_heap *heap, struct mono_heap_out *out)
{
	put(&heap->js_proxies, out);
}

void mono_heap_put_js_objects(struct mono_heap *heap, struct mono_heap_out *out)
{
	put(&heap->js_objects, out);
}
