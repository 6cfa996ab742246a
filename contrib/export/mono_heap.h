/* SPDX-License-Identifier: MIT */
/*
 * What the files of the mono-heap format share.  A file is a list of chunks whose
 * lengths stand before them, so each is put twice: first to nowhere, to measure it.
 */
#ifndef HEAPSHOT_EXPORT_MONO_HEAP_H
#define HEAPSHOT_EXPORT_MONO_HEAP_H

#include "contrib/export/export.h"
#include "contrib/export/types.h"

/* Readers keep sizes of objects and places in the file in 32 bits with a sign. */
#define MONO_HEAP_MAX ((uint64_t)INT32_MAX)

/* Where a chunk is put; without OUTPUT only what it takes is counted. */
struct mono_heap_out {
	struct export_output *output;
	uint64_t bytes;
};

void mono_heap_put_u32(struct mono_heap_out *out, uint32_t value);
void mono_heap_put_f64(struct mono_heap_out *out, double value);
/* LEB128 */
void mono_heap_put_number(struct mono_heap_out *out, uint64_t value);
/* Length and text. */
void mono_heap_put_text(struct mono_heap_out *out, const char *text);

/* A record of a type; ids of classes are places in the list, from 1. */
struct mono_heap_class {
	const struct heapshot_type *type; /* NULL: nothing is known */
	uint32_t name, space;             /* in names */
	uint32_t assembly;                /* id, or 0 */
	uint32_t element;                 /* id of another one, or 0 */
	uint32_t rank;                    /* 0: no array */
	uint32_t kind;                    /* in names */
};

/* Handles of JavaScript's. */
struct mono_heap_handle;
struct mono_heap_handles {
	struct mono_heap_handle *list;
	size_t n;
};

struct mono_heap {
	struct export *export;
	const struct heapshot_graph *graph;
	struct heapshot_graph_counts counts;
	struct export_names names; /* the string table; number 0 is "" */
	struct export_types types; /* those of objects; the first classes are these */
	struct mono_heap_class *classes;
	size_t n_classes, room_classes;
	struct export_names class_keys; /* numbers of names and assemblies are places in classes */
	struct export_names assemblies; /* ids are numbers; 0: "", not known */
	struct export_names counter_names;
	double *counters; /* by number of the name */
	size_t room_counters;
	/* An object's id is (address - id_base) / id_unit; where that is 0, made of its number. */
	uint64_t id_base, id_unit;
	uint32_t *kind_names, *handle_names; /* of kinds of roots; by source, 0: no handle */
	uint32_t *roots;                     /* by source, as in roots.h */
	uint64_t *first_root;
	struct mono_heap_handles js_proxies, js_objects;
	uint64_t n_references, n_roots; /* that were put last */
};

/* What follows returns false without memory. */

/* Makes classes and assemblies. */
bool mono_heap_make_classes(struct mono_heap *heap);
/* Adds a counter, or gives it another value. */
bool mono_heap_set_counter(struct mono_heap *heap, const char *name, double value);
/* Adds those of the runtime. */
bool mono_heap_read_counters(struct mono_heap *heap);
/* Makes what roots and handles are put from. */
bool mono_heap_make_roots(struct mono_heap *heap);
/* Makes the tables of handles that JavaScript keeps, where the snapshot has them. */
bool mono_heap_make_javascript(struct mono_heap *heap);

/* Chooses how ids of objects are made, and makes one. */
void mono_heap_map_ids(struct mono_heap *heap);
uint32_t mono_heap_id(const struct mono_heap *heap, uint32_t object);

/* The records of the chunks. */
void mono_heap_put_counters(struct mono_heap *heap, struct mono_heap_out *out);
void mono_heap_put_assemblies(struct mono_heap *heap, struct mono_heap_out *out);
void mono_heap_put_classes(struct mono_heap *heap, struct mono_heap_out *out);
void mono_heap_put_objects(struct mono_heap *heap, struct mono_heap_out *out);
void mono_heap_put_references(struct mono_heap *heap, struct mono_heap_out *out);
void mono_heap_put_roots(struct mono_heap *heap, struct mono_heap_out *out);
void mono_heap_put_handles(struct mono_heap *heap, struct mono_heap_out *out);
void mono_heap_put_js_proxies(struct mono_heap *heap, struct mono_heap_out *out);
void mono_heap_put_js_objects(struct mono_heap *heap, struct mono_heap_out *out);

#endif
