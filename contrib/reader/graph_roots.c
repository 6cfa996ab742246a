/* SPDX-License-Identifier: MIT */
/*
 * What holds objects from outside, joined with the objects: roots, their
 * sources and kinds; and the edges of ephemerons.
 */
#include <string.h>

#include "contrib/reader/graph.h"
#include "contrib/reader/sort.h"

static inline bool is_less(const uint64_t *a, const uint64_t *b)
{
	return *a < *b;
}

HS_DEFINE_SORT(sort_pairs, uint64_t, is_less)

size_t hs_first_pair(const uint64_t *pairs, size_t n, uint32_t object)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs[middle] >> 32 < object)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const char *kind_name(const struct heapshot_root_source *source)
{
	return *source->kind_text ? source->kind_text : heapshot_root_kind_name(source->kind);
}

static bool is_holding(const struct heapshot_root_source *source)
{
	return source->kind != HEAPSHOT__ROOT_KIND__ROOT_KIND_EPHEMERON &&
	       strncmp(source->handle_type, "weak", 4) != 0;
}

/* Place of the kind of SOURCE, added when it is new; SIZE_MAX without memory. */
static size_t get_kind(struct heapshot_graph *graph, const struct heapshot_root_source *source)
{
	const char *name = kind_name(source);
	size_t i;

	for (i = 0; i < graph->n_kinds; i++)
		if (graph->kinds[i].kind == source->kind && strcmp(graph->kinds[i].name, name) == 0)
			return i;
	/* Texts are the file's to choose: no more of them than a search can bear. */
	if (graph->n_kinds >= 256)
		return graph->n_kinds - 1;
	if (!hs_memory_reserve(graph->memory, &graph->kinds, graph->n_kinds, &graph->room_kinds,
			       sizeof(*graph->kinds)))
		return SIZE_MAX;
	graph->kinds[graph->n_kinds] =
		(struct heapshot_graph_kind){.name = name, .kind = source->kind};
	return graph->n_kinds++;
}

/* Orders the sources by kind; PLACES[i] is where the table's number I went. */
static bool order_sources(struct heapshot_graph *graph, uint32_t *places)
{
	const struct hs_root_table *table = &graph->table;
	uint32_t next = 0;
	size_t i;

	for (i = 0; i < table->n_sources; i++) {
		size_t kind = get_kind(graph, &table->sources[i]);

		if (kind == SIZE_MAX)
			return false;
		places[i] = (uint32_t)kind;
		graph->kinds[kind].n_sources++;
	}
	for (i = 0; i < graph->n_kinds; i++) {
		graph->kinds[i].first_source = next;
		next += graph->kinds[i].n_sources;
		graph->kinds[i].n_sources = 0;
	}
	for (i = 0; i < table->n_sources; i++) {
		struct heapshot_graph_kind *kind = &graph->kinds[places[i]];
		uint32_t place = kind->first_source + kind->n_sources++;

		graph->sources[place] = (struct heapshot_graph_source){
			.source = table->sources[i],
			.kind = places[i],
			.is_holding = is_holding(&table->sources[i]),
		};
		places[i] = place;
	}
	return true;
}

static bool take_roots(struct heapshot_graph *graph, const uint32_t *places)
{
	struct hs_root_table *table = &graph->table;
	struct hs_section_hint hint = {0};
	size_t i;

	hs_roots_sort(table);
	for (i = 0; i < table->n_roots; i++) {
		const struct heapshot_root *root = &table->roots[i];
		uint32_t object = hs_index_find(&graph->index, root->object, &hint);

		if (object == UINT32_MAX) {
			graph->counts.loose_roots++;
			continue;
		}
		if (!hs_memory_reserve(graph->memory, &graph->roots, graph->n_roots,
				       &graph->room_roots, sizeof(*graph->roots)))
			return false;
		graph->flags[object] |= HEAPSHOT_GRAPH_ROOTED;
		graph->roots[graph->n_roots++] =
			(struct heapshot_graph_root){root->address, object, places[root->source]};
	}
	hs_memory_release(graph->memory, table->roots, table->room_roots * sizeof(*table->roots));
	table->roots = NULL;
	table->n_roots = table->room_roots = 0;
	return true;
}

