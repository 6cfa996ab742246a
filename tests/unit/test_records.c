/* SPDX-License-Identifier: MIT */
/*
 * Records that are written by hand, held against the generated code.
 */
#include <criterion/criterion.h>

#include "schema/gc_records.h"
#include "schema/heapshot.pb-c.h"
#include "schema/type_records.h"
#include "schema/wire.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/random.h"

TestSuite(records, .fini = leak_check);

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

Test(records, events_are_those_of_the_generated_code)
{
	random_start("records");
	for (int i = 0; i < ROUNDS; i++) {
		const struct hs_gc_event in = {
			.phase = (uint32_t)any_number() & INT32_MAX,
			.generation = (uint32_t)any_number(),
			.is_serial = random_below(2) != 0,
		};
		Heapshot__GcEvent event = HEAPSHOT__GC_EVENT__INIT;
		uint8_t ours[64], theirs[64];
		struct hs_gc_event out;
		size_t bytes;

		event.phase = (Heapshot__GcPhase)in.phase;
		event.generation = in.generation;
		event.is_serial = in.is_serial;
		bytes = hs_gc_event_bytes(&in);
		cr_assert_eq(hs_gc_event_encode(ours, &in) - ours, bytes);
		cr_assert_eq(heapshot__gc_event__pack(&event, theirs), bytes);
		cr_assert_arr_eq(ours, theirs, bytes);
		cr_assert_eq(hs_gc_event_decode(slice(theirs, bytes), &out), 0);
		cr_assert_eq(out.phase, in.phase);
		cr_assert_eq(out.generation, in.generation);
		cr_assert_eq(out.is_serial, in.is_serial);
	}
}

Test(records, resizes_are_those_of_the_generated_code)
{
	random_start("records");
	for (int i = 0; i < ROUNDS; i++) {
		Heapshot__GcResize resize = HEAPSHOT__GC_RESIZE__INIT;
		const struct hs_gc_resize in = {any_number()};
		uint8_t ours[64], theirs[64];
		struct hs_gc_resize out;
		size_t bytes;

		resize.heap_bytes = in.heap_bytes;
		bytes = hs_gc_resize_bytes(&in);
		cr_assert_eq(hs_gc_resize_encode(ours, &in) - ours, bytes);
		cr_assert_eq(heapshot__gc_resize__pack(&resize, theirs), bytes);
		cr_assert_arr_eq(ours, theirs, bytes);
		cr_assert_eq(hs_gc_resize_decode(slice(theirs, bytes), &out), 0);
		cr_assert_eq(out.heap_bytes, in.heap_bytes);
	}
}

/* What a later version may add, or another writer put in another order. */
Test(records, unknown_fields_are_passed_over)
{
	static const uint8_t event[] = {0x22, 2, 'n', 'o', 0x18, 1, 0x51, 1, 2,
					3,    4, 5,   6,   7,    8, 0x08, 6};
	static const uint8_t resize[] = {0x10, 5, 0x08, 0x80, 1};
	struct hs_gc_event out;
	struct hs_gc_resize size;

	cr_assert_eq(hs_gc_event_decode(slice(event, sizeof event), &out), 0);
	cr_assert_eq(out.phase, 6);
	cr_assert_eq(out.generation, 0);
	cr_assert(out.is_serial);
	cr_assert_eq(hs_gc_resize_decode(slice(resize, sizeof resize), &size), 0);
	cr_assert_eq(size.heap_bytes, 128);
}

#define NAME_MAX_BYTES 300
#define FIELDS_MAX     40

/* Of LENGTH bytes, none of them zero. */
static struct hs_chars any_name(char *memory)
{
	const size_t bytes = random_below(3) ? random_below(40) : random_below(NAME_MAX_BYTES);

	for (size_t i = 0; i < bytes; i++)
		memory[i] = (char)('!' + random_below(90));
	memory[bytes] = 0;
	return (struct hs_chars){memory, bytes};
}

static uint8_t ours[32768], theirs[32768];

static void check(size_t bytes, const uint8_t *end, const ProtobufCMessage *message)
{
	cr_assert_eq(end - ours, bytes);
	cr_assert_leq(bytes, sizeof ours);
	cr_assert_eq(protobuf_c_message_get_packed_size(message), bytes);
	protobuf_c_message_pack(message, theirs);
	cr_assert_arr_eq(ours, theirs, bytes);
}

