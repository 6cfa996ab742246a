/* SPDX-License-Identifier: MIT */
/*
 * The parts of `heapshot retained`.
 */
#ifndef HEAPSHOT_CLI_RETAINED_H
#define HEAPSHOT_CLI_RETAINED_H

#include "contrib/cli/graph.h"

struct retained {
	struct recording *recording;
	const struct cli_arguments *arguments;
	struct heapshot_graph *graph;
	struct graph_types types;
	bool *is_wanted; /* types, by their number */
	uint64_t live_bytes;
};

/* A row of most tables. */
struct retained_row {
	uint64_t retained, count, bytes;
	const char *name, *of; /* OF: assembly, kind; NULL: none */
	uint32_t number;       /* type, source, kind, ... */
	char text[32];         /* where a name has to be made */
};

/* For qsort: the largest first. */
int retained_order(const void *left, const void *right);

/*
 * A table of RETAINED, SHARE, a count, BYTES where ALIGN begins with "rrrr", OF
 * where the rows have one, and the name.
 */
void retained_put_table(const struct retained *retained, const char *title,
			const char *const *titles, const char *align,
			const struct retained_row *rows, size_t n, size_t n_all);

/* Tables, or with JSON arrays of the same name; CLI_OK or CLI_IO, said. */
int retained_types(const struct retained *retained, struct json *json);
int retained_objects(const struct retained *retained, struct json *json);
int retained_tree(const struct retained *retained, struct json *json);
int retained_roots(const struct retained *retained, struct json *json);
int retained_kinds(const struct retained *retained, struct json *json);
int retained_assemblies(const struct retained *retained, struct json *json);
int retained_domains(const struct retained *retained, struct json *json);

#endif
