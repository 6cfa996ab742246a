/* SPDX-License-Identifier: MIT */
/*
 * The records of collections that are written by hand, held against the generated
 * code in both directions.
 */
#include <criterion/criterion.h>

#include "schema/gc_records.h"
#include "schema/heapshot.pb-c.h"
#include "schema/wire.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/random.h"

TestSuite(gc_records, .fini = leak_check);

#define ROUNDS 20000

/* As often short as long, and zero now and then. */
static uint64_t any_number(void)
{
	const size_t bits = random_below(65);

	return bits ? random_next() >> (64 - bits) : 0;
}

static struct hs_slice slice(const uint8_t *data, size_t bytes)
{
	return (struct hs_slice){data, data + bytes};
}

Test(gc_records, events_are_those_of_the_generated_code)
{
	random_start("gc_records");
	for (int i = 0; i < ROUNDS; i++) {
		const struct hs_gc_event in = {
			.phase = (uint32_t)any_number() & INT32_MAX,
			.generation = (uint32_t)any_number(),
			.is_serial = random_below(2) != 0,
		};
		Heapshot__GcEvent event = HEAPSHOT__GC_EVENT__INIT;
		uint8_t ours[HS_GC_RECORD_MAX], theirs[64];
		struct hs_gc_event out;
		size_t bytes;

		event.phase = (Heapshot__GcPhase)in.phase;
		event.generation = in.generation;
		event.is_serial = in.is_serial;
		bytes = hs_gc_event_encode(ours, &in);
		cr_assert_leq(bytes, sizeof ours);
		cr_assert_eq(heapshot__gc_event__pack(&event, theirs), bytes);
		cr_assert_arr_eq(ours, theirs, bytes);
		cr_assert_eq(hs_gc_event_decode(slice(theirs, bytes), &out), 0);
		cr_assert_eq(out.phase, in.phase);
		cr_assert_eq(out.generation, in.generation);
		cr_assert_eq(out.is_serial, in.is_serial);
	}
}

Test(gc_records, resizes_are_those_of_the_generated_code)
{
	random_start("gc_records");
	for (int i = 0; i < ROUNDS; i++) {
		Heapshot__GcResize resize = HEAPSHOT__GC_RESIZE__INIT;
		uint8_t ours[HS_GC_RECORD_MAX], theirs[64];
		uint64_t out;
		size_t bytes;

		resize.heap_bytes = any_number();
		bytes = hs_gc_resize_encode(ours, resize.heap_bytes);
		cr_assert_leq(bytes, sizeof ours);
		cr_assert_eq(heapshot__gc_resize__pack(&resize, theirs), bytes);
		cr_assert_arr_eq(ours, theirs, bytes);
		cr_assert_eq(hs_gc_resize_decode(slice(theirs, bytes), &out), 0);
		cr_assert_eq(out, resize.heap_bytes);
	}
}

/* What a later version may add, or another writer put in another order. */
Test(gc_records, unknown_fields_are_passed_over)
{
	static const uint8_t event[] = {0x22, 2, 'n', 'o', 0x18, 1, 0x51, 1, 2,
					3,    4, 5,   6,   7,    8, 0x08, 6};
	static const uint8_t resize[] = {0x10, 5, 0x08, 0x80, 1};
	struct hs_gc_event out;
	uint64_t heap_bytes;

	cr_assert_eq(hs_gc_event_decode(slice(event, sizeof event), &out), 0);
	cr_assert_eq(out.phase, 6);
	cr_assert_eq(out.generation, 0);
	cr_assert(out.is_serial);
	cr_assert_eq(hs_gc_resize_decode(slice(resize, sizeof resize), &heap_bytes), 0);
	cr_assert_eq(heap_bytes, 128);
}

Test(gc_records, what_is_no_message_is_refused)
{
	static const uint8_t cut[] = {0x08}, group[] = {0x0b, 0x0c}, text[] = {0x0a, 1, 'x'},
			     number_0[] = {0x00, 1}, beyond[] = {0x22, 9, 'x'};
	static const struct hs_slice bad[] = {
		{cut, cut + sizeof cut},          {group, group + sizeof group},
		{text, text + sizeof text},       {number_0, number_0 + sizeof number_0},
		{beyond, beyond + sizeof beyond},
	};
	struct hs_gc_event event;
	uint64_t heap_bytes;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		cr_expect_eq(hs_gc_event_decode(bad[i], &event), -1, "%zu", i);
		cr_expect_eq(hs_gc_resize_decode(bad[i], &heap_bytes), -1, "%zu", i);
	}
}
