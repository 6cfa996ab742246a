/* SPDX-License-Identifier: MIT */
/*
 * GcEvent and GcResize by hand: a collection has nine of them, and generated code
 * takes several times as long for records of three small numbers.
 */
#ifndef HEAPSHOT_SCHEMA_GC_RECORDS_H
#define HEAPSHOT_SCHEMA_GC_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/columns.h"

struct hs_gc_event {
	uint32_t phase; /* GcPhase */
	uint32_t generation;
	bool is_serial;
};

/* Longest of either: a key of one byte before each number. */
#define HS_GC_RECORD_MAX 16

/* Write the message at OUT, which has room for HS_GC_RECORD_MAX bytes; return its length. */
size_t hs_gc_event_encode(uint8_t *out, const struct hs_gc_event *event);
size_t hs_gc_resize_encode(uint8_t *out, uint64_t heap_bytes);

/* Read the message; 0, or -1 when it is none.  Unknown fields are passed over. */
int hs_gc_event_decode(struct hs_slice in, struct hs_gc_event *event);
int hs_gc_resize_decode(struct hs_slice in, uint64_t *heap_bytes);

#endif
