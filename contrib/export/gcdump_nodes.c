/* SPDX-License-Identifier: MIT */
/*
 * Nodes of a gcdump: type, size and children, in numbers of 1 to 5 bytes.
 */
#include <inttypes.h>

#include "contrib/export/gcdump.h"

/* Groups of 7 bits, the highest first, each but the last with the high bit set. */
static void put_number(struct gcdump_blob *blob, int32_t value)
{
	unsigned n = 1;
	uint8_t *at;

	while (n < 5 &&
	       (value < -((int32_t)1 << (7 * n - 1)) || value >= (int32_t)1 << (7 * n - 1)))
		n++;
	blob->bytes += n;
	if (blob->output == NULL)
		return;
	at = export_room(blob->output, n);
	blob->output->n += n;
	while (n-- > 0)
		*at++ = (uint8_t)(((int64_t)value >> 7 * n & 0x7F) | (n > 0 ? 0x80 : 0));
}

static void put_child(struct gcdump_blob *blob, uint64_t number, uint64_t child)
{
	put_number(blob, (int32_t)((int64_t)child - (int64_t)number));
}

/* Live ephemerons of KEY, put as references if BLOB is there; returns how many. */
static uint64_t put_values(const struct gcdump *dump, struct gcdump_blob *blob, uint32_t key)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	uint64_t n = 0;

	heapshot_graph_walk_begin(dump->graph, key, &walk);
	while (heapshot_graph_walk_next(&walk, &edge)) {
		if (!edge.is_ephemeron)
			continue;
		n++;
		if (blob != NULL)
			put_child(blob, key, edge.target);
	}
	return n;
}

static bool put_object(struct gcdump *dump, struct gcdump_blob *blob, uint32_t number)
{
	struct heapshot_graph_object object;
	const uint32_t *targets;
	uint64_t n, n_values = 0, i;
	bool is_key;

	heapshot_graph_object(dump->graph, number, &object);
	is_key = object.flags & HEAPSHOT_GRAPH_KEY;
	targets = heapshot_graph_targets(dump->graph, number, &n);
	if (is_key)
		n_values = put_values(dump, NULL, number);
	if (object.size > GCDUMP_MAX || n + n_values > GCDUMP_MAX) {
		export_fail(dump->export, EXPORT_REFUSED,
			    "an object of %" PRIu64 " bytes with %" PRIu64
			    " references; both are at most 2^31 - 1",
			    object.size, n + n_values);
		return false;
	}
	/* Type 0 is "UNDEFINED"; bit 0: the size stands here. */
	put_number(blob, (int32_t)((dump->types.of_class[object.class_index] + 1) * 2 + 1));
	put_number(blob, (int32_t)object.size);
	put_number(blob, (int32_t)(n + n_values));
	for (i = 0; i < n; i++)
		put_child(blob, number, targets[i]);
	if (n_values > 0)
		put_values(dump, blob, number);
	return true;
}

/* Objects that SOURCE holds, put as references if BLOB is there; returns how many. */
static uint64_t put_held(const struct gcdump *dump, struct gcdump_blob *blob, uint64_t number,
			 uint32_t source)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	uint64_t n = 0;

	if (source == HEAPSHOT_GRAPH_NONE)
		return 0;
	heapshot_graph_walk_begin(dump->graph, heapshot_graph_source_node(dump->graph, source),
				  &walk);
	for (; heapshot_graph_walk_next(&walk, &edge); n++)
		if (blob != NULL)
			put_child(blob, number, edge.target);
	return n;
}

static bool put_pseudo(struct gcdump *dump, struct gcdump_blob *blob, uint32_t pseudo)
{
	const struct gcdump_pseudo *node = &dump->pseudos[pseudo];
	const uint64_t number = (uint64_t)dump->n_objects + pseudo;
	uint32_t i = dump->first_child[pseudo], end = dump->first_child[pseudo + 1];
	uint64_t n = put_held(dump, NULL, number, node->source) + (end - i);

	if (n > GCDUMP_MAX) {
		export_fail(dump->export, EXPORT_REFUSED,
			    "%" PRIu64 " roots of one kind; it may be 2^31 - 1", n);
		return false;
	}
	/* Its size is that of the type: none. */
	put_number(blob, (int32_t)((dump->types.n + 1 + node->type) * 2));
	put_number(blob, (int32_t)n);
	for (; i < end; i++)
		put_child(blob, number, (uint64_t)dump->n_objects + dump->children[i]);
	put_held(dump, blob, number, node->source);
	return true;
}

bool gcdump_put_node(struct gcdump *dump, struct gcdump_blob *blob, uint64_t number)
{
	if (number < dump->n_objects)
		return put_object(dump, blob, (uint32_t)number);
	return put_pseudo(dump, blob, (uint32_t)(number - dump->n_objects));
}
