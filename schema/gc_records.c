/* SPDX-License-Identifier: MIT */
/*
 * GcEvent and GcResize.
 */
#include "schema/gc_records.h"

#include "schema/wire.h"

enum { EVENT_PHASE = 1, EVENT_GENERATION, EVENT_IS_SERIAL };
enum { RESIZE_HEAP_BYTES = 1 };

size_t hs_gc_event_bytes(const struct hs_gc_event *event)
{
	return hs_uint_bytes(EVENT_PHASE, event->phase) +
	       hs_uint_bytes(EVENT_GENERATION, event->generation) +
	       hs_uint_bytes(EVENT_IS_SERIAL, event->is_serial);
}

uint8_t *hs_gc_event_encode(uint8_t *out, const void *message)
{
	const struct hs_gc_event *event = message;

	out = hs_put_uint(out, EVENT_PHASE, event->phase);
	out = hs_put_uint(out, EVENT_GENERATION, event->generation);
	return hs_put_uint(out, EVENT_IS_SERIAL, event->is_serial);
}

size_t hs_gc_resize_bytes(const struct hs_gc_resize *resize)
{
	return hs_uint_bytes(RESIZE_HEAP_BYTES, resize->heap_bytes);
}

uint8_t *hs_gc_resize_encode(uint8_t *out, const void *message)
{
	const struct hs_gc_resize *resize = message;

	return hs_put_uint(out, RESIZE_HEAP_BYTES, resize->heap_bytes);
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

int hs_gc_resize_decode(struct hs_slice in, struct hs_gc_resize *resize)
{
	struct hs_field field;
	int found;

	*resize = (struct hs_gc_resize){0};
	while ((found = hs_field_next(&in, &field)) > 0) {
		if (field.number > RESIZE_HEAP_BYTES)
			continue;
		if (field.wire != HS_WIRE_VARINT)
			return -1;
		resize->heap_bytes = field.value;
	}
	return found;
}
