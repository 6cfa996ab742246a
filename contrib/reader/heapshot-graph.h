/* SPDX-License-Identifier: MIT */
/*
 * libheapshot-reader: the graph of a snapshot.  Which object refers to which
 * through which field, and what holds it from outside of the heap.
 * The rules of heapshot-reader.h for errors, text and units hold here too.
 *
 * Shape:    objects are numbered from 0 in the order of their addresses.  Behind
 *           them come nodes for what holds objects from outside: one for all of
 *           it (the root node), one for each kind of root, one for each source
 *           (a static field, a thread's stack, ...).  The root node leads to the
 *           kinds, a kind to its sources, a source to the objects of its roots.
 *           Numbers of nodes are 32 bits, so a snapshot of more than 2^32 - 2
 *           nodes is refused; counts and sizes are 64 bits.
 * Live:     an object that is reached from a source.  Roots of weak handles and
 *           of kind "ephemeron" (values that the runtime reports, see below) do
 *           not hold anything.  All others do, the finalizer queue too; but those
 *           of kind "saved_registers", words that may be long out of date, only
 *           what is reached from no other.
 * Ephemerons: an entry of a ConditionalWeakTable holds its value while table AND
 *           key live.  The graph counts such an entry as a reference from the key
 *           to the value, once both are live: what would go with the key counts
 *           as the key's, and a table does not own the values in it.
 * Memory:   counted against the reader's limit, as is all that functions below
 *           make.  About 20 bytes an object (of 60 bytes), 5 a reference for the
 *           way out and 4 for the way in, 20 a root, 36 an ephemeron; while it is
 *           built, 4 bytes an object more.  See heapshot_graph_counts().
 * Threads:  a graph may be read from several threads while no function that is
 *           said to make something runs on it or on its reader.  Where there are
 *           two processors, making a large one takes a second thread, which has
 *           ended when the function returns, takes no signals and calls nothing
 *           of the caller's.  The graph is the same with one thread.
 */
#ifndef HEAPSHOT_GRAPH_H
#define HEAPSHOT_GRAPH_H

#include "heapshot-reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* No node. */
#define HEAPSHOT_GRAPH_NONE UINT32_MAX

struct heapshot_graph;

/*
 * Makes the graph of SNAPSHOT, in one pass over its frames where they are as
 * recorders write them, else in three more.  Free it before the reader; a reader
 * may have several.  Ends the pass and the roots of the reader that are under way.
 *
 * Returns OK; INCOMPLETE when the snapshot has no end or its totals differ, and
 * DAMAGED when a frame or record was lost: the graph is made of what is there.
 * In these three cases *graph is set.  NOT_FOUND for a snapshot of statistics
 * only; IO, MEMORY (over the limit, or more than 2^32 - 2 nodes).
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_graph_open(struct heapshot_reader *reader, const struct heapshot_snapshot *snapshot,
		    struct heapshot_graph **graph);

/* Frees a graph and all that it handed out; NULL is allowed. */
HEAPSHOT_READER_API void heapshot_graph_free(struct heapshot_graph *graph);

struct heapshot_graph_counts {
	uint64_t objects, references, bytes, slot_bytes;
	uint64_t live_objects, live_bytes; /* reached from roots */
	uint64_t roots, sources, kinds;    /* roots: those that lead to an object */
	uint64_t ephemerons;
	uint64_t nodes; /* objects, 1, kinds and sources together */
	/* What is not in the graph because it led nowhere; 0 in sound recordings. */
	uint64_t dangling_references, repeated_objects, lost_parts;
	uint64_t loose_roots, loose_ephemerons;
	uint64_t memory_bytes; /* that the graph takes now */
};

HEAPSHOT_READER_API void heapshot_graph_counts(const struct heapshot_graph *graph,
					       struct heapshot_graph_counts *counts);

/* ---- Objects ---- */

