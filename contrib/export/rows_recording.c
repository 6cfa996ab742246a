/* SPDX-License-Identifier: MIT */
/*
 * Tables of the recording as a whole: its snapshots, types and domains.
 */
#include "config.h"

#include <stdlib.h>

#include "contrib/export/rows.h"

static void put_header(struct rows *rows)
{
	const struct heapshot_header *header = heapshot_reader_header(rows->export->reader);

	rows_put(rows, ROWS_RECORDING, "tttuttttttuu", rows->export->source,
		 PACKAGE_NAME " " PACKAGE_VERSION, header->writer, header->pid, header->host_name,
		 header->command_line, header->runtime, header->architecture, header->system,
		 header->options, (uint64_t)header->word_bytes, header->wall_start_unix_ns);
}

static void put_snapshots(struct rows *rows)
{
	const struct heapshot_snapshot *snapshots;
	size_t n, i;

	snapshots = heapshot_reader_snapshots(rows->export->reader, &n);
	for (i = 0; i < n; i++) {
		const struct heapshot_snapshot *snapshot = &snapshots[i];
		const bool is_exported = snapshot->id == rows->export->snapshot->id;

		/* What the end would state is not known without one. */
		if (!snapshot->has_end)
			rows_put(rows, ROWS_SNAPSHOTS, "uttubbnnnnnnnnn", snapshot->id,
				 snapshot->label, snapshot->trigger, snapshot->time_ns, false,
				 is_exported);
		else
			rows_put(rows, ROWS_SNAPSHOTS, "uttubbuuuuuuuuu", snapshot->id,
				 snapshot->label, snapshot->trigger, snapshot->time_ns,
				 snapshot->is_complete, is_exported, snapshot->objects,
				 snapshot->references, snapshot->bytes, snapshot->slot_bytes,
				 snapshot->roots, snapshot->ephemeron_edges, snapshot->heap_bytes,
				 snapshot->pause_ns, snapshot->duration_ns);
	}
}

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = {"",      "class",  "struct",   "enum",   "interface",
					    "array", "string", "delegate", "pointer"};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "";
}

static void put_types(struct rows *rows)
{
	struct heapshot_reader *reader = rows->export->reader;
	const struct heapshot_type *types;
	size_t n, i;

	types = heapshot_reader_types(reader, &n);
	for (i = 0; i < n; i++) {
		const struct heapshot_type *type = &types[i];

		rows_put(rows, ROWS_TYPES, "uttttzza", (uint64_t)type->id,
			 *type->name != '\0' ? type->name : NULL, type->assembly, type->name_space,
			 kind_name(type->kind), (uint64_t)type->parent, (uint64_t)type->element,
			 heapshot_reader_instance_bytes(reader, type->id));
	}
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* There is no list of them: those that objects belong to. */
static void put_domains(struct rows *rows)
{
	const struct heapshot_graph_class *classes;
	uint32_t *ids;
	size_t n, i;

	classes = heapshot_graph_classes(rows->export->graph, &n);
	ids = calloc(n + 1, sizeof(*ids));
	if (ids == NULL) {
		rows_fail(rows, export_fail_memory(rows->export));
		return;
	}
	for (i = 0; i < n; i++)
		ids[i] = classes[i].domain;
	qsort(ids, n, sizeof(*ids), compare_numbers);
	for (i = 0; i < n; i++) {
		const struct heapshot_domain *domain =
			heapshot_reader_domain(rows->export->reader, ids[i]);

		if (domain != NULL && (i == 0 || ids[i] != ids[i - 1]))
			rows_put(rows, ROWS_DOMAINS, "utb", (uint64_t)domain->id, domain->name,
				 (int)domain->is_unloaded);
	}
	free(ids);
}

void rows_put_recording(struct rows *rows)
{
	put_header(rows);
	put_snapshots(rows);
	put_types(rows);
	if (rows_want(rows, ROWS_DOMAINS))
		put_domains(rows);
}
