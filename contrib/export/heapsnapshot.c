/* SPDX-License-Identifier: MIT */
/*
 * The .heapsnapshot format of Chromium's DevTools: one JSON object that its loader
 * scans forward, so the order of its keys matters.  Written as a stream, in one
 * pass for the nodes and one for the edges; the texts come last.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/export/heapsnapshot.h"
#include "contrib/export/strings.h"

/* Texts are read as one string, which V8 allows about that many of. */
#define TEXT_BYTES_MAX (500u << 20)

static const char meta[] =
	"{\"snapshot\":{\"meta\":{"
	"\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_id\","
	"\"detachedness\"],"
	"\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\","
	"\"regexp\",\"number\",\"native\",\"synthetic\",\"concatenated string\",\"sliced string\","
	"\"symbol\",\"bigint\",\"object shape\"],"
	"\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],"
	"\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],"
	"\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\","
	"\"shortcut\",\"weak\"],\"string_or_number\",\"node\"],"
	"\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\",\"script_id\","
	"\"line\",\"column\"],"
	"\"trace_node_fields\":[\"id\",\"function_info_index\",\"count\",\"size\",\"children\"],"
	"\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],"
	"\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]}";

/* The number of NAME, as viewers show it as it is. */
static uint32_t name_type(struct snapshot_writer *writer, const char *name)
{
	char safe[1024];

	/* DevTools renames objects of these, or cuts them at a blank. */
	if (strcmp(name, "Object") != 0 && strcmp(name, "Array") != 0 && *name != '<' &&
	    strncmp(name, "Detached ", 9) != 0)
		return export_name(&writer->names, name);
	snprintf(safe, sizeof(safe), "global::%.1000s", name);
	return export_name(&writer->names, safe);
}

static void put_strings(struct snapshot_writer *writer)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < writer->names.n; i++)
		bytes += strlen(writer->names.texts[i]) + 4;
	if (bytes > TEXT_BYTES_MAX) {
		writer->result = export_fail(writer->export, EXPORT_REFUSED,
					     "%" PRIu64 " bytes of names; viewers take %u", bytes,
					     TEXT_BYTES_MAX);
		return;
	}
	export_put_text(writer->output, "\n\"strings\":[");
	for (i = 0; i < writer->names.n; i++) {
		export_put_text(writer->output, i > 0 ? ",\n" : "\n");
		export_put_json_text(writer->output, writer->names.texts[i]);
	}
	export_put_text(writer->output, "]}\n");
}

/* Names of types, by place in types.  False without memory. */
static bool name_types(struct snapshot_writer *writer, uint32_t *names)
{
	size_t i;

	for (i = 0; i < writer->types.n; i++) {
		names[i] = name_type(writer, writer->names.texts[writer->types.list[i].name]);
		if (names[i] == EXPORT_NO_NAME)
			return false;
	}
	return true;
}

static enum export_result put_all(struct snapshot_writer *writer, uint32_t *names)
{
	struct export *export = writer->export;
	struct heapshot_graph_counts counts;
	uint64_t n_edges;

	heapshot_graph_counts(writer->graph, &counts);
	n_edges = snapshot_count_edges(writer);
	export->all = counts.nodes + n_edges;
	/* Places in the lists are numbers of 32 bits. */
	if (counts.nodes > UINT32_MAX / NODE_FIELDS || n_edges > UINT32_MAX / EDGE_FIELDS)
		return export_fail(
			export, EXPORT_REFUSED,
			"%" PRIu64 " objects and %" PRIu64 " references; it may be %u and %u",
			counts.nodes, n_edges, UINT32_MAX / NODE_FIELDS, UINT32_MAX / EDGE_FIELDS);
	if (!name_types(writer, names))
		return export_fail_memory(export);
	writer->weak = export_name(&writer->names, "weak");
	writer->value = export_name(&writer->names, "value of it in a ConditionalWeakTable");
	export_put_text(writer->output, meta);
	export_put_text(writer->output, ",\"node_count\":");
	export_put_number(writer->output, counts.nodes);
	export_put_text(writer->output, ",\"edge_count\":");
	export_put_number(writer->output, n_edges);
	export_put_text(writer->output, ",\"trace_function_count\":0},\n\"nodes\":[");
	snapshot_put_nodes(writer, names);
	if (writer->result != EXPORT_OK)
		return writer->result;
	export_put_text(writer->output, "],\n\"edges\":[");
	if (!snapshot_put_edges(writer))
		return export_fail_memory(export);
	export_put_text(writer->output, "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n"
					"\"samples\":[],\n\"locations\":[],");
	put_strings(writer);
	return writer->result;
}

enum export_result export_write_heapsnapshot(struct export *export)
{
	struct snapshot_writer writer = {
		.export = export,
		.output = export->output,
		.graph = export->graph,
	};
	struct heapshot_graph_counts counts;
	enum export_result result;
	uint32_t *names = NULL;
	size_t n;

	heapshot_graph_counts(export->graph, &counts);
	writer.n_objects = (uint32_t)counts.objects;
	writer.kinds = heapshot_graph_kinds(export->graph, &writer.n_kinds);
	writer.sources = heapshot_graph_sources(export->graph, &writer.n_sources);
	writer.classes = heapshot_graph_classes(export->graph, &n);
	writer.slots = (struct export_slots){.reader = export->reader, .names = &writer.names};
	writer.by_address = snapshot_fit_ids(&writer);
	if (export_types_make(&writer.types, export->reader, export->graph, &writer.names) &&
	    (names = calloc(writer.types.n + 1, sizeof(*names))) != NULL &&
	    export_strings_read(export, &writer.names, &writer.texts))
		result = put_all(&writer, names);
	else
		result = export_fail_memory(export);
	free(names);
	free(writer.texts);
	export_slots_free(&writer.slots);
	export_types_free(&writer.types);
	export_names_free(&writer.names);
	return result;
}
