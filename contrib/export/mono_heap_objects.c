/* SPDX-License-Identifier: MIT */
/*
 * Objects of a mono-heap file, their references, and ids of 32 bits for both.
 */
#include "contrib/export/mono_heap.h"

/* The collector tells references in such portions, and readers know no larger ones. */
#define REFERENCES_MAX 128u

/* Below it stand the addresses of roots that have none: the finalizer queue is 1, and so on. */
#define FIRST_ID 16u

/* Numbers of 53 bits are exact in counters. */
#define EXACT_MAX ((uint64_t)1 << 53)

/*
 * Addresses as they are, where they fit, else words from the first object on; both
 * keep their order.  A heap that spans more (32 GB) gets numbers in that order.
 */
void mono_heap_map_ids(struct mono_heap *heap)
{
	const uint64_t word = heapshot_reader_header(heap->export->reader)->word_bytes;
	uint64_t first, last;

	heap->id_base = heap->id_unit = 0;
	if (heap->counts.objects == 0)
		return;
	first = heapshot_graph_address(heap->graph, 0);
	last = heapshot_graph_address(heap->graph, (uint32_t)heap->counts.objects - 1);
	if (first >= FIRST_ID && last <= UINT32_MAX) {
		heap->id_unit = 1;
	} else if (first >= FIRST_ID * word && last <= EXACT_MAX &&
		   (last - first) / word <= UINT32_MAX - FIRST_ID) {
		heap->id_base = first - FIRST_ID * word;
		heap->id_unit = word;
	}
}

uint32_t mono_heap_id(const struct mono_heap *heap, uint32_t object)
{
	if (heap->id_unit == 0)
		return object + FIRST_ID;
	return (uint32_t)((heapshot_graph_address(heap->graph, object) - heap->id_base) /
			  heap->id_unit);
}

static bool is_going_on(const struct mono_heap_out *out)
{
	return out->output == NULL || !out->output->has_failed;
}

void mono_heap_put_objects(struct mono_heap *heap, struct mono_heap_out *out)
{
	const uint32_t n = (uint32_t)heap->counts.objects;
	uint32_t i;

	for (i = 0; i < n && is_going_on(out); i++) {
		const uint32_t class = heapshot_graph_class_of(heap->graph, i);

		mono_heap_put_u32(out, mono_heap_id(heap, i));
		mono_heap_put_u32(out, heap->types.of_class[class] + 1);
		mono_heap_put_number(out, heapshot_graph_size(heap->graph, i));
		export_advance(heap->export, 1);
	}
}

/* References of OBJECT on their way to records. */
struct portion {
	struct mono_heap *heap;
	struct mono_heap_out *out;
	uint32_t object;
	uint32_t n, targets[REFERENCES_MAX];
};

static void put_portion(struct portion *portion)
{
	struct mono_heap_out *out = portion->out;
	uint32_t i;

	if (portion->n == 0)
		return;
	mono_heap_put_u32(out, mono_heap_id(portion->heap, portion->object));
	mono_heap_put_number(out, portion->n);
	for (i = 0; i < portion->n; i++)
		mono_heap_put_u32(out, mono_heap_id(portion->heap, portion->targets[i]));
	portion->heap->n_references += portion->n;
	portion->n = 0;
}

static void add_target(struct portion *portion, uint32_t target)
{
	portion->targets[portion->n++] = target;
	if (portion->n == REFERENCES_MAX)
		put_portion(portion);
}

/* The values of which OBJECT is the key: they would go with it. */
static void add_values(struct portion *portion)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;

	heapshot_graph_walk_begin(portion->heap->graph, portion->object, &walk);
	while (heapshot_graph_walk_next(&walk, &edge))
		if (edge.is_ephemeron)
			add_target(portion, edge.target);
}

void mono_heap_put_references(struct mono_heap *heap, struct mono_heap_out *out)
{
	struct portion portion = {.heap = heap, .out = out};
	const uint32_t n = (uint32_t)heap->counts.objects;
	struct heapshot_graph_object object;

	heap->n_references = 0;
	for (; portion.object < n && is_going_on(out); portion.object++) {
		uint64_t n_targets, i;
		const uint32_t *targets =
			heapshot_graph_targets(heap->graph, portion.object, &n_targets);

		for (i = 0; i < n_targets; i++)
			add_target(&portion, targets[i]);
		heapshot_graph_object(heap->graph, portion.object, &object);
		if (object.flags & HEAPSHOT_GRAPH_KEY)
			add_values(&portion);
		put_portion(&portion);
		export_advance(heap->export, 1);
	}
}
