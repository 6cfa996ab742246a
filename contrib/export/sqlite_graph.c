/* SPDX-License-Identifier: MIT */
/*
 * Tables of the graph.  Objects have the numbers of the graph plus 1, in the order
 * of their addresses; sources of roots likewise.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/export/roots.h"
#include "contrib/export/slots.h"
#include "contrib/export/sqlite.h"
#include "contrib/export/types.h"

static sqlite3_int64 id_of(uint32_t number)
{
	return (sqlite3_int64)number + 1;
}

static void put_objects(struct sqlite_out *out, uint32_t n)
{
	const struct heapshot_graph *graph = out->export->graph;
	const sqlite3_int64 snapshot = (sqlite3_int64)out->export->snapshot->id;
	sqlite3_stmt *statement =
		sqlite_prepare(out, "INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	struct heapshot_graph_object object;
	uint32_t i;

	for (i = 0; i < n && out->result == EXPORT_OK; i++) {
		heapshot_graph_object(graph, i, &object);
		sqlite3_bind_int64(statement, 1, id_of(i));
		sqlite3_bind_int64(statement, 2, snapshot);
		sqlite_bind_number(out, statement, 3, object.address);
		sqlite3_bind_int64(statement, 4, object.type);
		sqlite3_bind_int64(statement, 5, object.domain);
		sqlite_bind_number(out, statement, 6, object.size);
		sqlite_bind_number(out, statement, 7, object.slot_size);
		sqlite3_bind_int(statement, 8, (object.flags & HEAPSHOT_GRAPH_LIVE) != 0);
		sqlite_step(out, statement);
		export_advance(out->export, 1);
	}
	sqlite3_finalize(statement);
}

/* The references of object I, of TYPE. */
static bool put_references(struct sqlite_out *out, sqlite3_stmt *statement,
			   struct export_slots *slots, uint32_t i, uint32_t type)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	struct export_slot slot;

	heapshot_graph_walk_begin(out->export->graph, i, &walk);
	while (heapshot_graph_walk_next(&walk, &edge) && !edge.is_ephemeron) {
		if (!export_slot_find(slots, type, edge.offset, &slot))
			return false;
		sqlite3_bind_int64(statement, 1, id_of(i));
		sqlite3_bind_int64(statement, 2, id_of(edge.target));
		if (slot.name != EXPORT_NO_NAME)
			sqlite3_bind_int64(statement, 3, id_of(slot.name));
		else
			sqlite3_bind_null(statement, 3);
		if (slot.is_element)
			sqlite_bind_number(out, statement, 4, slot.index);
		else
			sqlite3_bind_null(statement, 4);
		sqlite_step(out, statement);
		export_advance(out->export, 1);
	}
	return true;
}

static void put_fields(struct sqlite_out *out, const struct export_names *names)
{
	sqlite3_stmt *statement = sqlite_prepare(out, "INSERT INTO fields VALUES (?, ?)");
	uint32_t i;

	for (i = 0; i < names->n; i++)
		sqlite_put(out, statement, "ut", (uint64_t)id_of(i), names->texts[i]);
	sqlite3_finalize(statement);
}

static void put_all_references(struct sqlite_out *out, uint32_t n)
{
	const struct heapshot_graph_class *classes;
	sqlite3_stmt *statement = sqlite_prepare(out, "INSERT INTO refs VALUES (?, ?, ?, ?)");
	struct export_names names = {0};
	struct export_slots slots = {.reader = out->export->reader, .names = &names};
	size_t n_classes;
	uint32_t i;

	classes = heapshot_graph_classes(out->export->graph, &n_classes);
	for (i = 0; i < n && out->result == EXPORT_OK; i++) {
		uint32_t class = heapshot_graph_class_of(out->export->graph, i);

		if (!put_references(out, statement, &slots, i, classes[class].type))
			out->result = export_fail_memory(out->export);
	}
	sqlite3_finalize(statement);
	put_fields(out, &names);
	export_slots_free(&slots);
	export_names_free(&names);
}

static void put_ephemerons(struct sqlite_out *out)
{
	sqlite3_stmt *statement = sqlite_prepare(out, "INSERT INTO ephemerons VALUES (?, ?, ?)");
	const struct heapshot_graph_ephemeron *edges;
	size_t n, i;

	edges = heapshot_graph_ephemerons(out->export->graph, &n);
	for (i = 0; i < n && out->result == EXPORT_OK; i++)
		sqlite_put(out, statement, "iii", id_of(edges[i].table), id_of(edges[i].key),
			   id_of(edges[i].value));
	sqlite3_finalize(statement);
}

