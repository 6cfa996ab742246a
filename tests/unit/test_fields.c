/* SPDX-License-Identifier: MIT */
/*
 * Fields of types, and what slots are called: base classes, structs in place,
 * arrays of references and of structs, places that no field is known for, and
 * files that tell nonsense.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/heapshot-reader-fields.h"
#include "tests/data/synthetic_writer.h"
#include "tests/unit/leak_check.h"

TestSuite(fields, .fini = leak_check);

enum { OBJECT = 20, ANIMAL, DOG, PAIR, REFERENCES, PAIRS, RING, NUMBERS };

static void put_type(struct synthetic_writer *writer, uint32_t id, Heapshot__TypeKind kind,
		     uint32_t parent, uint32_t element)
{
	Heapshot__Type type = HEAPSHOT__TYPE__INIT;

	type.id = id;
	type.name = (char *)(uintptr_t) "T.Some";
	type.kind = kind;
	type.parent = parent;
	type.element = element;
	PUT(METADATA, TYPE, &type);
}

static void put_layout(struct synthetic_writer *writer, uint32_t type, uint64_t bytes,
		       const Heapshot__Field *fields, size_t n)
{
	Heapshot__TypeLayout layout = HEAPSHOT__TYPE_LAYOUT__INIT;
	Heapshot__Field *pointers[8];
	size_t i;

	for (i = 0; i < n; i++)
		pointers[i] = (Heapshot__Field *)(uintptr_t)&fields[i];
	layout.type = type;
	layout.instance_size_bytes = bytes;
	layout.n_field = n;
	layout.field = pointers;
	PUT(METADATA, TYPE_LAYOUT, &layout);
}

static Heapshot__Field field(const char *name, uint64_t offset, uint32_t type, bool is_inline,
			     bool is_static)
{
	Heapshot__Field made = HEAPSHOT__FIELD__INIT;

	made.name = (char *)(uintptr_t)name;
	made.offset = offset;
	made.type = type;
	made.is_inline = is_inline;
	made.is_static = is_static;
	return made;
}

static struct heapshot_reader *make(struct synthetic_bytes *bytes)
{
	const Heapshot__Field animal[] = {field("_name", 16, 1, false, false),
					  field("_pair", 24, PAIR, true, false),
					  field("Count", 0, 0, false, true)};
	const Heapshot__Field dog[] = {field("_friend", 40, ANIMAL, false, false)};
	const Heapshot__Field pair[] = {field("key", 16, 1, false, false),
					field("value", 24, 1, false, false)};
	const Heapshot__Field ring[] = {field("again", 16, RING, true, false)};
	struct synthetic_writer writer;
	struct heapshot_reader *reader = heapshot_reader_new(NULL);

	memset(bytes, 0, sizeof(*bytes));
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	put_type(&writer, ANIMAL, HEAPSHOT__TYPE_KIND__TYPE_KIND_CLASS, OBJECT, 0);
	put_type(&writer, DOG, HEAPSHOT__TYPE_KIND__TYPE_KIND_CLASS, ANIMAL, 0);
	put_type(&writer, PAIR, HEAPSHOT__TYPE_KIND__TYPE_KIND_STRUCT, 0, 0);
	put_type(&writer, REFERENCES, HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY, 0, ANIMAL);
	put_type(&writer, PAIRS, HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY, 0, PAIR);
	put_type(&writer, NUMBERS, HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY, 0, RING + 5);
	/* Its own parent, and itself in place. */
	put_type(&writer, RING, HEAPSHOT__TYPE_KIND__TYPE_KIND_STRUCT, RING, 0);
	put_layout(&writer, RING, 24, ring, 1);
	put_layout(&writer, PAIR, 32, pair, 1);
	put_layout(&writer, DOG, 48, dog, 1);
	put_layout(&writer, ANIMAL, 40, animal, 3);
	/* The rest of it, and something that was told before. */
	put_layout(&writer, PAIR, 32, pair, 2);
	synthetic_close(&writer, true, "");
	cr_assert_eq(heapshot_reader_open_memory(reader, bytes->data, bytes->size),
		     HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_reader_load_fields(reader), HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_reader_load_fields(reader), HEAPSHOT_READ_OK);
	return reader;
}

static void check_name(const struct heapshot_reader *reader, uint32_t type, uint64_t offset,
		       const char *expected, bool is_known)
{
	char name[HEAPSHOT_SLOT_NAME_BYTES];

	cr_expect_eq(heapshot_reader_slot_name(reader, type, offset, name), is_known, "%s",
		     expected);
	cr_expect_str_eq(name, expected);
}

Test(fields, name_slots)
{
	struct synthetic_bytes bytes;
	struct heapshot_reader *reader = make(&bytes);

	check_name(reader, ANIMAL, 16, "_name", true);
	check_name(reader, ANIMAL, 32, "_pair.value", true);
	check_name(reader, DOG, 16, "_name", true);
	check_name(reader, DOG, 24, "_pair.key", true);
	check_name(reader, DOG, 40, "_friend", true);
	check_name(reader, REFERENCES, 32, "[0]", true);
	check_name(reader, REFERENCES, 32 + 8 * 123456789, "[123456789]", true);
	check_name(reader, PAIRS, 32 + 16 * 7 + 8, "[7].value", true);
	/* A boxed struct is an object of its type. */
	check_name(reader, PAIR, 24, "value", true);
	heapshot_reader_free(reader);
	free(bytes.data);
}

Test(fields, say_what_is_not_known)
{
	struct synthetic_bytes bytes;
	struct heapshot_reader *reader = make(&bytes);

	check_name(reader, ANIMAL, 8, "+8", false);
	check_name(reader, DOG, 48, "+48", false);
	check_name(reader, 999, 16, "+16", false);
	check_name(reader, 0, 0, "+0", false);
	check_name(reader, REFERENCES, 16, "+16", false);
	check_name(reader, RING, 16, "+16", false);
	check_name(reader, ANIMAL, UINT64_MAX, "+18446744073709551615", false);
	heapshot_reader_free(reader);
	free(bytes.data);
}

Test(fields, are_told_by_type)
{
	struct synthetic_bytes bytes;
	struct heapshot_reader *reader = make(&bytes);
	const struct heapshot_type_field *fields;
	uint64_t index, inner;
	size_t n;

	fields = heapshot_reader_fields(reader, ANIMAL, &n);
	cr_assert_eq(n, 3);
	cr_expect_str_eq(fields[0].name, "_name");
	cr_expect(fields[1].is_inline && fields[1].type == PAIR && fields[1].offset == 24);
	cr_expect(fields[2].is_static && fields[2].owner == ANIMAL);
	heapshot_reader_fields(reader, PAIR, &n);
	cr_expect_eq(n, 2);
	cr_expect_null(heapshot_reader_fields(reader, OBJECT, &n));
	cr_expect_eq(n, 0);
	cr_expect_eq(heapshot_reader_instance_bytes(reader, DOG), 48);
	cr_expect_eq(heapshot_reader_instance_bytes(reader, OBJECT), 0);
	cr_expect(heapshot_reader_element(reader, PAIRS, 32 + 40, &index, &inner));
	cr_expect(index == 2 && inner == 8);
	/* An element type that was never defined counts as one of references. */
	cr_expect(heapshot_reader_element(reader, NUMBERS, 40, &index, &inner) && index == 1);
	cr_expect_not(heapshot_reader_element(reader, ANIMAL, 40, &index, &inner));
	heapshot_reader_free(reader);
	free(bytes.data);
}