enum heapshot_graph_flag {
	HEAPSHOT_GRAPH_LIVE = 1,       /* reached from a root */
	HEAPSHOT_GRAPH_ROOTED = 2,     /* some root leads to it, weak ones too */
	HEAPSHOT_GRAPH_KEY = 4,        /* key of an ephemeron */
	HEAPSHOT_GRAPH_VALUE = 8,      /* value of an ephemeron */
	HEAPSHOT_GRAPH_EPH_TABLE = 16, /* its table */
	HEAPSHOT_GRAPH_SAVED = 32      /* only a root of kind "saved_registers" holds it */
};

struct heapshot_graph_object {
	uint64_t address;
	uint64_t size;      /* exact bytes */
	uint64_t slot_size; /* bytes of its slot in the heap */
	uint32_t type;      /* as in heapshot_reader_type */
	uint32_t domain;
	uint32_t class_index;  /* number of (type, domain), see heapshot_graph_class */
	uint32_t flags;        /* enum heapshot_graph_flag, together */
	uint64_t n_references; /* out, ephemerons apart */
	uint64_t n_referrers;  /* references in, from objects that are not live too */
};

/* OBJECT must be below counts.objects, here and in what follows. */
HEAPSHOT_READER_API void heapshot_graph_object(const struct heapshot_graph *graph, uint32_t object,
					       struct heapshot_graph_object *out);
HEAPSHOT_READER_API uint64_t heapshot_graph_address(const struct heapshot_graph *graph,
						    uint32_t object);
HEAPSHOT_READER_API uint64_t heapshot_graph_size(const struct heapshot_graph *graph,
						 uint32_t object);
HEAPSHOT_READER_API bool heapshot_graph_is_live(const struct heapshot_graph *graph,
						uint32_t object);
/* Number of the object that starts at ADDRESS, or NONE. */
HEAPSHOT_READER_API uint32_t heapshot_graph_find(const struct heapshot_graph *graph,
						 uint64_t address);
/* Number of the object in whose slot ADDRESS lies, or NONE. */
HEAPSHOT_READER_API uint32_t heapshot_graph_find_around(const struct heapshot_graph *graph,
							uint64_t address);

/* The pairs of type and domain that objects have: class_index counts in them. */
struct heapshot_graph_class {
	uint32_t type, domain;
	uint64_t objects, bytes;           /* all of them */
	uint64_t live_objects, live_bytes; /* those that are reached */
};

HEAPSHOT_READER_API const struct heapshot_graph_class *
heapshot_graph_classes(const struct heapshot_graph *graph, size_t *n_classes);
/* Place of OBJECT's class in that array. */
HEAPSHOT_READER_API uint32_t heapshot_graph_class_of(const struct heapshot_graph *graph,
						     uint32_t object);

/* ---- References ---- */

/*
 * The objects that OBJECT refers to, in the order of its slots; a target may be
 * there several times.  *n their number.  Ephemerons are not among them.
 */
HEAPSHOT_READER_API const uint32_t *heapshot_graph_targets(const struct heapshot_graph *graph,
							   uint32_t object, uint64_t *n);
/* The objects that refer to OBJECT, ascending, once for each reference. */
HEAPSHOT_READER_API const uint32_t *heapshot_graph_referrers(const struct heapshot_graph *graph,
							     uint32_t object, uint64_t *n);

/* One way out of a node. */
struct heapshot_graph_edge {
	uint32_t target;
	bool is_ephemeron; /* from a key to its value; offset is 0 then */
	uint64_t offset;   /* of the slot, bytes from the object's start; 0 from other nodes */
	uint32_t table;    /* of the ephemeron, else NONE */
};

/* A walk over the ways out of NODE (objects, live ephemerons; root, kinds, sources). */
struct heapshot_graph_walk {
	const struct heapshot_graph *graph;
	uint32_t node;
	uint64_t next, end, gap; /* private */
	uint64_t offset;
};

HEAPSHOT_READER_API void heapshot_graph_walk_begin(const struct heapshot_graph *graph,
						   uint32_t node, struct heapshot_graph_walk *walk);
