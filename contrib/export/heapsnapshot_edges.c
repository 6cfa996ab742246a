/* SPDX-License-Identifier: MIT */
/*
 * Edges of a heapsnapshot, with names of fields and numbers of elements.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "contrib/export/heapsnapshot.h"
#include "contrib/export/roots.h"

/* Places in "edge_types". */
enum edge_type { EDGE_ELEMENT = 1, EDGE_PROPERTY = 2, EDGE_INTERNAL = 3, EDGE_WEAK = 6 };

/* Elements of arrays of structs have names up to this one. */
#define NAMED_ELEMENTS_MAX 100000u

static void put_edge(struct snapshot_writer *writer, unsigned type, uint64_t name_or_index,
		     uint64_t node)
{
	export_put_text(writer->output, writer->n_edges++ > 0 ? ",\n" : "\n");
	export_put_number(writer->output, type);
	export_put_byte(writer->output, ',');
	export_put_number(writer->output, name_or_index);
	export_put_byte(writer->output, ',');
	export_put_number(writer->output, node * NODE_FIELDS);
	export_advance(writer->export, 1);
}

static uint64_t node_of(const struct snapshot_writer *writer, uint32_t object)
{
	return 1 + writer->n_kinds + writer->n_sources + object;
}

/* From the root to the kinds, from a kind to its sources, from a source to its objects. */
static bool put_synthetic_edges(struct snapshot_writer *writer)
{
	const struct heapshot_graph_root *roots;
	uint64_t *first, k;
	uint32_t *list;
	size_t n, i, j;

	if (!export_roots_by_source(writer->graph, &list, &first))
		return false;
	roots = heapshot_graph_roots(writer->graph, &n);
	for (i = 0; i < writer->n_kinds; i++)
		put_edge(writer, EDGE_ELEMENT, i + 1, 1 + i);
	for (i = 0; i < writer->n_kinds; i++)
		for (j = 0; j < writer->kinds[i].n_sources; j++)
			put_edge(writer, EDGE_ELEMENT, j + 1,
				 1 + writer->n_kinds + writer->kinds[i].first_source + j);
	for (i = 0; i < writer->n_sources; i++)
		for (k = first[i]; k < first[i + 1]; k++) {
			const struct heapshot_graph_root *root = &roots[list[k]];

			if (export_is_holding(writer->graph, root))
				put_edge(writer, EDGE_ELEMENT, k - first[i] + 1,
					 node_of(writer, root->object));
			else
				put_edge(writer, EDGE_WEAK, writer->weak,
					 node_of(writer, root->object));
		}
	free(list);
	free(first);
	return true;
}

/* A field of an element of an array of structs, "[17].key"; far ones share their name. */
static uint32_t name_element(struct snapshot_writer *writer, const struct export_slot *slot)
{
	char name[HEAPSHOT_SLOT_NAME_BYTES + 32];

	if (slot->index < NAMED_ELEMENTS_MAX)
		snprintf(name, sizeof(name), "[%" PRIu64 "].%s", slot->index,
			 writer->names.texts[slot->name]);
	else
		snprintf(name, sizeof(name), "[%u...].%s", NAMED_ELEMENTS_MAX,
			 writer->names.texts[slot->name]);
	return export_name(&writer->names, name);
}

/* False without memory. */
static bool put_reference(struct snapshot_writer *writer, uint32_t type,
			  const struct heapshot_graph_edge *edge)
{
	struct export_slot slot;
	uint32_t name;

	if (edge->is_ephemeron) {
		put_edge(writer, EDGE_INTERNAL, writer->value, node_of(writer, edge->target));
		return true;
	}
	if (!export_slot_find(&writer->slots, type, edge->offset, &slot))
		return false;
	if (slot.is_element && slot.name == EXPORT_NO_NAME && slot.index <= UINT32_MAX) {
		put_edge(writer, EDGE_ELEMENT, slot.index, node_of(writer, edge->target));
		return true;
	}
	if (slot.name == EXPORT_NO_NAME)
		slot.name = export_name(&writer->names, "element");
	name = slot.is_element ? name_element(writer, &slot) : slot.name;
	put_edge(writer, EDGE_PROPERTY, name, node_of(writer, edge->target));
	return name != EXPORT_NO_NAME;
}

bool snapshot_put_edges(struct snapshot_writer *writer)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	uint32_t i;

	if (!put_synthetic_edges(writer))
		return false;
	for (i = 0; i < writer->n_objects && !writer->output->has_failed; i++) {
		const uint32_t class = heapshot_graph_class_of(writer->graph, i);

		heapshot_graph_walk_begin(writer->graph, i, &walk);
		while (heapshot_graph_walk_next(&walk, &edge))
			if (!put_reference(writer, writer->classes[class].type, &edge))
				return false;
	}
	return true;
}

uint64_t snapshot_count_edges(const struct snapshot_writer *writer)
{
	struct heapshot_graph_counts counts;
	const struct heapshot_graph_ephemeron *pairs;
	size_t n_pairs, i;
	uint64_t n;

	heapshot_graph_counts(writer->graph, &counts);
	n = counts.references + counts.roots + writer->n_sources + writer->n_kinds;
	pairs = heapshot_graph_ephemerons(writer->graph, &n_pairs);
	for (i = 0; i < n_pairs; i++)
		n += heapshot_graph_is_live(writer->graph, pairs[i].table) &&
		     heapshot_graph_is_live(writer->graph, pairs[i].key);
	return n;
}
