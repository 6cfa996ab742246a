/* SPDX-License-Identifier: MIT */
/*
 * The variants: a heap of a chain of T.Node, one array of 300 references,
 * strings, and roots of every kind, whole or with something wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/data/synthetic_code.h"
#include "tests/data/synthetic_handles.h"
#include "tests/data/synthetic_held.h"
#include "tests/data/synthetic_limits.h"
#include "tests/data/synthetic_round.h"
#include "tests/data/synthetic_writer.h"

static void make_snapshots(struct synthetic_writer *writer, unsigned n, uint64_t n_nodes)
{
	static const char *const labels[] = {"start", "after login", ""};
	static const char *const triggers[] = {"gc", "api", "shutdown"};
	unsigned i;

	for (i = 0; i < n; i++) {
		if (!writer->is_bare)
			synthetic_put_events(writer);
		synthetic_begin_snapshot(writer, labels[i % 3], triggers[i % 3]);
		synthetic_put_heap(writer, n_nodes << (i % 3));
		synthetic_end_snapshot(writer);
	}
	/* Met in the batches before it is defined here. */
	synthetic_put_type(writer, TYPE_LATE, "T.Late", 2);
}

static void make_good(struct synthetic_bytes *bytes, unsigned snapshots, uint64_t n_nodes,
		      bool has_end)
{
	struct synthetic_writer writer;

	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	make_snapshots(&writer, snapshots, n_nodes);
	synthetic_close(&writer, has_end, "");
}

static void good(struct synthetic_bytes *bytes, uint64_t n)
{
	(void)n;
	make_good(bytes, GOOD_SNAPSHOTS, GOOD_NODES, true);
}

static void small(struct synthetic_bytes *bytes, uint64_t n)
{
	(void)n;
	make_good(bytes, 2, 20, true);
}

static void killed(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	make_snapshots(&writer, 2, 100);
	synthetic_begin_snapshot(&writer, "lost", "gc");
	synthetic_put_heap(&writer, 100);
	hs_stream_flush(writer.stream, HS_FRAME_SNAPSHOT_BODY, 0);
	synthetic_close(&writer, false, NULL);
}

static void many(struct synthetic_bytes *bytes, uint64_t n)
{
	make_good(bytes, 1, n != 0 ? n : 100000, true);
}

/* About 200 KB that do not compress well: addresses and sizes from a fixed seed. */
static void varied(struct synthetic_bytes *bytes, uint64_t n)
{
	uint64_t state = 88172645463325252u, address;
	struct synthetic_writer writer;
	unsigned snapshot, i;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	for (snapshot = 0; snapshot < 2; snapshot++) {
		synthetic_put_events(&writer);
		synthetic_begin_snapshot(&writer, "varied", "gc");
		for (i = 0, address = NODES; i < 25000; i++) {
			uint64_t target = i == 0 ? NODES : address;

			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			address += 64 + (state >> 52) * 8;
			if (i % 3 != 0)
				synthetic_put_object(&writer, TYPE_STRING, address,
						     22 + (state & 0xFFE), 0, 0);
			else
				synthetic_put_object(&writer, TYPE_NODE, address, 32,
						     i == 0 ? address : target, 0);
		}
		synthetic_put_root(&writer, synthetic_put_source(&writer, 4, "", "T.Pub.Root"), 4,
				   address);
		synthetic_flush_roots(&writer);
		synthetic_end_snapshot(&writer);
	}
	synthetic_close(&writer, true, "");
}

static void none(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_close(&writer, true, "no full collection happened");
}

/* Objects of which none refers to another: 40 that are held, and 8 that are not. */
static void unreferenced(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;
	uint32_t source;
	unsigned i;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_begin_snapshot(&writer, "unreferenced", "api");
	for (i = 0; i < 48; i++)
		synthetic_put_object(&writer, TYPE_PUB, NODES + 24 * i, 24, 0, 0);
	synthetic_flush_batch(&writer);
	source = synthetic_put_source(&writer, 7, "", "normal");
	for (i = 0; i < 40; i++)
		synthetic_put_root(&writer, source, 7, NODES + 24 * i);
	synthetic_flush_roots(&writer);
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
}

static void version(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 2);
	synthetic_close(&writer, true, "");
}

static void two(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;

	(void)n;
	make_good(bytes, 2, 20, true);
	synthetic_open(&writer, bytes, 0xBADCAFE, 1);
	make_snapshots(&writer, 1, 50);
	synthetic_close(&writer, true, "");
}

/* Sizes above 2^31, sums above 2^63. */
static void huge(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;
	unsigned i;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_begin_snapshot(&writer, "huge", "gc");
	for (i = 0; i < 3; i++)
		synthetic_put_object(&writer, TYPE_HUGE, NODES + i * 64, (uint64_t)1 << 62, 0, 0);
	synthetic_put_object(&writer, TYPE_NODE, NODES + 4096, ((uint64_t)1 << 31) + 8, NODES, 0);
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
}

/* A sum that passes 2^64. */
static void overflow(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;
	unsigned i;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_begin_snapshot(&writer, "overflow", "gc");
	for (i = 0; i < 5; i++)
		synthetic_put_object(&writer, TYPE_HUGE, NODES + i * 64, (uint64_t)1 << 62, 0, 0);
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
}