/* False behind the last one. */
HEAPSHOT_READER_API bool heapshot_graph_walk_next(struct heapshot_graph_walk *walk,
						  struct heapshot_graph_edge *edge);

/* Edge of a ConditionalWeakTable, by numbers of objects; in the order of keys. */
struct heapshot_graph_ephemeron {
	uint32_t table, key, value;
};

HEAPSHOT_READER_API const struct heapshot_graph_ephemeron *
heapshot_graph_ephemerons(const struct heapshot_graph *graph, size_t *n_ephemerons);

/* ---- What holds objects from outside ---- */

struct heapshot_graph_root {
	uint64_t address; /* of the slot, or what stands for it */
	uint32_t object;
	uint32_t source; /* index into sources */
};

struct heapshot_graph_source {
	struct heapshot_root_source source;
	uint32_t kind;   /* index into kinds */
	bool is_holding; /* not a weak handle, not of kind "ephemeron" */
	uint64_t n_roots;
};

struct heapshot_graph_kind {
	const char *name; /* the runtime's own word where it gave one, else as in "roots" */
	uint32_t kind;    /* RootKind of heapshot.proto */
	uint32_t first_source, n_sources; /* its sources stand together */
	uint64_t n_roots;
};

/* Roots in the order of objects. */
HEAPSHOT_READER_API const struct heapshot_graph_root *
heapshot_graph_roots(const struct heapshot_graph *graph, size_t *n_roots);
/* Those that lead to OBJECT. */
HEAPSHOT_READER_API const struct heapshot_graph_root *
heapshot_graph_roots_of(const struct heapshot_graph *graph, uint32_t object, size_t *n_roots);
HEAPSHOT_READER_API const struct heapshot_graph_source *
heapshot_graph_sources(const struct heapshot_graph *graph, size_t *n_sources);
HEAPSHOT_READER_API const struct heapshot_graph_kind *
heapshot_graph_kinds(const struct heapshot_graph *graph, size_t *n_kinds);

/* Numbers of nodes behind the objects. */
HEAPSHOT_READER_API uint32_t heapshot_graph_root_node(const struct heapshot_graph *graph);
HEAPSHOT_READER_API uint32_t heapshot_graph_kind_node(const struct heapshot_graph *graph,
						      uint32_t kind);
HEAPSHOT_READER_API uint32_t heapshot_graph_source_node(const struct heapshot_graph *graph,
							uint32_t source);

enum heapshot_graph_node_kind {
	HEAPSHOT_NODE_OBJECT,
	HEAPSHOT_NODE_ROOT,
	HEAPSHOT_NODE_KIND,
	HEAPSHOT_NODE_SOURCE
};

/* What NODE is; *index (may be NULL) is its place among objects, kinds or sources. */
HEAPSHOT_READER_API enum heapshot_graph_node_kind
heapshot_graph_node(const struct heapshot_graph *graph, uint32_t node, uint32_t *index);

/* ---- Dominators: what would go ---- */
/*
 * A node dominates an object when every way from the root node to the object
 * leads through it: were it gone, the object would be, too.  The retained size of
 * a node is the sum of the sizes of what it dominates, itself included.  Objects
 * that do not live are dominated by nothing and are no part of any sum.
 */

/*
 * Makes dominators, retained sizes and the tree of both.  20 bytes an object
 * while they stay, 24 while they are made.  OK (also when they are there
 * already) or MEMORY.
 */
HEAPSHOT_READER_API enum heapshot_read_result heapshot_graph_dominate(struct heapshot_graph *graph);

/* The functions below want dominators to be there. */

/* The nearest node that dominates NODE; NONE for the root node and what does not live. */
HEAPSHOT_READER_API uint32_t heapshot_graph_dominator(const struct heapshot_graph *graph,
						      uint32_t node);
