/* SPDX-License-Identifier: MIT */
/*
 * Opening and freeing of a graph.
 */
#include <stdlib.h>

#include "contrib/reader/graph.h"

bool hs_starts_make(struct hs_memory *memory, struct hs_starts *starts, uint64_t n)
{
	size_t n_base = (size_t)(n >> HS_STARTS_SHIFT) + 1, n_low = (size_t)n + 1;

	starts->base = hs_memory_array(memory, n_base, sizeof(*starts->base));
	if (starts->base == NULL)
		return false;
	starts->n_base = n_base;
	starts->low = hs_memory_array(memory, n_low, sizeof(*starts->low));
	if (starts->low == NULL)
		return false;
	starts->n_low = n_low;
	return true;
}

void hs_starts_free(struct hs_memory *memory, struct hs_starts *starts)
{
	hs_memory_release(memory, starts->base, starts->n_base * sizeof(*starts->base));
	hs_memory_release(memory, starts->low, starts->n_low * sizeof(*starts->low));
	*starts = (struct hs_starts){0};
}

bool hs_starts_sum(struct hs_starts *starts, uint64_t *n_edges)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < starts->n_low; i++) {
		uint32_t degree = starts->low[i];

		if (i % ((size_t)1 << HS_STARTS_SHIFT) == 0)
			starts->base[i >> HS_STARTS_SHIFT] = n;
		if (n - starts->base[i >> HS_STARTS_SHIFT] > UINT32_MAX - degree)
			return false;
		starts->low[i] = (uint32_t)(n - starts->base[i >> HS_STARTS_SHIFT]);
		n += degree;
	}
	*n_edges = n;
	return true;
}

static void release(struct heapshot_graph *graph, void *block, uint64_t n, size_t size)
{
	hs_memory_release(graph->memory, block, n * size);
}

void hs_graph_forget(struct heapshot_graph *graph)
{
	struct hs_memory *memory = graph->memory;

	hs_index_free(memory, &graph->index);
	release(graph, graph->classes, hs_column_bytes(graph), 1);
	release(graph, graph->sizes, hs_column_bytes(graph), 1);
	release(graph, graph->scratch, hs_column_bytes(graph), 1);
	release(graph, graph->slacks, graph->n, sizeof(*graph->slacks));
	release(graph, graph->flags, graph->n, sizeof(*graph->flags));
	hs_idmap_free(memory, &graph->large_index);
	release(graph, graph->large, graph->room_large, sizeof(*graph->large));
	release(graph, graph->class_list, graph->room_classes, sizeof(*graph->class_list));
	hs_idmap_free(memory, &graph->class_index);
	hs_starts_free(memory, &graph->out);
	release(graph, graph->targets, graph->room_edges, sizeof(*graph->targets));
	release(graph, graph->gaps, graph->room_edges, sizeof(*graph->gaps));
	hs_idmap_free(memory, &graph->gap_index);
	release(graph, graph->large_gaps, graph->room_large_gaps, sizeof(*graph->large_gaps));
	hs_starts_free(memory, &graph->in);
	release(graph, graph->referrers, graph->room_referrers, sizeof(*graph->referrers));
	release(graph, graph->raw_ephemerons, graph->room_raw, sizeof(*graph->raw_ephemerons));
	release(graph, graph->ephemerons, graph->room_ephemerons, sizeof(*graph->ephemerons));
	release(graph, graph->by_key, graph->n_ephemerons, sizeof(*graph->by_key));
	release(graph, graph->by_value, graph->n_ephemerons, sizeof(*graph->by_value));
	release(graph, graph->by_table, graph->n_ephemerons, sizeof(*graph->by_table));
	hs_root_table_free(memory, &graph->table);
	release(graph, graph->roots, graph->room_roots, sizeof(*graph->roots));
	release(graph, graph->sources, graph->n_sources, sizeof(*graph->sources));
	release(graph, graph->kinds, graph->room_kinds, sizeof(*graph->kinds));
	release(graph, graph->roots_by_source, graph->n_roots, sizeof(*graph->roots_by_source));
	release(graph, graph->source_first, graph->source_first != NULL ? graph->n_sources + 1 : 0,
		sizeof(*graph->source_first));
	hs_graph_free_dominators(graph);
	*graph = (struct heapshot_graph){
		.reader = graph->reader,
		.memory = memory,
		.snapshot = graph->snapshot,
		.word_bytes = graph->word_bytes,
	};
}

