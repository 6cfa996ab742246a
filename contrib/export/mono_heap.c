/* SPDX-License-Identifier: MIT */
/*
 * The .mono-heap format of MonoHeapSnapshotViewer and dotnet-heapview: chunks of
 * four letters, a length and records.  It was made for heaps of 32 bits.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/export/mono_heap.h"
#include "schema/varint.h"

#define VERSION 1

static void put(struct mono_heap_out *out, const void *data, size_t size)
{
	out->bytes += size;
	if (out->output != NULL)
		export_put(out->output, data, size);
}

void mono_heap_put_u32(struct mono_heap_out *out, uint32_t value)
{
	out->bytes += 4;
	if (out->output != NULL)
		export_put_u32(out->output, value);
}

void mono_heap_put_f64(struct mono_heap_out *out, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	mono_heap_put_u32(out, (uint32_t)bits);
	mono_heap_put_u32(out, (uint32_t)(bits >> 32));
}

void mono_heap_put_number(struct mono_heap_out *out, uint64_t value)
{
	uint8_t bytes[HS_VARINT_MAX];

	put(out, bytes, (size_t)(hs_varint_put(bytes, value) - bytes));
}

void mono_heap_put_text(struct mono_heap_out *out, const char *text)
{
	mono_heap_put_number(out, strlen(text));
	put(out, text, strlen(text));
}

static void put_strings(struct mono_heap *heap, struct mono_heap_out *out)
{
	size_t i;

	for (i = 0; i < heap->names.n; i++) {
		mono_heap_put_number(out, i);
		mono_heap_put_text(out, heap->names.texts[i]);
	}
}

/* dotnet-heapview wants the counters first, and one table of strings. */
static const struct chunk {
	char id[5];
	void (*put)(struct mono_heap *heap, struct mono_heap_out *out);
} chunks[] = {
	{"CNTR", mono_heap_put_counters},   {"STBL", put_strings},
	{"ASSM", mono_heap_put_assemblies}, {"TYPE", mono_heap_put_classes},
	{"OBJH", mono_heap_put_objects},    {"REFS", mono_heap_put_references},
	{"ROOT", mono_heap_put_roots},      {"GCHL", mono_heap_put_handles},
	{"CSOB", mono_heap_put_js_proxies}, {"JSOB", mono_heap_put_js_objects},
};
enum {
	N_CHUNKS = sizeof(chunks) / sizeof(*chunks),
	N_ALWAYS = N_CHUNKS - 2, /* the others only where there is something to put */
	HEAD_BYTES = 8
};

/* Counters, whose values are set once they are known: before that they only take their room. */
static bool count(struct mono_heap *heap)
{
	const struct heapshot_graph_counts *counts = &heap->counts;
	const struct {
		const char *name;
		double value;
	} rows[] = {
		{"snapshot/version", VERSION},
		{"snapshot/num-strings", (double)heap->names.n},
		{"snapshot/num-objects", (double)counts->objects},
		{"snapshot/num-refs", (double)heap->n_references},
		{"snapshot/num-roots", (double)heap->n_roots},
		{"snapshot/num-classes", (double)heap->n_classes},
		{"snapshot/num-assemblies", (double)(heap->assemblies.n - 1)},
		{"heapshot/address-base", (double)heap->id_base},
		{"heapshot/address-unit", (double)heap->id_unit},
		{"heapshot/dropped-refs", (double)counts->dangling_references},
		{"heapshot/dropped-roots", (double)counts->loose_roots},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!mono_heap_set_counter(heap, rows[i].name, rows[i].value))
			return false;
	return heap->export->snapshot->heap_bytes == 0 ||
	       mono_heap_set_counter(heap, "sgen/heap-capacity",
				     (double)heap->export->snapshot->heap_bytes);
}

/* Everything that chunks are made of, in memory. */
static bool prepare(struct mono_heap *heap)
{
	return export_name(&heap->names, "") == 0 && count(heap) && mono_heap_read_counters(heap) &&
	       export_types_make(&heap->types, heap->export->reader, heap->graph, &heap->names) &&
	       mono_heap_make_classes(heap) && mono_heap_make_roots(heap) &&
	       mono_heap_make_javascript(heap);
}

/* What the format, or its readers, have no room for. */
static enum export_result check_limits(struct mono_heap *heap)
{
	uint32_t i;

	for (i = 0; i < heap->counts.objects; i++) {
		const uint64_t size = heapshot_graph_size(heap->graph, i);

		if (size > MONO_HEAP_MAX)
			return export_fail(heap->export, EXPORT_REFUSED,
					   "an object of %" PRIu64 " bytes; it may be 2^31 - 1",
					   size);
	}
	if (heap->counts.bytes > UINT32_MAX)
		return export_fail(heap->export, EXPORT_REFUSED,
				   "its objects take %" PRIu64
				   " bytes; viewers add in 32 bits, so it may be 2^32 - 1",
				   heap->counts.bytes);
	return EXPORT_OK;
}

static enum export_result put_chunks(struct mono_heap *heap)
{
	struct mono_heap_out sizes[N_CHUNKS] = {0}, out = {.output = heap->export->output};
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < N_CHUNKS; i++) {
		chunks[i].put(heap, &sizes[i]);
		if (i < N_ALWAYS || sizes[i].bytes != 0)
			all += HEAD_BYTES + sizes[i].bytes;
	}
	if (all > MONO_HEAP_MAX)
		return export_fail(heap->export, EXPORT_REFUSED,
				   "the file would take %" PRIu64 " bytes; viewers open 2^31 - 1",
				   all);
	if (!count(heap))
		return export_fail_memory(heap->export);
	for (i = 0; i < N_CHUNKS; i++) {
		if (i >= N_ALWAYS && sizes[i].bytes == 0)
			continue;
		export_put(out.output, chunks[i].id, 4);
		export_put_u32(out.output, (uint32_t)sizes[i].bytes);
		chunks[i].put(heap, &out);
	}
	return EXPORT_OK;
}

enum export_result export_write_mono_heap(struct export *export)
{
	struct mono_heap heap = {.export = export, .graph = export->graph};
	enum export_result result;

	heapshot_graph_counts(export->graph, &heap.counts);
	export->all = 4 * heap.counts.objects;
	mono_heap_map_ids(&heap);
	result = check_limits(&heap);
	if (result == EXPORT_OK)
		result = prepare(&heap) ? put_chunks(&heap) : export_fail_memory(export);
	export_types_free(&heap.types);
	export_names_free(&heap.names);
	export_names_free(&heap.class_keys);
	export_names_free(&heap.assemblies);
	export_names_free(&heap.counter_names);
	free(heap.classes);
	free(heap.counters);
	free(heap.kind_names);
	free(heap.handle_names);
	free(heap.roots);
	free(heap.first_root);
	free(heap.js_proxies.list);
	free(heap.js_objects.list);
	return result;
}
