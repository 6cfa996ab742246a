/* SPDX-License-Identifier: MIT */
/*
 * Tables of the graph.  Objects have the numbers of the graph plus 1, in the order
 * of their addresses; sources of roots likewise.
 */
#include <stdlib.h>

#include "contrib/export/roots.h"
#include "contrib/export/rows.h"
#include "contrib/export/slots.h"
#include "contrib/export/strings.h"
#include "contrib/export/types.h"

static uint64_t id_of(uint32_t number)
{
	return (uint64_t)number + 1;
}

static void put_objects(struct rows *rows, uint32_t n)
{
	const struct heapshot_graph *graph = rows->export->graph;
	const uint64_t snapshot = rows->export->snapshot->id;
	struct heapshot_graph_object object;
	uint32_t i;

	for (i = 0; i < n && rows->result == EXPORT_OK; i++) {
		heapshot_graph_object(graph, i, &object);
		rows_begin(rows, ROWS_OBJECTS);
		rows_number(rows, id_of(i));
		rows_number(rows, snapshot);
		rows_number(rows, object.address);
		rows_number(rows, object.type);
		rows_number(rows, object.domain);
		rows_number(rows, object.size);
		rows_number(rows, object.slot_size);
		rows_number(rows, (object.flags & HEAPSHOT_GRAPH_LIVE) != 0);
		rows_end(rows);
		export_advance(rows->export, 1);
	}
}

static void put_reference(struct rows *rows, uint32_t source, uint32_t target,
			  const struct export_slot *slot)
{
	rows_begin(rows, ROWS_REFS);
	rows_number(rows, id_of(source));
	rows_number(rows, id_of(target));
	if (slot->name != EXPORT_NO_NAME)
		rows_number(rows, id_of(slot->name));
	else
		rows->sink->null(rows);
	if (slot->is_element)
		rows_number(rows, slot->index);
	else
		rows->sink->null(rows);
	rows_end(rows);
}

/* The references of object I, of TYPE; false without memory. */
static bool put_references(struct rows *rows, struct export_slots *slots, uint32_t i, uint32_t type)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	struct export_slot slot;

	heapshot_graph_walk_begin(rows->export->graph, i, &walk);
	while (heapshot_graph_walk_next(&walk, &edge) && !edge.is_ephemeron) {
		if (!export_slot_find(slots, type, edge.offset, &slot))
			return false;
		if (rows->is_wanted[ROWS_REFS])
			put_reference(rows, i, edge.target, &slot);
		export_advance(rows->export, 1);
	}
	return true;
}

static void put_fields(struct rows *rows, const struct export_names *names)
{
	uint32_t i;

	for (i = 0; i < names->n; i++)
		rows_put(rows, ROWS_FIELDS, "ut", id_of(i), names->texts[i]);
}

static void put_all_references(struct rows *rows, uint32_t n)
{
	const struct heapshot_graph_class *classes;
	struct export_names names = {0};
	struct export_slots slots = {.reader = rows->export->reader, .names = &names};
	size_t n_classes;
	uint32_t i;

	classes = heapshot_graph_classes(rows->export->graph, &n_classes);
	for (i = 0; i < n && rows->result == EXPORT_OK; i++) {
		uint32_t class = heapshot_graph_class_of(rows->export->graph, i);

		if (!put_references(rows, &slots, i, classes[class].type))
			rows_fail(rows, export_fail_memory(rows->export));
	}
	put_fields(rows, &names);
	export_slots_free(&slots);
	export_names_free(&names);
}

static void put_ephemerons(struct rows *rows)
{
	const struct heapshot_graph_ephemeron *edges;
	size_t n, i;

	edges = heapshot_graph_ephemerons(rows->export->graph, &n);
	for (i = 0; i < n && rows->result == EXPORT_OK; i++)
		rows_put(rows, ROWS_EPHEMERONS, "uuu", id_of(edges[i].table), id_of(edges[i].key),
			 id_of(edges[i].value));
}

static bool put_string(void *user_data, const struct export_string *string)
{
	struct rows *rows = user_data;

	rows_put(rows, ROWS_STRINGS, "uubt", id_of(string->object), string->length,
		 (int)string->is_cut, string->text);
	return rows->result == EXPORT_OK;
}

static void put_strings(struct rows *rows)
{
	/* It ends at a failure to write, too, which has been told. */
	if (!export_each_string(rows->export, put_string, rows) && rows->result == EXPORT_OK)
		rows_fail(rows, export_fail_memory(rows->export));
}