/* Records, fields and frames of a later version. */
static void unknown(struct synthetic_bytes *bytes, uint64_t n)
{
	static uint8_t text[] = "later";
	ProtobufCMessageUnknownField field = {
		.tag = 90,
		.wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED,
		.len = 6,
		.data = (uint8_t[]){5, 'l', 'a', 't', 'e', 'r'},
	};
	Heapshot__Type type = HEAPSHOT__TYPE__INIT;
	struct synthetic_writer writer_, *writer = &writer_;
	uint8_t *out;
	int error;

	(void)n;
	synthetic_open(writer, bytes, 0xC0FFEE, 1);
	type.id = 40;
	type.name = (char *)(uintptr_t) "T.Newer";
	type.base.n_unknown_fields = 1;
	type.base.unknown_fields = &field;
	PUT(METADATA, TYPE, &type);
	out = hs_stream_put_raw(writer->stream, HS_FRAME_EVENTS, writer->time_ns, 200, 5, 0,
				&error);
	memcpy(out, text, 5);
	make_snapshots(writer, 1, 20);
	hs_stream_flush_all(writer->stream, 0);
	out = hs_stream_put_raw(writer->stream, (enum hs_frame_kind)9, writer->time_ns, 201, 5, 0,
				&error);
	memcpy(out, text, 5);
	hs_stream_flush(writer->stream, (enum hs_frame_kind)9, 0);
	synthetic_close(writer, true, "");
}

/* A reference to nothing, a type never defined, an object twice, a root of nothing. */
static void inconsistent(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_begin_snapshot(&writer, "inconsistent", "gc");
	synthetic_put_object(&writer, TYPE_NODE, NODES, 32, NODES + 32, 0xdead0000);
	synthetic_put_object(&writer, TYPE_NODE, NODES + 32, 32, 0, 0);
	synthetic_put_object(&writer, TYPE_NODE, NODES + 32, 32, 0, 0);
	synthetic_put_object(&writer, TYPE_LATE, NODES + 64, 32, 0,
			     0); /* not defined in this one */
	synthetic_put_root(&writer, synthetic_put_source(&writer, 4, "", "T.Pub.Gone"), 4,
			   0xbeef0000);
	synthetic_flush_roots(&writer);
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
}

/* Totals that are not those of the body: two of them, or the one of number N; above that N objects too many. */
static void differs(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;
	Heapshot__SnapshotEnd *end = &writer.end;
	uint64_t *const totals[SYNTHETIC_TOTALS] = {
		&end->objects,         &end->references,     &end->bytes,
		&end->slot_bytes,      &end->object_batches, &end->roots,
		&end->ephemeron_edges, &end->root_batches,   &end->ephemeron_batches,
	};

	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_begin_snapshot(&writer, "differs", "gc");
	synthetic_put_heap(&writer, 20);
	if (n >= 1 && n <= SYNTHETIC_TOTALS) {
		++*totals[n - 1];
	} else if (n > SYNTHETIC_TOTALS) {
		end->objects += n;
	} else {
		end->objects += 5;
		end->roots++;
	}
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
}

/* A snapshot that the recorder gave up. */
static void abandoned(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	make_snapshots(&writer, 1, 20);
	synthetic_begin_snapshot(&writer, "abandoned", "gc");
	synthetic_put_object(&writer, TYPE_NODE, NODES, 32, 0, 0);
	writer.end.status = HEAPSHOT__SNAPSHOT_STATUS__SNAPSHOT_STATUS_ABANDONED;
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
}

/* Names that would drive a terminal. */
static void hostile_names(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;

	(void)n;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_put_type(&writer, TYPE_LATE, "T.Esc\033[31m\n\x9b\xff\xe2\x80\xae<\"\\>", 2);
	synthetic_begin_snapshot(&writer, "label\033]0;x\007", "gc\n");
	synthetic_put_object(&writer, TYPE_LATE, NODES, 32, 0, 0);
	synthetic_put_root(&writer, synthetic_put_source(&writer, 4, "", "T.\033[2J"), 4, NODES);
	synthetic_flush_roots(&writer);
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
}

/* A host whose name would lead out of a folder. */
static void hostile_host(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;

	(void)n;
	synthetic_host = "../web 1/%\"=\n'\xff";
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_host = NULL;
	make_snapshots(&writer, 1, 20);
	synthetic_close(&writer, true, "");
}