static void put_sources(struct sqlite_out *out)
{
	sqlite3_stmt *statement =
		sqlite_prepare(out, "INSERT INTO root_sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
	const struct heapshot_graph *graph = out->export->graph;
	const struct heapshot_graph_source *sources;
	const struct heapshot_graph_kind *kinds;
	size_t n, n_kinds, i;

	sources = heapshot_graph_sources(graph, &n);
	kinds = heapshot_graph_kinds(graph, &n_kinds);
	for (i = 0; i < n; i++) {
		const struct heapshot_root_source *source = &sources[i].source;
		const uint32_t node = heapshot_graph_source_node(graph, (uint32_t)i);

		sqlite_put(out, statement, "iutttzzau", id_of((uint32_t)i),
			   out->export->snapshot->id, kinds[sources[i].kind].name, source->name,
			   source->handle_type, (uint64_t)source->type, (uint64_t)source->domain,
			   source->thread, heapshot_graph_retained(graph, node));
	}
	sqlite3_finalize(statement);
}

static void put_roots(struct sqlite_out *out)
{
	sqlite3_stmt *statement = sqlite_prepare(out, "INSERT INTO roots VALUES (?, ?, ?, ?, ?)");
	const struct heapshot_graph *graph = out->export->graph;
	const struct heapshot_graph_root *roots;
	size_t n, i;

	roots = heapshot_graph_roots(graph, &n);
	for (i = 0; i < n && out->result == EXPORT_OK; i++)
		sqlite_put(out, statement, "iiiba", (int64_t)i + 1, id_of(roots[i].object),
			   id_of(roots[i].source), (int)export_is_holding(graph, &roots[i]),
			   roots[i].address);
	sqlite3_finalize(statement);
}

static void put_dominators(struct sqlite_out *out, uint32_t n)
{
	sqlite3_stmt *statement = sqlite_prepare(out, "INSERT INTO dominators VALUES (?, ?, ?, ?)");
	const struct heapshot_graph *graph = out->export->graph;
	uint32_t i, index;

	for (i = 0; i < n && out->result == EXPORT_OK; i++) {
		if (!heapshot_graph_is_live(graph, i))
			continue;
		sqlite3_bind_int64(statement, 1, id_of(i));
		sqlite3_bind_null(statement, 2);
		sqlite3_bind_null(statement, 3);
		switch (heapshot_graph_node(graph, heapshot_graph_dominator(graph, i), &index)) {
		case HEAPSHOT_NODE_OBJECT:
			sqlite3_bind_int64(statement, 2, id_of(index));
			break;
		case HEAPSHOT_NODE_SOURCE:
			sqlite3_bind_int64(statement, 3, id_of(index));
			break;
		default: /* several sources hold it */
			break;
		}
		sqlite_bind_number(out, statement, 4, heapshot_graph_retained(graph, i));
		sqlite_step(out, statement);
		export_advance(out->export, 1);
	}
	sqlite3_finalize(statement);
}

static void put_totals(struct sqlite_out *out)
{
	sqlite3_stmt *statement =
		sqlite_prepare(out, "INSERT INTO type_totals VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	struct heapshot_graph_sum *sums = NULL;
	struct export_names names = {0};
	struct export_types types;
	size_t i;

	if (!export_types_make(&types, out->export->reader, out->export->graph, &names) ||
	    (sums = calloc(types.n + 1, sizeof(*sums))) == NULL ||
	    heapshot_graph_sums(out->export->graph, types.of_class, types.n, sums) !=
		    HEAPSHOT_READ_OK)
		out->result = export_fail_memory(out->export);
	for (i = 0; i < types.n && out->result == EXPORT_OK; i++) {
		const struct export_type *type = &types.list[i];

		sqlite_put(out, statement, "uttuuuuu", out->export->snapshot->id,
			   names.texts[type->name], names.texts[type->assembly], type->objects,
			   type->bytes, type->live_objects, type->live_bytes, sums[i].retained);
	}
	sqlite3_finalize(statement);
	free(sums);
	export_types_free(&types);
	export_names_free(&names);
}

void sqlite_put_graph(struct sqlite_out *out)
{
	struct heapshot_graph_counts counts;
	uint32_t n;

	if (out->result != EXPORT_OK)
		return;
	heapshot_graph_counts(out->export->graph, &counts);
	n = (uint32_t)counts.objects;
	put_totals(out);
	put_objects(out, n);
	put_all_references(out, n);
	put_ephemerons(out);
	put_sources(out);
	put_roots(out);
	put_dominators(out, n);
}
