/* SPDX-License-Identifier: MIT */
/*
 * What the commands on graphs share: the graph of the chosen snapshot, its types
 * as people see them, words for nodes.
 */
#ifndef HEAPSHOT_CLI_GRAPH_H
#define HEAPSHOT_CLI_GRAPH_H

#include "contrib/cli/json.h"
#include "contrib/cli/recording.h"
#include "contrib/cli/type_key.h"
#include "contrib/reader/heapshot-graph.h"
#include "contrib/reader/heapshot-reader-fields.h"

/*
 * Reads names, fields and the graph of the recording's snapshot.  Without
 * --memory it may take three quarters of the machine's memory.  Returns CLI_OK or
 * a status, said already; the graph is to be freed before the recording is closed.
 */
int graph_open(struct recording *recording, const struct cli_arguments *arguments,
	       struct heapshot_graph **graph);

/* A type, and its objects that live. */
struct graph_type {
	struct type_key key;
	uint64_t live_objects, live_bytes, retained; /* retained: by dominators only */
};

struct graph_types {
	struct graph_type *types; /* in the order of keys */
	uint32_t *of_class;       /* number in types, by class_index */
	size_t n, n_classes;
};

/* Makes the types, with retained sizes if DOMINATED.  CLI_OK or CLI_IO, said. */
int graph_types_make(struct recording *recording, const struct heapshot_graph *graph,
		     bool is_dominated, struct graph_types *types);
void graph_types_free(struct graph_types *types);
/* The one of KEY; NULL when none of them is there. */
const struct graph_type *graph_types_find(const struct graph_types *types,
					  const struct type_key *key);

/* A list of nodes, to be freed by free(LIST). */
struct graph_nodes {
	uint32_t *list;
	size_t n, room;
};
/* False without memory. */
bool graph_nodes_push(struct graph_nodes *nodes, uint32_t node);

/*
 * Addresses are typed in hexadecimal; those of --json are decimal numbers.  Behind a
 * message that nothing lies at ADDRESS: what was meant, if its digits were decimal; else "".
 */
#define GRAPH_HINT_BYTES 64
const char *graph_decimal_hint(const struct heapshot_graph *graph, uint64_t address,
			       char hint[GRAPH_HINT_BYTES]);

/* False for what holds objects from outside: sources, their kinds, the root node. */
bool graph_is_object(const struct heapshot_graph *graph, uint32_t node);

/* The name of the type of OBJECT; BUFFER has 32 bytes. */
const char *graph_object_type(const struct recording *recording, const struct heapshot_graph *graph,
			      uint32_t object, char *buffer);

/* What a source of roots is called: "T.Pub.Root", "main", "normal", or "". */
const char *graph_source_name(const struct heapshot_graph_source *source);

/* Makes "[*].key" of the name "[17].key" of a slot. */
void graph_drop_index(char *name);

/* "static T.Pub.Ev", "stack", "all roots", "System.String 0x7f0000000010" */
void graph_put_node(const struct recording *recording, const struct heapshot_graph *graph,
		    uint32_t node, char *text, size_t size);

/* Keys "kind" and "name", or "address" and "type". */
void graph_node_json(struct json *json, const struct recording *recording,
		     const struct heapshot_graph *graph, uint32_t node);

#endif
