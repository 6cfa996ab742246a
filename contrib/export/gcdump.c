/* SPDX-License-Identifier: MIT */
/*
 * The .gcdump format of PerfView, Visual Studio and dotnet-gcdump: .NET's
 * FastSerialization of a GCHeapDump with a MemoryGraph.  Written as a stream, in
 * two passes over the nodes: where each begins, then the nodes themselves.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "contrib/export/gcdump.h"
#include "contrib/reader/utf8.h"

enum tag {
	TAG_NULL = 1,
	TAG_BEGIN = 4, /* an object */
	TAG_END = 6,
	TAG_BYTE = 8,
	TAG_STRING = 13,
};

/* .NET counts time in 100 ns since the year 1. */
#define TICKS_OF_1970 621355968000000000u

/* A count of UTF-16 units, then each unit by itself in 1 to 3 bytes. */
static void put_string(struct export_output *output, const char *text)
{
	const char *at;
	uint32_t units = 0;

	if (text == NULL) {
		export_put_u32(output, UINT32_MAX);
		return;
	}
	for (at = text; *at != '\0';)
		units += hs_utf8_next(&at) >= 0x10000 ? 2 : 1;
	export_put_u32(output, units);
	for (at = text; *at != '\0';) {
		const char *from = at;
		const int32_t point = hs_utf8_next(&at);
		unsigned i;

		if (point < 0) {
			export_put(output, "\xEF\xBF\xBD", 3);
		} else if (point < 0x10000) {
			export_put(output, from, (size_t)(at - from));
		} else {
			const uint32_t unit[] = {0xD800 + (uint32_t)((point - 0x10000) >> 10),
						 0xDC00 + (uint32_t)(point & 0x3FF)};

			for (i = 0; i < 2; i++) {
				export_put_byte(output, (uint8_t)(0xE0 | unit[i] >> 12));
				export_put_byte(output, (uint8_t)(0x80 | (unit[i] >> 6 & 0x3F)));
				export_put_byte(output, (uint8_t)(0x80 | (unit[i] & 0x3F)));
			}
		}
	}
}

/* Begins an object of a type that is told here. */
static void put_begin(struct export_output *output, const char *type, uint32_t version,
		      uint32_t least_reader)
{
	export_put_byte(output, TAG_BEGIN);
	export_put_byte(output, TAG_BEGIN);
	export_put_byte(output, TAG_NULL);
	export_put_u32(output, version);
	export_put_u32(output, least_reader);
	put_string(output, type);
	export_put_byte(output, TAG_END);
}

/*
 * Viewers sum the sizes of nodes, which stand in each; dotnet-gcdump report shows
 * the size of the type as that of all its objects, so that is what it is here.
 */
static void put_types(struct gcdump *dump)
{
	struct export_output *output = dump->export->output;
	size_t i;

	export_put_u32(output, (uint32_t)(1 + dump->types.n + dump->n_pseudo_names));
	put_string(output, "UNDEFINED");
	export_put_u32(output, 0);
	put_string(output, NULL);
	for (i = 0; i < dump->types.n; i++) {
		const struct export_type *type = &dump->types.list[i];
		const char *assembly = dump->names.texts[type->assembly];

		put_string(output, dump->names.texts[type->name]);
		export_put_u32(output,
			       (uint32_t)(type->bytes < GCDUMP_MAX ? type->bytes : GCDUMP_MAX));
		put_string(output, *type->file != '\0' ? type->file
				   : *assembly != '\0' ? assembly
						       : NULL);
	}
	for (i = 0; i < dump->n_pseudo_names; i++) {
		put_string(output, dump->names.texts[dump->pseudo_names[i]]);
		export_put_u32(output, 0);
		put_string(output, NULL);
	}
}

/* Offsets of the nodes, then the nodes.  Offset 0 means "no such node". */
static enum export_result put_nodes(struct gcdump *dump, uint64_t n)
{
	struct export *export = dump->export;
	struct gcdump_blob sizes = {.bytes = 2}, blob = {.output = export->output, .bytes = 2};
	uint64_t i;

	export_put_u32(export->output, (uint32_t)n);
	for (i = 0; i < n; i++) {
		export_put_u32(export->output, (uint32_t)sizes.bytes);
		if (!gcdump_put_node(dump, &sizes, i))
			return EXPORT_REFUSED;
		if (sizes.bytes > GCDUMP_MAX)
			return export_fail(export, EXPORT_REFUSED,
					   "its nodes take more than 2 GB, the format's limit");
		export_advance(export, 1);
	}
	export_put_u32(export->output, (uint32_t)sizes.bytes);
	export_put_byte(export->output, 0);
	export_put_byte(export->output, 0);
	for (i = 0; i < n && !export->output->has_failed; i++) {
		gcdump_put_node(dump, &blob, i);
		export_advance(export, 1);
	}
	return EXPORT_OK;
}