void heapshot_graph_free(struct heapshot_graph *graph)
{
	if (graph == NULL)
		return;
	hs_graph_forget(graph);
	release(graph, graph, 1, sizeof(*graph));
}

/* Holds what was read against what the snapshot's end says. */
static enum heapshot_read_result judge(struct heapshot_graph *graph)
{
	const struct heapshot_snapshot *snapshot = graph->snapshot;
	const struct heapshot_graph_counts *counts = &graph->counts;
	const struct {
		const char *name;
		uint64_t found, stated;
	} sums[] = {
		{"objects", counts->objects + counts->repeated_objects, snapshot->objects},
		{"references", counts->references + counts->dangling_references,
		 snapshot->references},
		{"bytes", counts->bytes, snapshot->bytes},
		{"roots", counts->roots + counts->loose_roots, snapshot->roots},
		{"ephemeron edges", counts->ephemerons + counts->loose_ephemerons,
		 snapshot->ephemeron_edges},
	};
	unsigned long long id = snapshot->id;
	size_t i;

	if (graph->is_damaged)
		return HEAPSHOT_READ_DAMAGED;
	if (!snapshot->has_end || snapshot->status != 0 || snapshot->frames_lost != 0)
		return hs_fail(graph->reader, HEAPSHOT_READ_INCOMPLETE,
			       "snapshot %llu has no good end", id);
	for (i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		if (sums[i].found != sums[i].stated)
			return hs_fail(graph->reader, HEAPSHOT_READ_INCOMPLETE,
				       "snapshot %llu has %llu %s, its end says %llu", id,
				       (unsigned long long)sums[i].found, sums[i].name,
				       (unsigned long long)sums[i].stated);
	return HEAPSHOT_READ_OK;
}

enum heapshot_read_result heapshot_graph_open(struct heapshot_reader *reader,
					      const struct heapshot_snapshot *snapshot,
					      struct heapshot_graph **out)
{
	static enum heapshot_read_result (*const steps[])(struct heapshot_graph *) = {
		hs_graph_read_at_once,  hs_graph_find_objects, hs_graph_read_sizes,
		hs_graph_read_edges,    hs_graph_join_roots,   hs_graph_join_ephemerons,
		hs_graph_turn_and_mark,
	};
	enum { PASSES_FIRST = 1, PASSES_LAST = 3 };
	size_t used = reader->memory.used, i;
	struct heapshot_graph *graph;

	*out = NULL;
	if (!reader->is_open)
		return hs_fail(reader, HEAPSHOT_READ_MISUSE, "no recording is open");
	if (snapshot->is_stats_only)
		return hs_fail(reader, HEAPSHOT_READ_NOT_FOUND,
			       "snapshot %llu has types and counts only, no graph",
			       (unsigned long long)snapshot->id);
	graph = hs_memory_grow(&reader->memory, NULL, 0, sizeof(*graph));
	if (graph == NULL)
		return hs_fail_memory(reader);
	graph->reader = reader;
	graph->memory = &reader->memory;
	graph->snapshot = snapshot;
	graph->word_bytes = reader->header.word_bytes;
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		enum heapshot_read_result result;

		if (graph->is_read && i >= PASSES_FIRST && i <= PASSES_LAST)
			continue;
		result = steps[i](graph);
		if (result != HEAPSHOT_READ_OK) {
			heapshot_graph_free(graph);
			return result;
		}
	}
	graph->memory_before = used;
	graph->counts.memory_bytes = reader->memory.used - used;
	*out = graph;
	return judge(graph);
}