/* Types and counts without objects. */
static void stats(struct synthetic_bytes *bytes, uint64_t n)
{
	Heapshot__SnapshotBegin begin = HEAPSHOT__SNAPSHOT_BEGIN__INIT;
	Heapshot__TypeTotals totals = HEAPSHOT__TYPE_TOTALS__INIT;
	Heapshot__TypeTotal total = HEAPSHOT__TYPE_TOTAL__INIT, *list[] = {&total};
	struct synthetic_writer writer_, *writer = &writer_;

	(void)n;
	synthetic_open(writer, bytes, 0xC0FFEE, 1);
	synthetic_begin_snapshot(writer, "stats", "api");
	hs_stream_discard(writer->stream, HS_FRAME_SNAPSHOT_BODY);
	begin.id = writer->id;
	begin.is_stats_only = true;
	PUT(SNAPSHOT_BEGIN, SNAPSHOT_BEGIN, &begin);
	hs_stream_flush(writer->stream, HS_FRAME_SNAPSHOT_BEGIN, 0);
	totals.snapshot = writer->id;
	totals.n_total = 1;
	totals.total = list;
	total.type = TYPE_NODE;
	total.objects = writer->end.objects = 5;
	total.bytes = writer->end.bytes = 160;
	total.references = writer->end.references = 4;
	PUT(SNAPSHOT_BODY, TYPE_TOTALS, &totals);
	synthetic_end_snapshot(writer);
	synthetic_close(writer, true, "");
}

static void put_method(struct synthetic_writer *writer, uint64_t id, const char *name,
		       uint64_t address, uint64_t bytes)
{
	static uint8_t code[48];
	Heapshot__JitMethod method = HEAPSHOT__JIT_METHOD__INIT;
	Heapshot__MethodCode part = HEAPSHOT__METHOD_CODE__INIT;

	method.id = id;
	method.name = (char *)(uintptr_t)name;
	method.signature = (char *)(uintptr_t) "void (int)";
	method.token = 0x06000000 + (uint32_t)id;
	method.image = 2;
	method.tier = HEAPSHOT__JIT_TIER__JIT_TIER_JIT;
	method.il_bytes = 12;
	method.code_address = address;
	method.code_bytes = bytes;
	method.chunk_address = 0x40000000;
	method.compile_ns = 1000 * id;
	PUT(EVENTS, JIT_METHOD, &method);
	part.method = id;
	part.kind = HEAPSHOT__CODE_KIND__CODE_KIND_NATIVE;
	part.total_bytes = bytes;
	part.data.data = code;
	part.data.len = bytes < sizeof(code) ? bytes : sizeof(code);
	PUT(EVENTS, METHOD_CODE, &part);
}

/* Methods and their code: one compiled twice, one where another was, one without a place. */
static void methods(struct synthetic_bytes *bytes, uint64_t n)
{
	Heapshot__JitChunk chunk = HEAPSHOT__JIT_CHUNK__INIT;
	Heapshot__CodeBuffer buffer = HEAPSHOT__CODE_BUFFER__INIT;
	struct synthetic_writer writer_, *writer = &writer_;

	(void)n;
	synthetic_open(writer, bytes, 0xC0FFEE, 1);
	chunk.address = 0x40000000;
	chunk.size = 0x10000;
	PUT(EVENTS, JIT_CHUNK, &chunk);
	put_method(writer, 1, "T.Pub:Main", 0x40000010, 40);
	put_method(writer, 2, "T.Pub:Add", 0x40000040, 60);
	buffer.address = 0x40000080;
	buffer.size = 32;
	buffer.kind = HEAPSHOT__CODE_BUFFER_KIND__CODE_BUFFER_KIND_SPECIFIC_TRAMPOLINE;
	buffer.name = (char *)(uintptr_t) "lazy";
	PUT(EVENTS, CODE_BUFFER, &buffer);
	put_method(writer, 3, "T.Pub:Add", 0x400000a0, 60);
	put_method(writer, 4, "T.Pub:Later", 0x40000048, 8);
	put_method(writer, 5, "T.Pub:Nowhere", 0, 0);
	chunk.is_destroyed = true;
	PUT(EVENTS, JIT_CHUNK, &chunk);
	synthetic_close(writer, true, "");
}

static const struct {
	const char *name;
	void (*make)(struct synthetic_bytes *bytes, uint64_t n);
} variants[] = {
	{"good", good},
	{"small", small},
	{"killed", killed},
	{"many", many},
	{"varied", varied},
	{"none", none},
	{"unreferenced", unreferenced},
	{"version", version},
	{"two", two},
	{"huge", huge},
	{"overflow", overflow},
	{"unknown", unknown},
	{"inconsistent", inconsistent},
	{"differs", differs},
	{"abandoned", abandoned},
	{"hostile-names", hostile_names},
	{"hostile-host", hostile_host},
	{"stats", stats},
	{"methods", methods},
	{"code", synthetic_code},
	{"held", synthetic_held},
	{"round", synthetic_round},
	{"wide", synthetic_wide},
	{"apart", synthetic_apart},
	{"low", synthetic_low},
	{"names", synthetic_names},
	{"long-name", synthetic_long_name},
	{"handles", synthetic_handles},
	{"handles-differ", synthetic_handles_differ},
};

const char *synthetic_name(size_t i)
{
	return i < sizeof(variants) / sizeof(*variants) ? variants[i].name : NULL;
}

bool synthetic_make(const char *name, uint64_t n, struct synthetic_bytes *bytes)
{
	size_t i;

	*bytes = (struct synthetic_bytes){0};
	for (i = 0; i < sizeof(variants) / sizeof(*variants); i++)
		if (strcmp(variants[i].name, name) == 0) {
			variants[i].make(bytes, n);
			return true;
		}
	return false;
}
