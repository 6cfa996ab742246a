/* SPDX-License-Identifier: MIT */
/*
 * Tables of the recording as a whole: its snapshots, types and domains.
 */
#include "config.h"

#include "contrib/export/sqlite.h"

static void put_header(struct sqlite_out *out)
{
	const struct heapshot_header *header = heapshot_reader_header(out->export->reader);
	sqlite3_stmt *statement = sqlite_prepare(
		out, "INSERT INTO recording VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

	sqlite_put(out, statement, "tttuttttttuu", out->export->source,
		   PACKAGE_NAME " " PACKAGE_VERSION, header->writer, header->pid, header->host_name,
		   header->command_line, header->runtime, header->architecture, header->system,
		   header->options, (uint64_t)header->word_bytes, header->wall_start_unix_ns);
	sqlite3_finalize(statement);
}

static void put_snapshots(struct sqlite_out *out)
{
	sqlite3_stmt *statement = sqlite_prepare(
		out, "INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	const struct heapshot_snapshot *snapshots;
	size_t n, i;

	snapshots = heapshot_reader_snapshots(out->export->reader, &n);
	for (i = 0; i < n; i++) {
		const struct heapshot_snapshot *snapshot = &snapshots[i];
		const bool is_exported = snapshot->id == out->export->snapshot->id;

		/* What the end would state is not known without one. */
		if (!snapshot->has_end)
			sqlite_put(out, statement, "uttubbnnnnnnnnn", snapshot->id, snapshot->label,
				   snapshot->trigger, snapshot->time_ns, false, is_exported);
		else
			sqlite_put(out, statement, "uttubbuuuuuuuuu", snapshot->id, snapshot->label,
				   snapshot->trigger, snapshot->time_ns, snapshot->is_complete,
				   is_exported, snapshot->objects, snapshot->references,
				   snapshot->bytes, snapshot->slot_bytes, snapshot->roots,
				   snapshot->ephemeron_edges, snapshot->heap_bytes,
				   snapshot->pause_ns, snapshot->duration_ns);
	}
	sqlite3_finalize(statement);
}

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = {"",      "class",  "struct",   "enum",   "interface",
					    "array", "string", "delegate", "pointer"};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "";
}

static void put_types(struct sqlite_out *out)
{
	struct heapshot_reader *reader = out->export->reader;
	sqlite3_stmt *statement =
		sqlite_prepare(out, "INSERT INTO types VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	const struct heapshot_type *types;
	size_t n, i;

	types = heapshot_reader_types(reader, &n);
	for (i = 0; i < n; i++) {
		const struct heapshot_type *type = &types[i];

		sqlite_put(out, statement, "uttttzza", (uint64_t)type->id,
			   *type->name != '\0' ? type->name : NULL, type->assembly,
			   type->name_space, kind_name(type->kind), (uint64_t)type->parent,
			   (uint64_t)type->element,
			   heapshot_reader_instance_bytes(reader, type->id));
	}
	sqlite3_finalize(statement);
}

/* There is no list of them: those that objects belong to. */
static void put_domains(struct sqlite_out *out)
{
	sqlite3_stmt *statement =
		sqlite_prepare(out, "INSERT OR IGNORE INTO domains VALUES (?, ?, ?)");
	const struct heapshot_graph_class *classes;
	size_t n, i;

	classes = heapshot_graph_classes(out->export->graph, &n);
	for (i = 0; i < n; i++) {
		const struct heapshot_domain *domain =
			heapshot_reader_domain(out->export->reader, classes[i].domain);

		if (domain != NULL)
			sqlite_put(out, statement, "utb", (uint64_t)domain->id, domain->name,
				   (int)domain->is_unloaded);
	}
	sqlite3_finalize(statement);
}

void sqlite_put_recording(struct sqlite_out *out)
{
	put_header(out);
	put_snapshots(out);
	put_types(out);
	put_domains(out);
}
