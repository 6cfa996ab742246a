/* SPDX-License-Identifier: MIT */
/*
 * The third pass: references.
 */
#include "contrib/reader/graph.h"

bool hs_graph_set_gap(struct heapshot_graph *graph, uint64_t edge, uint64_t words)
{
	if (words < HS_GAP_LARGE) {
		graph->gaps[edge] = (uint8_t)words;
		return true;
	}
	graph->gaps[edge] = HS_GAP_LARGE;
	if (!hs_memory_reserve(graph->memory, &graph->large_gaps, graph->n_large_gaps,
			       &graph->room_large_gaps, sizeof(*graph->large_gaps)) ||
	    !hs_idmap_put(graph->memory, &graph->gap_index, edge, (uint32_t)graph->n_large_gaps))
		return false;
	graph->large_gaps[graph->n_large_gaps++] = words;
	return true;
}

/* Places in memory are asked for so many edges before they are needed. */
#define AHEAD 16

/* References whose targets are still to be looked up. */
struct pending {
	const struct hs_section *section; /* NULL: none */
	uint64_t edge;
	uint32_t bit;
};

struct edge_pass {
	struct heapshot_graph *graph;
	uint32_t *filled;     /* edges of each object that are there already */
	uint32_t last_object; /* whose slots were read last */
	uint64_t last_offset;
	struct pending pending[AHEAD];
	unsigned n_pending;
};

/* Looks up the targets that wait, each of which had time to come from memory. */
static void look_up(struct edge_pass *pass)
{
	unsigned i;

	for (i = 0; i < pass->n_pending; i++)
		pass->graph->targets[pass->pending[i].edge] =
			hs_section_find(pass->pending[i].section, pass->pending[i].bit);
	pass->n_pending = 0;
}

static inline void look_up_later(struct edge_pass *pass, uint64_t edge, uint64_t address,
				 struct hs_section_hint *hint)
{
	const struct hs_index *index = &pass->graph->index;
	const struct hs_section *section = hs_index_section(index, address, hint);
	uint32_t bit = hs_section_bit(index, address);

	if (section == NULL) {
		pass->graph->targets[edge] = HEAPSHOT_GRAPH_NONE;
		return;
	}
	__builtin_prefetch(&section->parts[bit / 64]);
	pass->pending[pass->n_pending++] = (struct pending){section, edge, bit};
	if (pass->n_pending == AHEAD)
		look_up(pass);
}

/* Offset of the slot that was filled last. */
static uint64_t last_offset(const struct edge_pass *pass, uint32_t object)
{
	const struct heapshot_graph *graph = pass->graph;
	uint64_t edge = hs_start(&graph->out, object), end = edge + pass->filled[object];
	uint64_t words = 0;

	for (; edge < end; edge++)
		words += hs_gap(graph, edge);
	return words << graph->index.word_shift;
}

static bool add_edges(struct edge_pass *pass, uint32_t object, const struct hs_decoded_row *row,
		      struct hs_section_hint *hint)
{
	struct heapshot_graph *graph = pass->graph;
	uint64_t start = hs_start(&graph->out, object), edge = start + pass->filled[object];
	uint64_t end = hs_start(&graph->out, (uint64_t)object + 1), before, i;

	/* Rows of an object follow each other, but for damaged files. */
	before = pass->filled[object] == 0     ? 0
		 : object == pass->last_object ? pass->last_offset
					       : last_offset(pass, object);
	for (i = 0; i < row->n_refs && edge < end; i++, edge++) {
		uint64_t offset = row->offsets[i];

		/* Slots that go back can be told from what a file holds only. */
		if (!hs_graph_set_gap(graph, edge, (offset - before) >> graph->index.word_shift))
			return false;
		before = offset;
		look_up_later(pass, edge, row->refs[i], hint);
	}
	pass->filled[object] = (uint32_t)(edge - start);
	pass->last_object = object;
	pass->last_offset = before;
	return true;
}

static enum heapshot_read_result take_edges(void *user_data, const struct heapshot_record *record)
{
	struct edge_pass *pass = user_data;
	struct heapshot_graph *graph = pass->graph;
	struct hs_section_hint hint = {0}, target_hint = {0};
	enum heapshot_read_result result;
	struct hs_decoded_row row;
	const char *error = NULL;
	int n;