/* Lists the roots of each source. */
static bool list_by_source(struct heapshot_graph *graph)
{
	uint64_t *first = hs_memory_array(graph->memory, graph->n_sources + 1, sizeof(*first));
	size_t i;

	graph->source_first = first;
	graph->roots_by_source =
		hs_memory_array(graph->memory, graph->n_roots, sizeof(*graph->roots_by_source));
	if (first == NULL || (graph->roots_by_source == NULL && graph->n_roots > 0))
		return false;
	for (i = 0; i < graph->n_roots; i++) {
		struct heapshot_graph_source *source = &graph->sources[graph->roots[i].source];

		source->n_roots++;
		graph->kinds[source->kind].n_roots++;
	}
	for (i = 0; i < graph->n_sources; i++)
		first[i + 1] = first[i] + graph->sources[i].n_roots;
	for (i = 0; i < graph->n_roots; i++)
		graph->roots_by_source[first[graph->roots[i].source]++] = (uint32_t)i;
	for (i = graph->n_sources; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
	return true;
}

enum heapshot_read_result hs_graph_join_roots(struct heapshot_graph *graph)
{
	struct hs_memory *memory = graph->memory;
	size_t n = graph->table.n_sources;
	uint32_t *places;
	bool has_memory;

	if (graph->table.n_roots > UINT32_MAX)
		return hs_graph_too_many(graph);
	if (graph->flags == NULL)
		graph->flags = hs_memory_grow(memory, NULL, 0, graph->n);
	if (graph->flags == NULL && graph->n > 0)
		return hs_fail_memory(graph->reader);
	graph->sources = hs_memory_array(memory, n, sizeof(*graph->sources));
	if (graph->sources != NULL)
		graph->n_sources = n;
	places = hs_memory_array(memory, n, sizeof(*places));
	has_memory = n == 0 || (graph->sources != NULL && places != NULL);
	has_memory = has_memory && order_sources(graph, places) && take_roots(graph, places) &&
		     list_by_source(graph);
	if (places != NULL)
		hs_memory_release(memory, places, n * sizeof(*places));
	if (!has_memory)
		return hs_fail_memory(graph->reader);
	graph->counts.roots = graph->n_roots;
	graph->counts.sources = graph->n_sources;
	graph->counts.kinds = graph->n_kinds;
	graph->counts.nodes = graph->counts.objects + 1 + graph->n_kinds + graph->n_sources;
	return HEAPSHOT_READ_OK;
}

/* ---- Ephemerons ---- */

static bool list_by(struct heapshot_graph *graph, uint64_t **pairs, size_t field)
{
	size_t i;

	*pairs = hs_memory_array(graph->memory, graph->n_ephemerons, sizeof(**pairs));
	if (*pairs == NULL)
		return graph->n_ephemerons == 0;
	for (i = 0; i < graph->n_ephemerons; i++) {
		uint32_t object;

		memcpy(&object, (const char *)&graph->ephemerons[i] + field, sizeof(object));
		(*pairs)[i] = (uint64_t)object << 32 | i;
	}
	sort_pairs(*pairs, graph->n_ephemerons);
	return true;
}

/* Orders the ephemerons themselves by key, so that those of one value have equal keys together. */
static bool order_by_key(struct heapshot_graph *graph)
{
	size_t n = graph->n_ephemerons, i;
	struct heapshot_graph_ephemeron *ordered =
		hs_memory_array(graph->memory, n, sizeof(*ordered));

	if (ordered == NULL)
		return n == 0;
	for (i = 0; i < n; i++) {
		ordered[i] = graph->ephemerons[(uint32_t)graph->by_key[i]];
		graph->by_key[i] = (uint64_t)ordered[i].key << 32 | i;
	}
	hs_memory_release(graph->memory, graph->ephemerons,
			  graph->room_ephemerons * sizeof(*graph->ephemerons));
	graph->ephemerons = ordered;
	graph->room_ephemerons = n;
	return true;
}

enum heapshot_read_result hs_graph_join_ephemerons(struct heapshot_graph *graph)
{
	struct hs_section_hint hint = {0};
	size_t i;

	if (graph->n_raw > UINT32_MAX)
		return hs_graph_too_many(graph);
	for (i = 0; i < graph->n_raw; i++) {
		const struct heapshot_ephemeron *raw = &graph->raw_ephemerons[i];
		struct heapshot_graph_ephemeron edge = {
			hs_index_find(&graph->index, raw->table, &hint),
			hs_index_find(&graph->index, raw->key, &hint),
			hs_index_find(&graph->index, raw->value, &hint),
		};

		if (edge.table == UINT32_MAX || edge.key == UINT32_MAX ||
		    edge.value == UINT32_MAX) {
			graph->counts.loose_ephemerons++;
			continue;
		}
		if (!hs_memory_reserve(graph->memory, &graph->ephemerons, graph->n_ephemerons,
				       &graph->room_ephemerons, sizeof(*graph->ephemerons)))
			return hs_fail_memory(graph->reader);
		graph->ephemerons[graph->n_ephemerons++] = edge;
		graph->flags[edge.table] |= HEAPSHOT_GRAPH_EPH_TABLE;
		graph->flags[edge.key] |= HEAPSHOT_GRAPH_KEY;
		graph->flags[edge.value] |= HEAPSHOT_GRAPH_VALUE;
	}
	hs_memory_release(graph->memory, graph->raw_ephemerons,
			  graph->room_raw * sizeof(*graph->raw_ephemerons));
	graph->raw_ephemerons = NULL;
	graph->room_raw = graph->n_raw = 0;
	graph->counts.ephemerons = graph->n_ephemerons;
	if (!list_by(graph, &graph->by_key, offsetof(struct heapshot_graph_ephemeron, key)) ||
	    !order_by_key(graph) ||
	    !list_by(graph, &graph->by_value, offsetof(struct heapshot_graph_ephemeron, value)) ||
	    !list_by(graph, &graph->by_table, offsetof(struct heapshot_graph_ephemeron, table)))
		return hs_fail_memory(graph->reader);
	return HEAPSHOT_READ_OK;
}
