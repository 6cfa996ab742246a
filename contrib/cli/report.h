/* SPDX-License-Identifier: MIT */
/*
 * What `heapshot report` shows, gathered snapshot by snapshot so that there is one
 * graph at a time, and written as JSON for the page of contrib/browser/page.
 */
#ifndef HEAPSHOT_CLI_REPORT_H
#define HEAPSHOT_CLI_REPORT_H

#include "contrib/cli/events.h"
#include "contrib/cli/graph.h"
#include "contrib/cli/labels.h"
#include "contrib/cli/path.h"
#include "contrib/export/counters.h"

/* Files of one report. */
#define REPORT_FILES_MAX 16
/* Collections of a file that are told apart; of more, neighbours are put together. */
#define REPORT_COLLECTIONS 2000
/* Nodes of a tree; what retains less than SHARE of what lives, or lies deeper, is cut. */
#define REPORT_NODES 20000
#define REPORT_SHARE 0.00005
#define REPORT_DEPTH 60

/* Collections that follow each other. */
struct report_collections {
	struct events_row last; /* pause_ns: of all */
	uint64_t n, n_major, max_pause_ns, time_ns;
};

/* Types of one name and assembly. */
struct report_type {
	uint32_t name, assembly; /* in names */
	uint64_t weight;         /* the most bytes that it has or retains in a snapshot */
	uint32_t number;         /* in the order of weight */
};

/* A type's objects in a snapshot: all that there are, and what those that live retain. */
struct report_row {
	uint32_t type;
	uint64_t count, bytes, retained;
};

/* Objects of one name below one node, put together. */
struct report_node {
	uint32_t parent, name;
	uint64_t objects, bytes, all_objects, retained;
};

struct report_part {
	uint32_t type, slot; /* in names; UINT32_MAX: none */
	uint64_t times;      /* 0: so many as N_LEFT_OUT are left out here */
	uint64_t n_left_out;
};

struct report_path {
	uint64_t count, bytes;
	uint32_t root, root_kind;   /* in names */
	uint32_t longest;           /* steps that the longest of them has more */
	size_t first_part, n_parts; /* in parts of the snapshot */
};

/* Paths to the objects of a type, at most so many; N_ALL there are. */
struct report_paths {
	uint32_t type;
	uint64_t objects, n_reached, n_all;
	size_t first_path, n_paths; /* in path_list of the snapshot */
};

/* A handle, or several that are alike: the first one's number and object. */
struct report_handle {
	int64_t handle;
	uint64_t object, retained, count;
	uint32_t js_type, js_name, type; /* in names; UINT32_MAX: none */
};

struct report_handle_table {
	uint32_t name, title, note; /* in names */
	uint64_t escaped, released, collected;
	struct report_handle *entries;
	size_t n;
};

struct report_snapshot {
	uint32_t file;
	struct recording *recording; /* it was asked for by */
	const struct heapshot_snapshot *snapshot;
	struct report_row *rows; /* the largest first */
	size_t n_rows;
	bool has_graph;
	uint64_t live_objects, live_bytes, objects, bytes;
	struct report_node *nodes; /* what retains most first, so a parent before its children */
	size_t n_nodes;
	struct report_paths *paths;
	size_t n_paths;
	struct report_path *path_list;
	size_t n_path_list;
	struct report_part *parts;
	size_t n_parts, room_parts;
	struct report_handle_table *handle_tables;
	size_t n_handle_tables;
	const char *note; /* why there is no graph, or NULL */
};

struct report_file {
	struct recording recording;
	uint32_t owner; /* number of the file itself, or of the one that it is */
	struct report_collections *collections;
	size_t n_collections, room_collections;
	uint64_t per_collection; /* collections put together, a power of two */
	struct events_sums sums;
	struct counters counters;
	char *suspects; /* JSON, or NULL */
	size_t suspects_bytes;
	uint64_t suspects_of; /* snapshot */
};

struct report {
	const struct cli_arguments *arguments;
	struct report_file files[REPORT_FILES_MAX];
	uint32_t n_files;
	struct report_snapshot *snapshots;
	size_t n_snapshots;
	struct labels names, type_keys;
	struct report_type *types; /* by number of their key */
	size_t n_types, room_types;
	uint32_t *order; /* types by weight */
	/*
	 * The graph of the snapshot that was read last, for those who ask on; with dominators
	 * and ways.  It is there until the next one is read, if KEEPS_GRAPH.
	 */
	bool keeps_graph;
	struct path kept;
	struct report_snapshot *kept_of; /* NULL: none is there */
};

/* Opens the files of the operands, and reads all of them.  CLI_OK, or a status, said. */
int report_open(struct report *report, const struct cli_command *command);
int report_read(struct report *report);

/* ---- Gathering: CLI_OK, or a status, said ---- */
int report_read_events(struct report *report, uint32_t file);
int report_read_snapshot(struct report *report, struct report_snapshot *snapshot);
int report_read_tree(struct report *report, struct report_snapshot *snapshot,
		     struct heapshot_graph *graph);
/* Tables of handles; dominators are made. */
int report_read_handles(struct report *report, struct report_snapshot *snapshot,
			struct heapshot_graph *graph);
void report_free_handles(struct report_snapshot *snapshot);
/* Paths to the largest types, and to those that WANTED tells (may be NULL), by number in TYPES. */
int report_read_paths(struct report *report, struct report_snapshot *snapshot, struct path *path,
		      const struct graph_types *types, const bool *wanted);

/*
 * Makes the graph of SNAPSHOT and keeps it, unless it is the one that is kept; the ways are
 * those that its paths were made by.  CLI_OK, or a status, said.
 */
int report_keep_graph(struct report *report, struct report_snapshot *snapshot);
void report_drop_graph(struct report *report);
/* At most MOST paths to the objects of one type, by number in TYPES, for a TO without any. */
int report_read_paths_to(struct report *report, struct report_snapshot *to, struct path *path,
			 const struct graph_types *types, uint32_t type, size_t most);

/* Number of TEXT among the names; UINT32_MAX without memory. */
uint32_t report_name(struct report *report, const char *text);
/* Number of a type; UINT32_MAX without memory. */
uint32_t report_type(struct report *report, const struct recording *recording,
		     const struct type_key *key);

void report_free(struct report *report);

/* ---- Writing ---- */

/*
 * Writes all as one object of LIMIT bytes at most, for a page if IS_HTML: where it is
 * too much, less of each list.  *TEXT is to be freed.  CLI_OK, or CLI_IO, said.
 */
int report_make_json(const struct report *report, bool is_html, size_t limit, char **text,
		     size_t *bytes);

/* Lines of the page, made by contrib/browser/page.sh; NULL where the data go, and at the end. */
extern const char *const report_page[];

#endif
