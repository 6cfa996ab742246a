/* SPDX-License-Identifier: MIT */
/*
 * The parts of `heapshot path`.
 */
#ifndef HEAPSHOT_CLI_PATH_H
#define HEAPSHOT_CLI_PATH_H

#include "contrib/cli/graph.h"

struct path {
	struct recording *recording;
	const struct cli_arguments *arguments;
	struct heapshot_graph *graph;
	struct heapshot_graph_ways *ways;
	const char *wanted;         /* as it was asked for: a type or an address */
	struct graph_nodes targets; /* objects, ascending */
};

/* One path from a source to a target, in the order of its steps. */
struct path_steps {
	struct heapshot_graph_step *list;
	size_t n, room;
};

/* The shortest way to TARGET; false without memory.  N is 0 where there is none. */
bool path_find(const struct path *path, uint32_t target, struct path_steps *steps);

/* A path in plain words, to be freed; not masked.  NULL without memory. */
char *path_text(const struct path *path, const struct heapshot_graph_step *steps, size_t n,
		bool is_merged);
/*
 * Writes a path in plain words, without a newline.  With IS_MERGED it stands for
 * several: indexes of arrays are "[*]".
 */
void path_put(const struct path *path, const struct heapshot_graph_step *steps, size_t n,
	      bool is_merged);
/* The same as keys of an object: "root", "length", "text", "steps". */
void path_json(const struct path *path, struct json *json, const struct heapshot_graph_step *steps,
	       size_t n, bool is_merged);

/* Shortest paths to all targets, those alike together.  A status; failures are said. */
int path_show_merged(struct path *path);

#endif
