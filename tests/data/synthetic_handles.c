/* SPDX-License-Identifier: MIT */
/*
 * The heap, 5 objects and 144 bytes:
 *
 *     gc_handle JavaScript object Customer -> T.Node 0 -> T.Node 1 -> T.Node 2
 *     static T.Pub.Root                    -> T.Pub 0
 *     gc_handle normal                     -> T.Pub 1
 *
 * Its tables, where a row is (handle, typeof, name, object):
 *
 *     js_proxy   (22 object Customer, T.Node 0) (24 object Customer, T.Node 1)
 *                (26 function, T.Pub 0) (28 object Customer, no object), in two records
 *     js_object  (1 object Promise, T.Pub 1) (2, not known, T.Node 2) (-3 object Array, none)
 *     released   without rows
 */
#include "tests/data/synthetic_handles.h"

#include <stdlib.h>

#include "schema/handle_table.h"
#include "tests/data/synthetic_writer.h"

#define NODE(number) (NODES + 32 * (number))
#define PUB(number)  (NODES + 96 + 24 * (number))
#define TEXT(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}
#define LENGTH(array)  (sizeof(array) / sizeof(*(array)))
#define MEMORY_MAXIMUM 2147483648u

static void put_part(struct synthetic_writer *writer, struct hs_handle_part *part)
{
	int error = 0;
	uint8_t *out;

	part->snapshot = writer->id;
	part->word_bytes = 8;
	out = hs_stream_put_raw(writer->stream, HS_FRAME_SNAPSHOT_BODY, writer->time_ns,
				HEAPSHOT__RECORD__BODY_HANDLE_TABLE, hs_handle_part_bytes(part), 0,
				&error);
	if (out == NULL)
		abort();
	hs_handle_part_encode(out, part);
	writer->end.handle_tables++;
	writer->end.handles += part->n_rows;
}

static void put_more(struct synthetic_writer *writer, uint64_t n)
{
	static const struct hs_chars texts[] = {TEXT("function")};
	struct hs_handle_row rows[500];
	struct hs_handle_part part = {
		.name = TEXT("js_proxy"), .texts = texts, .n_texts = 1, .rows = rows};
	uint64_t i;

	for (i = 0; i < n; i++) {
		rows[part.n_rows++] = (struct hs_handle_row){
			.handle = 1000 + 2 * (int64_t)i, .js_type = 1, .object = PUB(0)};
		if (part.n_rows == LENGTH(rows) || i + 1 == n) {
			put_part(writer, &part);
			part.n_rows = 0;
		}
	}
}

static void put_tables(struct synthetic_writer *writer, uint64_t n)
{
	static const struct hs_chars first[] = {TEXT("object"), TEXT("Customer")};
	static const struct hs_chars second[] = {TEXT("function"), TEXT("Customer"),
						 TEXT("object")};
	static const struct hs_chars third[] = {TEXT("object"), TEXT("Promise"), TEXT("Array")};
	static const struct hs_handle_row first_rows[] = {{22, 1, 2, NODE(0)}, {24, 1, 2, NODE(1)}};
	static const struct hs_handle_row second_rows[] = {{26, 1, 0, PUB(0)},
							   {28, 3, 2, BASE + 0x800000}};
	static const struct hs_handle_row third_rows[] = {
		{1, 1, 2, PUB(1)}, {2, 0, 0, NODE(2)}, {-3, 1, 3, 0}};
	struct hs_handle_part parts[] = {
		{.name = TEXT("js_proxy"),
		 .released = 2,
		 .collected = 1,
		 .note = TEXT("of a test"),
		 .texts = first,
		 .n_texts = LENGTH(first),
		 .rows = first_rows,
		 .n_rows = LENGTH(first_rows)},
		{.name = TEXT("js_object"),
		 .escaped = 1,
		 .texts = third,
		 .n_texts = LENGTH(third),
		 .rows = third_rows,
		 .n_rows = LENGTH(third_rows)},
		{.name = TEXT("js_proxy"),
		 .texts = second,
		 .n_texts = LENGTH(second),
		 .rows = second_rows,
		 .n_rows = LENGTH(second_rows)},
		{.name = TEXT("released"), .released = 7},
	};

	for (size_t i = 0; i < LENGTH(parts); i++)
		put_part(writer, &parts[i]);
	put_more(writer, n);
}

