/* SPDX-License-Identifier: MIT */
/*
 * GcEvent and GcResize.
 */
#include "schema/gc_records.h"

#include "schema/wire.h"

enum { EVENT_PHASE = 1, EVENT_GENERATION, EVENT_IS_SERIAL };
enum { RESIZE_HEAP_BYTES = 1 };

size_t hs_gc_event_encode(uint8_t *out, const struct hs_gc_event *event)
{
	uint8_t *end = hs_put_uint(out, EVENT_PHASE, event->phase);

	end = hs_put_uint(end, EVENT_GENERATION, event->generation);
	end = hs_put_uint(end, EVENT_IS_SERIAL, event->is_serial);
	return (size_t)(end - out);
}

size_t hs_gc_resize_encode(uint8_t *out, uint64_t heap_bytes)
{
	return (size_t)(hs_put_uint(out, RESIZE_HEAP_BYTES, heap_bytes) - out);
}

int hs_gc_event_decode(struct hs_slice in, struct hs_gc_event *event)
{
	struct hs_field field;
	int found;

	*event = (struct hs_gc_event){0};
	while ((found = hs_field_next(&in, &field)) > 0) {
		if (field.number > EVENT_IS_SERIAL)
			continue;
		if (field.wire != HS_WIRE_VARINT)
			return -1;
		if (field.number == EVENT_PHASE)
			event->phase = (uint32_t)field.value;
		else if (field.number == EVENT_GENERATION)
			event->generation = (uint32_t)field.value;
		else
			event->is_serial = field.value != 0;
	}
	return found;
}

int hs_gc_resize_decode(struct hs_slice in, uint64_t *heap_bytes)
{
	struct hs_field field;
	int found;

	*heap_bytes = 0;
	while ((found = hs_field_next(&in, &field)) > 0) {
		if (field.number > RESIZE_HEAP_BYTES)
			continue;
		if (field.wire != HS_WIRE_VARINT)
			return -1;
		*heap_bytes = field.value;
	}
	return found;
}
