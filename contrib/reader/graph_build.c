/* SPDX-License-Identifier: MIT */
/*
 * The first two of three passes over a snapshot: where objects are; their types,
 * sizes and numbers of references.  No pass relies on the order of rows, nor on
 * a file that says the same each time it is read.  What recorders write is read
 * in one pass, see graph_rows.c.
 */
#include <string.h>

#include "contrib/reader/graph.h"

/* ---- First: addresses; roots and ephemerons too, since they come by ---- */

static bool add_ephemeron(void *user_data, const struct heapshot_ephemeron *edge)
{
	struct heapshot_graph *graph = user_data;

	if (!hs_memory_reserve(graph->memory, &graph->raw_ephemerons, graph->n_raw,
			       &graph->room_raw, sizeof(*graph->raw_ephemerons))) {
		graph->is_short = true;
		return false;
	}
	graph->raw_ephemerons[graph->n_raw++] = *edge;
	return true;
}

enum heapshot_read_result hs_graph_add_ephemerons(struct heapshot_graph *graph,
						  const struct heapshot_record *record)
{
	enum heapshot_read_result result =
		heapshot_reader_each_ephemeron(graph->reader, record, add_ephemeron, graph);

	return graph->is_short ? hs_fail_memory(graph->reader) : result;
}

static enum heapshot_read_result take_addresses(void *user_data,
						const struct heapshot_record *record)
{
	struct heapshot_graph *graph = user_data;
	enum heapshot_read_result result;
	struct hs_decoded_row row;
	const char *error = NULL;
	bool is_new;
	int n;

	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_ROOT_BATCH:
		return hs_roots_add(graph->reader, record);
	case HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH:
		return hs_graph_add_ephemerons(graph, record);
	case HEAPSHOT__RECORD__BODY_OBJECT_BATCH:
		break;
	default:
		return HEAPSHOT_READ_OK;
	}
	result = heapshot_reader_begin_objects(graph->reader, record, false, NULL);
	if (result != HEAPSHOT_READ_OK)
		return result;
	while ((n = hs_batch_next(graph->reader->batch, &row, &error)) > 0) {
		if (row.is_continuation)
			continue;
		if (!hs_index_add(graph->memory, &graph->index, row.address, &is_new))
			return hs_fail_memory(graph->reader);
		graph->counts.repeated_objects += !is_new;
	}
	return n == 0 ? HEAPSHOT_READ_OK : hs_bad_record(graph->reader, error);
}

enum heapshot_read_result hs_graph_find_objects(struct heapshot_graph *graph)
{
	struct heapshot_reader *reader = graph->reader;
	enum heapshot_read_result result;
	uint64_t n;

	hs_index_init(&graph->index, graph->word_bytes);
	hs_roots_free(reader);
	result = hs_read_body(reader, graph->snapshot, take_addresses, graph, &graph->is_damaged);
	graph->table = reader->roots;
	reader->roots = (struct hs_root_table){0};
	if (result != HEAPSHOT_READ_OK)
		return result;
	if (!hs_index_finish(graph->memory, &graph->index, &n))
		return hs_fail_memory(reader);
	/* Kinds and sources of roots need numbers behind the objects. */
	if (n + 2 * (uint64_t)graph->table.n_sources + 1 >= HEAPSHOT_GRAPH_NONE)
		return hs_fail(reader, HEAPSHOT_READ_MEMORY,
			       "snapshot %llu has %llu objects; a graph has room for 2^32 nodes",
			       (unsigned long long)graph->snapshot->id, (unsigned long long)n);
	graph->n = (uint32_t)n;
	graph->counts.objects = n;
	return HEAPSHOT_READ_OK;
}

/* ---- Second: types, sizes, numbers of references ---- */

enum heapshot_read_result hs_graph_too_many(struct heapshot_graph *graph)
{
	return hs_fail(graph->reader, HEAPSHOT_READ_MEMORY,
		       "snapshot %llu has 2^32 references between few objects; refused",
		       (unsigned long long)graph->snapshot->id);
}

static enum heapshot_read_result take_sizes(void *user_data, const struct heapshot_record *record)
{
	struct heapshot_graph *graph = user_data;
	struct hs_section_hint hint = {0};
	enum heapshot_read_result result;
	struct hs_recent_classes recent = {0};
	struct hs_decoded_row row;
	const char *error = NULL;
	int n;

	if (record->field != HEAPSHOT__RECORD__BODY_OBJECT_BATCH)
		return HEAPSHOT_READ_OK;
	result = heapshot_reader_begin_objects(graph->reader, record, false, NULL);
	if (result != HEAPSHOT_READ_OK)
		return result;
	while ((n = hs_batch_next(graph->reader->batch, &row, &error)) > 0) {
		uint32_t object = hs_index_find(&graph->index, row.address, &hint);

		if (object == UINT32_MAX) { /* its first row is lost */
			graph->counts.lost_parts++;
			continue;
		}
		if (__builtin_add_overflow(graph->out.low[object], (uint32_t)row.n_refs,
					   &graph->out.low[object]))
			return hs_graph_too_many(graph);
		if (!row.is_continuation && graph->classes[object] == HS_NO_CLASS &&
		    !hs_graph_set_object(graph, object, &row, &recent))
			return hs_fail_memory(graph->reader);
	}
	return n == 0 ? HEAPSHOT_READ_OK : hs_bad_record(graph->reader, error);
}

enum heapshot_read_result hs_graph_read_sizes(struct heapshot_graph *graph)
{
	struct hs_memory *memory = graph->memory;
	enum heapshot_read_result result;
	uint32_t i;

	graph->classes = hs_memory_grow(memory, NULL, 0, hs_column_bytes(graph));
	graph->sizes = hs_memory_grow(memory, NULL, 0, hs_column_bytes(graph));
	graph->slacks = hs_memory_array(memory, graph->n, sizeof(*graph->slacks));
	if (graph->n > 0 &&
	    (graph->classes == NULL || graph->sizes == NULL || graph->slacks == NULL))
		return hs_fail_memory(graph->reader);
	if (!hs_starts_make(memory, &graph->out, graph->n))
		return hs_fail_memory(graph->reader);
	if (graph->n > 0)
		memset(graph->classes, 0xFF, graph->n * sizeof(*graph->classes));
	result =
		hs_read_body(graph->reader, graph->snapshot, take_sizes, graph, &graph->is_damaged);
	if (result != HEAPSHOT_READ_OK)
		return result;
	for (i = 0; i < graph->n; i++)
		if (graph->classes[i] == HS_NO_CLASS)
			return hs_fail(graph->reader, HEAPSHOT_READ_IO,
				       "the recording changes while it is read");
	if (!hs_starts_sum(&graph->out, &graph->n_edges))
		return hs_graph_too_many(graph);
	return HEAPSHOT_READ_OK;
}