static void put_sources(struct rows *rows)
{
	const struct heapshot_graph *graph = rows->export->graph;
	const struct heapshot_graph_source *sources;
	const struct heapshot_graph_kind *kinds;
	size_t n, n_kinds, i;

	sources = heapshot_graph_sources(graph, &n);
	kinds = heapshot_graph_kinds(graph, &n_kinds);
	for (i = 0; i < n; i++) {
		const struct heapshot_root_source *source = &sources[i].source;
		const uint32_t node = heapshot_graph_source_node(graph, (uint32_t)i);

		rows_put(rows, ROWS_ROOT_SOURCES, "uutttzzau", id_of((uint32_t)i),
			 rows->export->snapshot->id, kinds[sources[i].kind].name, source->name,
			 source->handle_type, (uint64_t)source->type, (uint64_t)source->domain,
			 source->thread, heapshot_graph_retained(graph, node));
	}
}

static void put_roots(struct rows *rows)
{
	const struct heapshot_graph *graph = rows->export->graph;
	const struct heapshot_graph_root *roots;
	size_t n, i;

	roots = heapshot_graph_roots(graph, &n);
	for (i = 0; i < n && rows->result == EXPORT_OK; i++)
		rows_put(rows, ROWS_ROOTS, "uuuba", (uint64_t)i + 1, id_of(roots[i].object),
			 id_of(roots[i].source), (int)export_is_holding(graph, &roots[i]),
			 roots[i].address);
}

/* Its columns: an object, or a source of roots; null both where several sources hold. */
static void put_dominator(struct rows *rows, uint32_t node)
{
	uint32_t index;
	const enum heapshot_graph_node_kind kind =
		heapshot_graph_node(rows->export->graph, node, &index);

	if (kind == HEAPSHOT_NODE_OBJECT)
		rows_number(rows, id_of(index));
	else
		rows->sink->null(rows);
	if (kind == HEAPSHOT_NODE_SOURCE)
		rows_number(rows, id_of(index));
	else
		rows->sink->null(rows);
}

static void put_dominators(struct rows *rows, uint32_t n)
{
	const struct heapshot_graph *graph = rows->export->graph;
	uint32_t i;

	for (i = 0; i < n && rows->result == EXPORT_OK; i++) {
		if (!heapshot_graph_is_live(graph, i))
			continue;
		rows_begin(rows, ROWS_DOMINATORS);
		rows_number(rows, id_of(i));
		put_dominator(rows, heapshot_graph_dominator(graph, i));
		rows_number(rows, heapshot_graph_retained(graph, i));
		rows_end(rows);
		export_advance(rows->export, 1);
	}
}

static void put_totals(struct rows *rows)
{
	struct heapshot_graph_sum *sums = NULL;
	struct export_names names = {0};
	struct export_types types;
	size_t i;

	if (!export_types_make(&types, rows->export->reader, rows->export->graph, &names) ||
	    (sums = calloc(types.n + 1, sizeof(*sums))) == NULL ||
	    heapshot_graph_sums(rows->export->graph, types.of_class, types.n, sums) !=
		    HEAPSHOT_READ_OK)
		rows_fail(rows, export_fail_memory(rows->export));
	for (i = 0; i < types.n && rows->result == EXPORT_OK; i++) {
		const struct export_type *type = &types.list[i];

		rows_put(rows, ROWS_TYPE_TOTALS, "uttuuuuu", rows->export->snapshot->id,
			 names.texts[type->name], names.texts[type->assembly], type->objects,
			 type->bytes, type->live_objects, type->live_bytes, sums[i].retained);
	}
	free(sums);
	export_types_free(&types);
	export_names_free(&names);
}

void rows_put_graph(struct rows *rows)
{
	struct heapshot_graph_counts counts;
	uint32_t n;

	heapshot_graph_counts(rows->export->graph, &counts);
	n = (uint32_t)counts.objects;
	if (rows_want(rows, ROWS_TYPE_TOTALS))
		put_totals(rows);
	if (rows_want(rows, ROWS_OBJECTS))
		put_objects(rows, n);
	/* Fields have the numbers that references gave them. */
	if (rows_want(rows, ROWS_REFS) || rows_want(rows, ROWS_FIELDS))
		put_all_references(rows, n);
	if (rows_want(rows, ROWS_EPHEMERONS))
		put_ephemerons(rows);
	if (rows_want(rows, ROWS_STRINGS))
		put_strings(rows);
	if (rows_want(rows, ROWS_ROOT_SOURCES))
		put_sources(rows);
	if (rows_want(rows, ROWS_ROOTS))
		put_roots(rows);
	if (rows_want(rows, ROWS_DOMINATORS))
		put_dominators(rows, n);
}
