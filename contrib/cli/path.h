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
	bool is_brief;              /* JSON without steps: they are in the text */
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

/* Targets whose shortest paths are alike; that of one of them, among the shortest, stands for all. */
struct path_group {
	uint64_t hash; /* of the path */
	uint64_t count, bytes;
	uint32_t target, length, longest; /* lengths as of heapshot_graph_way_length */
	bool is_used;
};
struct path_groups {
	struct path_group *list; /* what most targets share first */
	size_t n, room;
	uint64_t n_reached; /* targets that something holds */
};
/* Hashes of ways, by node, kept from one call to the next; starts as zero. */
struct path_hashes {
	uint64_t *of_node;
	struct graph_nodes way;
};
void path_hashes_free(struct path_hashes *hashes);
/* Groups the targets; false without memory.  To be freed by free(groups->list) either way. */
bool path_groups_make(const struct path *path, struct path_hashes *hashes,
		      struct path_groups *groups);

/*
 * A part of a path: NAME of its root, or TYPE and SLOT ("" of the last one); TIMES such
 * steps follow each other, 0: it stands for so many parts that are left out.
 */
struct path_part {
	const char *type, *slot;
	bool is_element; /* the slot is to stand apart: "[17]", "+24", "(ConditionalWeakTable)" */
	uint64_t times, n_left_out;
};
typedef bool path_take_part(void *user_data, const struct path_part *part);
/* Calls back for each part, of long paths for those at both ends, until that says false. */
bool path_parts(const struct path *path, const struct heapshot_graph_step *steps, size_t n,
		bool is_merged, path_take_part *take, void *user_data);

/* Shortest paths to all targets, those alike together.  A status; failures are said. */
int path_show_merged(struct path *path);

#endif