static void put_addresses(struct gcdump *dump, uint64_t n)
{
	struct export_output *output = dump->export->output;
	uint64_t i;

	export_put_u32(output, (uint32_t)n);
	for (i = 0; i < n; i++)
		export_put_u64(output, i < dump->n_objects
					       ? heapshot_graph_address(dump->graph, (uint32_t)i)
					       : 0);
}

/* What is told of the process, and the end of the file. */
static void put_rest(struct gcdump *dump, bool is_64_bit)
{
	const struct export *export = dump->export;
	const struct heapshot_header *header = heapshot_reader_header(export->reader);
	struct export_output *output = export->output;
	uint64_t time_ns = header->wall_start_unix_ns + export->snapshot->time_ns, table;
	static const uint8_t one[] = {0, 0, 0x80, 0x3F}; /* 1.0 */

	export_put_byte(output, TAG_BYTE);
	export_put_byte(output, is_64_bit);
	export_put_byte(output, TAG_END); /* of the graph */
	export_put_byte(output, is_64_bit);
	export_put(output, one, sizeof(one)); /* multipliers of counts and sizes */
	export_put(output, one, sizeof(one));
	export_put_byte(output, TAG_NULL); /* no JavaScript, no segments */
	export_put_byte(output, TAG_NULL);
	put_string(output, NULL); /* log of the collection */
	export_put_u64(output, header->wall_start_unix_ns != 0 ? time_ns / 100 + TICKS_OF_1970 : 0);
	put_string(output, header->host_name);
	put_string(output, header->command_line);
	export_put_u32(output, (uint32_t)header->pid);
	export_put_u64(output, 0); /* committed memory, working set: not known */
	export_put_u64(output, 0);
	export_put_u32(output, 0); /* multipliers by type */
	export_put_byte(output, TAG_STRING);
	put_string(output, PACKAGE_NAME " " PACKAGE_VERSION);
	export_put_byte(output, TAG_END);
	export_put_byte(output, TAG_END);
	/* Where forward references lead to: there are none; readers do without in long files. */
	table = export_place(output);
	if (table > UINT32_MAX - 4)
		return;
	export_put_u32(output, 0);
	export_put_u32(output, (uint32_t)table);
	export_put_u32(output, (uint32_t)table + 4);
}

static enum export_result put_all(struct gcdump *dump)
{
	struct export *export = dump->export;
	struct export_output *output = export->output;
	struct heapshot_graph_counts counts;
	enum export_result result;
	uint64_t n;

	heapshot_graph_counts(dump->graph, &counts);
	n = counts.objects + dump->n_pseudos;
	export->all = 2 * n;
	if (n > GCDUMP_MAX || dump->types.n + dump->n_pseudo_names + 1 > GCDUMP_MAX / 2)
		return export_fail(export, EXPORT_REFUSED,
				   "%" PRIu64 " objects and roots; it may be 2^31 - 1", n);
	put_string(output, "!FastSerialization.1");
	put_begin(output, "GCHeapDump", 10, 8);
	put_begin(output, "Graphs.MemoryGraph", 1, 0);
	/* It has room: each object is below 2^31, or will be refused. */
	export_put_u64(output, counts.bytes);
	export_put_u32(output, dump->n_objects); /* the root's node */
	put_types(dump);
	result = put_nodes(dump, n);
	if (result != EXPORT_OK)
		return result;
	put_addresses(dump, n);
	put_rest(dump, heapshot_reader_header(export->reader)->word_bytes == 8);
	return EXPORT_OK;
}

enum export_result export_write_gcdump(struct export *export)
{
	struct gcdump dump = {.export = export, .graph = export->graph};
	struct heapshot_graph_counts counts;
	enum export_result result;

	heapshot_graph_counts(export->graph, &counts);
	dump.n_objects = (uint32_t)counts.objects;
	if (export_types_make(&dump.types, export->reader, export->graph, &dump.names) &&
	    gcdump_make_pseudos(&dump))
		result = put_all(&dump);
	else
		result = export_fail_memory(export);
	export_types_free(&dump.types);
	export_names_free(&dump.names);
	free(dump.pseudos);
	free(dump.children);
	free(dump.first_child);
	free(dump.pseudo_names);
	return result;
}