/* 0 for what does not live.  Of the root node: all that lives. */
HEAPSHOT_READER_API uint64_t heapshot_graph_retained(const struct heapshot_graph *graph,
						     uint32_t node);
/* The nodes whose dominator NODE is, one after the other; NONE at the end. */
HEAPSHOT_READER_API uint32_t heapshot_graph_first_child(const struct heapshot_graph *graph,
							uint32_t node);
HEAPSHOT_READER_API uint32_t heapshot_graph_next_child(const struct heapshot_graph *graph,
						       uint32_t node);

/* Live objects of a group, and what they retain. */
struct heapshot_graph_sum {
	uint64_t objects, bytes;
	/*
	 * Retained sizes of those that no other object of the group dominates, so
	 * that nothing counts twice.  What only several of them together hold does
	 * not count.
	 */
	uint64_t retained;
};

/*
 * Sums objects by groups: GROUPS[class_index] is the group of a class's objects,
 * below N_GROUPS, or NONE.  So types, assemblies and domains are summed.  SUMS
 * has room for N_GROUPS.  Needs 4 bytes a group.  OK or MEMORY.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_graph_sums(const struct heapshot_graph *graph, const uint32_t *groups, size_t n_groups,
		    struct heapshot_graph_sum *sums);

/* ---- Ways: what holds an object ---- */

struct heapshot_graph_ways;

struct heapshot_graph_ways_options {
	size_t size;             /* sizeof(struct heapshot_graph_ways_options) */
	uint64_t excluded_kinds; /* bit N: sources of RootKind N hold nothing */
	bool without_ephemerons; /* ephemerons hold nothing */
	/*
	 * Bit N: ways from sources of RootKind N are taken only to what no other leads
	 * to, however short they are.  Not for heapshot_graph_paths_new().
	 */
	uint64_t last_kinds;
	uintptr_t reserved[4]; /* 0 */
};

/*
 * Makes the shortest ways from the root node to all objects.  OPTIONS may be
 * NULL.  12 bytes a node, 16 while they are made; free them before the graph.
 * OK or MEMORY.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_graph_ways_new(struct heapshot_graph *graph,
			const struct heapshot_graph_ways_options *options,
			struct heapshot_graph_ways **ways);
HEAPSHOT_READER_API void heapshot_graph_ways_free(struct heapshot_graph_ways *ways);

/* A node on a way, and the slot of it that leads to the next one. */
struct heapshot_graph_step {
	uint32_t node;
	bool is_ephemeron; /* it leads there as a key to its value */
	uint64_t offset;   /* of the slot; 0 for the last node, and for those that are no objects */
};

/* Steps from the root node to NODE; 0: there is no way to it. */
HEAPSHOT_READER_API uint32_t heapshot_graph_way_length(const struct heapshot_graph_ways *ways,
						       uint32_t node);
/* The node before NODE, and its slot that leads there.  False where there is none. */
HEAPSHOT_READER_API bool heapshot_graph_way_before(const struct heapshot_graph_ways *ways,
						   uint32_t node, struct heapshot_graph_step *step);

/*
 * All ways to some objects, the shortest first: each goes over no object twice,
 * and no two have the same nodes.
 */
struct heapshot_graph_paths;

/* OK or MEMORY.  TARGETS, objects each there once, are copied.  Free it before the ways. */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_graph_paths_new(struct heapshot_graph *graph, const struct heapshot_graph_ways *ways,
			 const uint32_t *targets, size_t n_targets,
			 struct heapshot_graph_paths **paths);
HEAPSHOT_READER_API void heapshot_graph_paths_free(struct heapshot_graph_paths *paths);

/*
 * The next one: *steps has *n_steps, from the source (the root node and the kind
 * before it are left out) to the target; until the next call.  OK; END; MEMORY,
 * also where there are more beginnings of paths than can be borne (8 million).
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_graph_paths_next(struct heapshot_graph_paths *paths,
			  const struct heapshot_graph_step **steps, size_t *n_steps);

#ifdef __cplusplus
}
#endif

#endif
