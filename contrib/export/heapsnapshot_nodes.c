/* SPDX-License-Identifier: MIT */
/*
 * Nodes of a heapsnapshot.
 */
#include <inttypes.h>
#include <stdio.h>

#include "contrib/export/heapsnapshot.h"

/* Places in "node_types". */
enum node_type { NODE_STRING = 2, NODE_OBJECT = 3, NODE_SYNTHETIC = 9 };

/*
 * Comparison of two snapshots goes by ids: those made of addresses stay while an
 * object stays.  Objects have odd ones, as in V8.
 */
static uint64_t id_of(const struct snapshot_writer *writer, uint32_t object)
{
	const uint64_t word = heapshot_reader_header(writer->export->reader)->word_bytes;

	if (!writer->by_address)
		return (uint64_t)object * 2 + 1;
	return (heapshot_graph_address(writer->graph, object) / word & 0x7FFFFFFF) * 2 + 1;
}

static void put_node(struct snapshot_writer *writer, unsigned type, uint64_t name, uint64_t id,
		     uint64_t size, uint64_t n_edges)
{
	const uint64_t fields[] = {type, name, id, size, n_edges};
	size_t i;

	export_put_text(writer->output, writer->n_nodes++ > 0 ? ",\n" : "\n");
	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		export_put_number(writer->output, fields[i]);
		export_put_byte(writer->output, ',');
	}
	export_put(writer->output, "0,0", 3); /* trace_node_id, detachedness */
	export_advance(writer->export, 1);
}

/* Live ephemerons whose key OBJECT is. */
static uint64_t count_values(const struct snapshot_writer *writer, uint32_t object)
{
	struct heapshot_graph_walk walk;
	struct heapshot_graph_edge edge;
	uint64_t n = 0;

	heapshot_graph_walk_begin(writer->graph, object, &walk);
	while (heapshot_graph_walk_next(&walk, &edge))
		n += edge.is_ephemeron;
	return n;
}

static void put_synthetic_nodes(struct snapshot_writer *writer)
{
	uint64_t id = 0;
	size_t i;

	put_node(writer, NODE_SYNTHETIC, export_name(&writer->names, ""), id, 0, writer->n_kinds);
	for (i = 0; i < writer->n_kinds; i++) {
		char name[1024];

		snprintf(name, sizeof(name), "(%.1000s)", writer->kinds[i].name);
		put_node(writer, NODE_SYNTHETIC, export_name(&writer->names, name), id += 2, 0,
			 writer->kinds[i].n_sources);
	}
	for (i = 0; i < writer->n_sources; i++) {
		const struct heapshot_root_source *source = &writer->sources[i].source;
		char name[1024];

		snprintf(name, sizeof(name), "(%.200s%s%.800s)",
			 writer->kinds[writer->sources[i].kind].name,
			 *source->name != '\0' || *source->handle_type != '\0' ? " " : "",
			 *source->name != '\0' ? source->name : source->handle_type);
		put_node(writer, NODE_SYNTHETIC, export_name(&writer->names, name), id += 2, 0,
			 writer->sources[i].n_roots);
	}
}

static void put_objects(struct snapshot_writer *writer, const uint32_t *names)
{
	struct heapshot_graph_object object;
	uint32_t i;

	for (i = 0; i < writer->n_objects && !writer->output->has_failed; i++) {
		uint64_t n_edges;

		heapshot_graph_object(writer->graph, i, &object);
		n_edges = object.n_references;
		if (object.flags & HEAPSHOT_GRAPH_KEY)
			n_edges += count_values(writer, i);
		if (object.size > UINT32_MAX) {
			writer->result = export_fail(
				writer->export, EXPORT_REFUSED,
				"an object of %" PRIu64 " bytes; it may be 2^32 - 1", object.size);
			return;
		}
		if (writer->texts != NULL && writer->texts[i] != EXPORT_NO_NAME)
			put_node(writer, NODE_STRING, writer->texts[i], id_of(writer, i),
				 object.size, n_edges);
		else
			put_node(writer, NODE_OBJECT,
				 names[writer->types.of_class[object.class_index]],
				 id_of(writer, i), object.size, n_edges);
	}
}

void snapshot_put_nodes(struct snapshot_writer *writer, const uint32_t *names)
{
	put_synthetic_nodes(writer);
	put_objects(writer, names);
}

bool snapshot_fit_ids(const struct snapshot_writer *writer)
{
	const uint64_t word = heapshot_reader_header(writer->export->reader)->word_bytes;

	return writer->n_objects == 0 ||
	       (heapshot_graph_address(writer->graph, writer->n_objects - 1) -
		heapshot_graph_address(writer->graph, 0)) /
			       word <
		       (uint64_t)1 << 31;
}
