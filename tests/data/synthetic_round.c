/* SPDX-License-Identifier: MIT */
/*
 * Structs that hold themselves thirty times over, a type that is its own base
 * class, an object that is table, key and value of one ephemeron.
 */
#include <stdio.h>

#include "tests/data/synthetic_round.h"
#include "tests/data/synthetic_writer.h"

#define FIELDS 30

/* A type with FIELDS structs of type INNER in place. */
static void put_layout(struct synthetic_writer *writer, uint32_t id, uint32_t inner)
{
	Heapshot__TypeLayout layout = HEAPSHOT__TYPE_LAYOUT__INIT;
	Heapshot__Field fields[FIELDS], *list[FIELDS];
	char names[FIELDS][16];
	uint32_t i;

	for (i = 0; i < FIELDS; i++) {
		heapshot__field__init(&fields[i]);
		snprintf(names[i], sizeof(names[i]), "f%u", i);
		fields[i].name = names[i];
		fields[i].offset = 16 + 8 * i;
		fields[i].type = inner;
		fields[i].is_inline = true;
		list[i] = &fields[i];
	}
	layout.type = id;
	layout.instance_size_bytes = 16 + 8 * FIELDS;
	layout.n_field = FIELDS;
	layout.field = list;
	PUT(METADATA, TYPE_LAYOUT, &layout);
}

/* One whose only field is static: such structs have nothing that could be counted. */
static void put_static(struct synthetic_writer *writer, uint32_t id)
{
	Heapshot__TypeLayout layout = HEAPSHOT__TYPE_LAYOUT__INIT;
	Heapshot__Field field = HEAPSHOT__FIELD__INIT, *list = &field;

	field.name = (char *)(uintptr_t) "s";
	field.is_static = true;
	layout.type = id;
	layout.n_field = 1;
	layout.field = &list;
	PUT(METADATA, TYPE_LAYOUT, &layout);
}

void synthetic_round(struct synthetic_bytes *bytes, uint64_t n)
{
	static const struct hs_decoded_ephemeron edge = {NODES, NODES, NODES};
	Heapshot__Type type = HEAPSHOT__TYPE__INIT;
	struct synthetic_writer writer_, *writer = &writer_;
	uint32_t id;

	(void)n;
	synthetic_open(writer, bytes, 0xC0FFEE, 1);
	type.id = type.parent = TYPE_NODE;
	type.name = (char *)(uintptr_t) "T.Node";
	type.image = 2;
	type.kind = HEAPSHOT__TYPE_KIND__TYPE_KIND_CLASS;
	PUT(METADATA, TYPE, &type);
	put_layout(writer, TYPE_NODE, 100);
	for (id = 100; id < 114; id++)
		put_layout(writer, id, id + 1);
	put_static(writer, id);
	put_layout(writer, TYPE_PUB, TYPE_PUB);
	synthetic_begin_snapshot(writer, "round", "gc");
	synthetic_put_object(writer, TYPE_NODE, NODES, 32, NODES, NODES + 32);
	synthetic_put_object(writer, TYPE_PUB, NODES + 32, 32, NODES, 0);
	synthetic_put_root(writer, synthetic_put_source(writer, 4, "", "T.Pub.Root"), 4, NODES);
	synthetic_flush_batch(writer);
	synthetic_flush_roots(writer);
	synthetic_put_ephemerons(writer, &edge, 1);
	synthetic_end_snapshot(writer);
	synthetic_close(writer, true, "");
}