/* Ten rows of a table whose name is another one's up to a NUL. */
static void put_name_with_nul(struct synthetic_writer *writer)
{
	struct hs_handle_row rows[10] = {{0}};
	struct hs_handle_part part = {
		.name = TEXT("js_proxy\0more"), .rows = rows, .n_rows = LENGTH(rows)};

	for (size_t i = 0; i < LENGTH(rows); i++)
		rows[i].handle = 100 + 2 * (int64_t)i;
	put_part(writer, &part);
}

static void put_counters(struct synthetic_writer *writer, uint64_t heap, uint64_t taken)
{
	static const char *const names[][2] = {
		{"GC heap", "gc"}, {"Memory taken", "memory"}, {"Memory maximum", "memory"}};
	const uint64_t values[] = {heap, taken, MEMORY_MAXIMUM};
	Heapshot__CounterSample sample = HEAPSHOT__COUNTER_SAMPLE__INIT;
	Heapshot__CounterValue list[LENGTH(names)], *pointers[LENGTH(names)];

	for (size_t i = 0; i < LENGTH(names); i++) {
		Heapshot__Counter counter = HEAPSHOT__COUNTER__INIT;

		counter.id = (uint32_t)i + 1;
		counter.name = (char *)(uintptr_t)names[i][0];
		counter.section = (char *)(uintptr_t)names[i][1];
		counter.unit = (char *)(uintptr_t) "bytes";
		PUT(METADATA, COUNTER, &counter);
		heapshot__counter_value__init(&list[i]);
		list[i].counter = counter.id;
		list[i].value_case = HEAPSHOT__COUNTER_VALUE__VALUE_UNSIGNED_VALUE;
		list[i].unsigned_value = values[i];
		pointers[i] = &list[i];
	}
	sample.n_value = LENGTH(names);
	sample.value = pointers;
	PUT(EVENTS, COUNTER_SAMPLE, &sample);
}

static void make(struct synthetic_bytes *bytes, uint64_t n, unsigned wrong)
{
	struct synthetic_writer writer_, *writer = &writer_;

	synthetic_architecture = "wasm32";
	synthetic_open(writer, bytes, 0xC0FFEE, 1);
	synthetic_architecture = NULL;
	put_counters(writer, 500, 1000);
	synthetic_begin_snapshot(writer, "handles", "api");
	synthetic_put_object(writer, TYPE_NODE, NODE(0), 32, NODE(1), 0);
	synthetic_put_object(writer, TYPE_NODE, NODE(1), 32, NODE(2), 0);
	synthetic_put_object(writer, TYPE_NODE, NODE(2), 32, 0, 0);
	synthetic_put_object(writer, TYPE_PUB, PUB(0), 24, 0, 0);
	synthetic_put_object(writer, TYPE_PUB, PUB(1), 24, 0, 0);
	synthetic_flush_batch(writer);
	put_tables(writer, n);
	synthetic_put_root(writer,
			   synthetic_put_source(writer, 7, "", "JavaScript object Customer"), 7,
			   NODE(0));
	synthetic_put_root(writer, synthetic_put_source(writer, 4, "", "T.Pub.Root"), 4, PUB(0));
	synthetic_put_root(writer, synthetic_put_source(writer, 7, "", "normal"), 7, PUB(1));
	synthetic_flush_roots(writer);
	if (wrong == 3)
		put_name_with_nul(writer);
	writer->end.heap_bytes = 400;
	writer->end.handle_tables += wrong == 1;
	writer->end.handles += wrong == 2;
	synthetic_end_snapshot(writer);
	put_counters(writer, 400, 1200);
	synthetic_close(writer, true, "");
}

void synthetic_handles(struct synthetic_bytes *bytes, uint64_t n)
{
	make(bytes, n, 0);
}

void synthetic_handles_differ(struct synthetic_bytes *bytes, uint64_t n)
{
	make(bytes, 0, (unsigned)n);
}
