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

struct hs_gc_resize {
	uint64_t heap_bytes;
};

/* Length of the message, and the message; MESSAGE is the struct, returned is the end. */
size_t hs_gc_event_bytes(const struct hs_gc_event *event);
uint8_t *hs_gc_event_encode(uint8_t *out, const void *message);
size_t hs_gc_resize_bytes(const struct hs_gc_resize *resize);
uint8_t *hs_gc_resize_encode(uint8_t *out, const void *message);

/* Read the message; 0, or -1 when it is none.  Unknown fields are passed over. */
int hs_gc_event_decode(struct hs_slice in, struct hs_gc_event *event);
int hs_gc_resize_decode(struct hs_slice in, struct hs_gc_resize *resize);

#endif
