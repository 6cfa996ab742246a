/* SPDX-License-Identifier: MIT */
/*
 * Heaps told object by object, made into a recording: for tests of the graph.
 * A failure aborts.
 */
#ifndef HEAPSHOT_TESTS_HEAP_H
#define HEAPSHOT_TESTS_HEAP_H

#include "tests/data/synthetic_writer.h"

struct heap_reference {
	/* Numbers of objects; TO: HEAP_NOWHERE or HEAP_BESIDE for a dangling one. */
	uint32_t from, to;
	uint64_t offset;
};

struct heap_root {
	uint32_t kind, object;
	const char *name;
};

struct heap_ephemeron {
	uint32_t table, key, value;
};

struct heap_object {
	uint64_t address, size;
	uint32_t type;
};

#define HEAP_NOWHERE UINT32_MAX       /* far from all objects */
#define HEAP_BESIDE  (UINT32_MAX - 1) /* near them */
#define HEAP_BASE    0x7f0000000000u

struct heap {
	struct heap_object *objects;
	struct heap_reference *references;
	struct heap_root *roots;
	struct heap_ephemeron *ephemerons;
	size_t n_objects, n_references, n_roots, n_ephemerons;
	size_t rooms[4];
	uint64_t next_address;
};

void heap_free(struct heap *heap);
/* Adds an object behind the others; returns its number. */
uint32_t heap_add(struct heap *heap, uint32_t type, uint64_t size);
/* The same with the room of GAP bytes before it. */
uint32_t heap_add_behind(struct heap *heap, uint32_t type, uint64_t size, uint64_t gap);
/* Adds a reference in slot SLOT (from 0) of FROM; those of an object in ascending order. */
void heap_refer(struct heap *heap, uint32_t from, uint32_t slot, uint32_t to);
void heap_root(struct heap *heap, uint32_t kind, const char *name, uint32_t object);
void heap_ephemeron(struct heap *heap, uint32_t table, uint32_t key, uint32_t value);
/* Makes a recording with the heap as its only snapshot; SEED shuffles the rows, 0: in order. */
void heap_record(const struct heap *heap, uint64_t seed, struct synthetic_bytes *bytes);

#endif