	if (record->field != HEAPSHOT__RECORD__BODY_OBJECT_BATCH)
		return HEAPSHOT_READ_OK;
	result = heapshot_reader_begin_objects(graph->reader, record, true, NULL);
	if (result != HEAPSHOT_READ_OK)
		return result;
	while ((n = hs_batch_next(graph->reader->batch, &row, &error)) > 0) {
		uint32_t object;

		if (row.n_refs == 0)
			continue;
		object = hs_index_find(&graph->index, row.address, &hint);
		if (object != UINT32_MAX && !add_edges(pass, object, &row, &target_hint))
			return hs_fail_memory(graph->reader);
	}
	look_up(pass);
	return n == 0 ? HEAPSHOT_READ_OK : hs_bad_record(graph->reader, error);
}

enum heapshot_read_result hs_graph_close_gaps(struct heapshot_graph *graph, const uint32_t *filled)
{
	uint64_t out = 0, edge, end, next, words, base = 0;
	uint32_t i;

	for (i = 0, next = 0; i < graph->n; i++) {
		uint64_t start = next;

		/* Starts of this object and of those before it are new ones already. */
		if ((i & ((1u << HS_STARTS_SHIFT) - 1)) == 0)
			base = graph->out.base[i >> HS_STARTS_SHIFT];
		if (((i + 1) & ((1u << HS_STARTS_SHIFT) - 1)) == 0)
			base = graph->out.base[(i + 1) >> HS_STARTS_SHIFT];
		next = end = base + graph->out.low[i + 1];
		if (filled != NULL) {
			graph->counts.dangling_references += end - start - filled[i];
			end = start + filled[i];
		}
		words = 0;
		if ((i & ((1u << HS_STARTS_SHIFT) - 1)) == 0)
			graph->out.base[i >> HS_STARTS_SHIFT] = out;
		graph->out.low[i] = (uint32_t)(out - graph->out.base[i >> HS_STARTS_SHIFT]);
		for (edge = start; edge < end; edge++) {
			words += hs_gap(graph, edge);
			if (graph->targets[edge] == HEAPSHOT_GRAPH_NONE) {
				graph->counts.dangling_references++;
				continue;
			}
			graph->targets[out] = graph->targets[edge];
			if (!hs_graph_set_gap(graph, out, words))
				return hs_fail_memory(graph->reader);
			out++;
			words = 0;
		}
	}
	if ((graph->n & ((1u << HS_STARTS_SHIFT) - 1)) == 0)
		graph->out.base[graph->n >> HS_STARTS_SHIFT] = out;
	graph->out.low[graph->n] = (uint32_t)(out - graph->out.base[graph->n >> HS_STARTS_SHIFT]);
	graph->n_edges = out;
	return HEAPSHOT_READ_OK;
}

static bool has_gaps(const struct heapshot_graph *graph, const uint32_t *filled)
{
	uint64_t edge;
	uint32_t i;

	for (edge = 0; edge < graph->n_edges; edge++)
		if (graph->targets[edge] == HEAPSHOT_GRAPH_NONE)
			return true;
	for (i = 0; i < graph->n; i++)
		if (filled[i] != hs_start(&graph->out, (uint64_t)i + 1) - hs_start(&graph->out, i))
			return true;
	return false;
}

enum heapshot_read_result hs_graph_read_edges(struct heapshot_graph *graph)
{
	struct edge_pass pass = {.graph = graph, .last_object = HEAPSHOT_GRAPH_NONE};
	struct hs_memory *memory = graph->memory;
	enum heapshot_read_result result;

	if (graph->n_edges > SIZE_MAX / sizeof(*graph->targets))
		return hs_fail_memory(graph->reader);
	graph->targets = hs_memory_array(memory, graph->n_edges, sizeof(*graph->targets));
	graph->room_edges = graph->n_edges;
	if (graph->n_edges > 0 && graph->targets == NULL)
		return hs_fail_memory(graph->reader);
	graph->gaps = hs_memory_array(memory, graph->n_edges, sizeof(*graph->gaps));
	if (graph->n_edges > 0 && graph->gaps == NULL)
		return hs_fail_memory(graph->reader);
	pass.filled = hs_memory_array(memory, graph->n, sizeof(*pass.filled));
	if (graph->n > 0 && pass.filled == NULL)
		return hs_fail_memory(graph->reader);
	result =
		hs_read_body(graph->reader, graph->snapshot, take_edges, &pass, &graph->is_damaged);
	if (result == HEAPSHOT_READ_OK && has_gaps(graph, pass.filled))
		result = hs_graph_close_gaps(graph, pass.filled);
	graph->counts.references = graph->n_edges;
	hs_memory_release(memory, pass.filled, graph->n * sizeof(*pass.filled));
	return result;
}