Test(records, types_are_those_of_the_generated_code)
{
	static char names[2][NAME_MAX_BYTES];

	random_start("records");
	for (int i = 0; i < ROUNDS; i++) {
		const struct hs_type_record in = {
			.id = (uint32_t)any_number(),
			.image = (uint32_t)any_number(),
			.kind = (uint32_t)random_below(9),
			.element = (uint32_t)any_number(),
			.rank = (uint32_t)any_number(),
			.parent = (uint32_t)any_number(),
			.generic_definition = (uint32_t)any_number(),
			.token = (uint32_t)any_number(),
			.class_address = any_number(),
			.instance_size_bytes = any_number(),
			.name_bytes = any_number(),
			.name_hash = any_number(),
			.name = any_name(names[0]),
			.name_space = any_name(names[1]),
		};
		Heapshot__Type type = HEAPSHOT__TYPE__INIT;

		type.id = in.id;
		type.image = in.image;
		type.kind = (Heapshot__TypeKind)in.kind;
		type.element = in.element;
		type.rank = in.rank;
		type.parent = in.parent;
		type.generic_definition = in.generic_definition;
		type.token = in.token;
		type.class_address = in.class_address;
		type.instance_size_bytes = in.instance_size_bytes;
		type.name_bytes = in.name_bytes;
		type.name_hash = in.name_hash;
		type.name = names[0];
		type.name_space = names[1];
		check(hs_type_bytes(&in), hs_type_encode(ours, &in), &type.base);
	}
}

Test(records, layouts_are_those_of_the_generated_code)
{
	static char names[FIELDS_MAX][NAME_MAX_BYTES];
	static struct hs_field_record fields[FIELDS_MAX];
	static Heapshot__Field messages[FIELDS_MAX], *pointers[FIELDS_MAX];

	random_start("records");
	for (int i = 0; i < ROUNDS / 20; i++) {
		const struct hs_layout_record in = {
			.type = (uint32_t)any_number(),
			.instance_size_bytes = any_number(),
			.fields = fields,
			.n_fields = random_below(FIELDS_MAX),
		};
		Heapshot__TypeLayout layout = HEAPSHOT__TYPE_LAYOUT__INIT;

		for (size_t j = 0; j < in.n_fields; j++) {
			fields[j] = (struct hs_field_record){
				.name = any_name(names[j]),
				.offset = any_number(),
				.type = (uint32_t)any_number(),
				.is_static = random_below(2),
				.is_thread_static = random_below(2),
				.is_inline = random_below(2),
			};
			heapshot__field__init(&messages[j]);
			messages[j].name = names[j];
			messages[j].offset = fields[j].offset;
			messages[j].type = fields[j].type;
			messages[j].is_static = fields[j].is_static;
			messages[j].is_thread_static = fields[j].is_thread_static;
			messages[j].is_inline = fields[j].is_inline;
			pointers[j] = &messages[j];
		}
		layout.type = in.type;
		layout.instance_size_bytes = in.instance_size_bytes;
		layout.n_field = in.n_fields;
		layout.field = pointers;
		check(hs_layout_bytes(&in), hs_layout_encode(ours, &in), &layout.base);
	}
}

Test(records, places_of_statics_are_those_of_the_generated_code)
{
	random_start("records");
	for (int i = 0; i < ROUNDS; i++) {
		const struct hs_storage_record in = {
			.type = (uint32_t)any_number(),
			.domain = (uint32_t)any_number(),
			.address = any_number(),
		};
		Heapshot__StaticStorage storage = HEAPSHOT__STATIC_STORAGE__INIT;

		storage.type = in.type;
		storage.domain = in.domain;
		storage.address = in.address;
		check(hs_storage_bytes(&in), hs_storage_encode(ours, &in), &storage.base);
	}
}

Test(records, what_is_no_message_is_refused)
{
	static const uint8_t cut[] = {0x08}, group[] = {0x0b, 0x0c}, text[] = {0x0a, 1, 'x'},
			     number_0[] = {0x00, 1}, beyond[] = {0x22, 9, 'x'};
	static const struct hs_slice bad[] = {
		{cut, cut + sizeof cut},          {group, group + sizeof group},
		{text, text + sizeof text},       {number_0, number_0 + sizeof number_0},
		{beyond, beyond + sizeof beyond},
	};
	struct hs_gc_event event;
	struct hs_gc_resize resize;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		cr_expect_eq(hs_gc_event_decode(bad[i], &event), -1, "%zu", i);
		cr_expect_eq(hs_gc_resize_decode(bad[i], &resize), -1, "%zu", i);
	}
}
