/* SPDX-License-Identifier: MIT */
/*
 * The writer of synthetic recordings, and the heap that most of them hold.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/data/synthetic_writer.h"

static int append(const void *data, size_t size, void *user_data)
{
	struct synthetic_bytes *bytes = user_data;

	if (bytes->size + size > bytes->room) {
		bytes->room = (bytes->size + size) * 2;
		bytes->data = realloc(bytes->data, bytes->room);
		if (bytes->data == NULL)
			abort();
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return 0;
}

void synthetic_put(struct synthetic_writer *writer, enum hs_frame_kind kind,
		   Heapshot__Record__BodyCase body, void *message)
{
	Heapshot__Record record = HEAPSHOT__RECORD__INIT;

	record.body_case = body;
	record.gc_event = message; /* all members of the union are pointers */
	writer->time_ns += MOMENT;
	if (hs_stream_put(writer->stream, kind, writer->time_ns, &record, 0) != 0)
		abort();
}

void synthetic_put_type(struct synthetic_writer *writer, uint32_t id, const char *name,
			uint32_t image)
{
	Heapshot__Type type = HEAPSHOT__TYPE__INIT;

	type.id = id;
	type.name = (char *)(uintptr_t)name;
	type.name_space = (char *)(uintptr_t)(image == 1 ? "System" : "T");
	type.image = image;
	type.kind = HEAPSHOT__TYPE_KIND__TYPE_KIND_CLASS;
	type.class_address = 0x5000 + id * 0x100;
	PUT(METADATA, TYPE, &type);
}

static void put_image(struct synthetic_writer *writer, uint32_t id, const char *name)
{
	Heapshot__Image image = HEAPSHOT__IMAGE__INIT;

	image.id = id;
	image.name = (char *)(uintptr_t)name;
	PUT(METADATA, IMAGE, &image);
}

const char *synthetic_host, *synthetic_architecture;

void synthetic_open(struct synthetic_writer *writer, struct synthetic_bytes *bytes,
		    uint32_t stream_id, uint32_t version)
{
	struct hs_stream_config config = {.id = stream_id, .frame_bytes = 64 << 10};
	Heapshot__FileHeader header = HEAPSHOT__FILE_HEADER__INIT;
	Heapshot__Domain domain = HEAPSHOT__DOMAIN__INIT;
	Heapshot__Thread thread = HEAPSHOT__THREAD__INIT;

	memset(writer, 0, sizeof(*writer));
	hs_sink_open_callback(&writer->sink, append, bytes);
	config.sink = &writer->sink;
	writer->memory = aligned_alloc(4096, (hs_stream_bytes(64 << 10) + 4095) & ~4095ul);
	writer->batch_memory = aligned_alloc(64, (hs_batch_encoder_bytes() + 63) & ~63ul);
	writer->root_memory = malloc(256 << 10);
	if (!writer->memory || !writer->batch_memory || !writer->root_memory)
		abort();
	memset(writer->memory, 0, hs_stream_bytes(64 << 10));
	memset(writer->batch_memory, 0, hs_batch_encoder_bytes());
	writer->stream = hs_stream_init(writer->memory, &config);
	writer->batch = hs_batch_encoder_init(writer->batch_memory, 8);
	hs_root_encoder_init(&writer->roots, writer->root_memory, 256 << 10, 8);

	header.version_major = version;
	header.word_bytes = 8;
	header.pid = 4711;
	header.wall_start_unix_ns = 1767225600000000000u;
	header.writer = (char *)(uintptr_t) "heapshot synthetic";
	header.runtime = (char *)(uintptr_t) "Mono 6.8.0.105";
	header.architecture =
		(char *)(uintptr_t)(synthetic_architecture != NULL ? synthetic_architecture
								   : "x86_64");
	if (synthetic_host != NULL)
		header.host_name = (char *)(uintptr_t)synthetic_host;
	PUT(METADATA, HEADER, &header);
	put_image(writer, 1, "mscorlib");
	put_image(writer, 2, "app");
	synthetic_put_type(writer, TYPE_STRING, "System.String", 1);
	synthetic_put_type(writer, TYPE_ARRAY, "System.Object[]", 1);
	synthetic_put_type(writer, TYPE_NODE, "T.Node", 2);
	synthetic_put_type(writer, TYPE_PUB, "T.Pub", 2);
	synthetic_put_type(writer, TYPE_COPY, "T.Node", 2);
	synthetic_put_type(writer, TYPE_HUGE, "T.Huge", 2);
	domain.id = 1;
	domain.name = (char *)(uintptr_t) "app.exe";
	PUT(METADATA, DOMAIN, &domain);
	thread.id = 0x7fff1234;
	thread.state = HEAPSHOT__THREAD_STATE__THREAD_STATE_NAMED;
	thread.name = (char *)(uintptr_t) "main";
	PUT(METADATA, THREAD, &thread);
	hs_stream_flush(writer->stream, HS_FRAME_METADATA, 0);
}

void synthetic_close(struct synthetic_writer *writer, bool has_end, const char *note)
{
	Heapshot__End end = HEAPSHOT__END__INIT;

	hs_stream_flush_all(writer->stream, 0);
	if (has_end) {
		end.reason = HEAPSHOT__END_REASON__END_REASON_SHUTDOWN;
		end.snapshots = writer->id;
		end.note = (char *)(uintptr_t)note;
		PUT(END, END, &end);
		hs_stream_flush(writer->stream, HS_FRAME_END, 0);
	}
	hs_sink_close(&writer->sink, 0);
	free(writer->memory);
	free(writer->batch_memory);
	free(writer->root_memory);
}

void synthetic_flush_batch(struct synthetic_writer *writer)
{
	int error;
	size_t bytes;
	uint8_t *out;

	if (hs_batch_rows(writer->batch) > 0) {
		bytes = hs_batch_bytes(writer->batch);
		out = hs_stream_put_raw(writer->stream, HS_FRAME_SNAPSHOT_BODY,
					writer->time_ns += MOMENT,
					HEAPSHOT__RECORD__BODY_OBJECT_BATCH, bytes, 0, &error);
		if (out == NULL || hs_batch_finish(writer->batch, out) != bytes)
			abort();
		writer->end.object_batches++;
	}
	hs_batch_begin(writer->batch, writer->id, 1);
}

void synthetic_put_row(struct synthetic_writer *writer, const struct hs_row *row)
{
	if (!hs_batch_add(writer->batch, row, &writer->hints[row->type])) {
		synthetic_flush_batch(writer);
		if (!hs_batch_add(writer->batch, row, &writer->hints[row->type]))
			abort();
	}
	writer->end.references += row->n_refs;
	if (row->is_continuation)
		return;
	writer->end.objects++;
	writer->end.bytes += row->size;
	writer->end.slot_bytes += row->slot_size;
	writer->end.object_hash += hs_object_mix(row->address);
}

/* An object with up to two references at 16 and 24. */
void synthetic_put_object(struct synthetic_writer *writer, uint32_t type, uint64_t address,
			  uint64_t size, uint64_t first, uint64_t second)
{
	static const uintptr_t offsets[] = {16, 24};
	void *refs[] = {(void *)(uintptr_t)first, (void *)(uintptr_t)second};
	bool is_text = type == TYPE_STRING;
	struct hs_row row = {
		.address = address,
		.size = size,
		.slot_size = type == TYPE_PUB ? (size + 7) / 8 * 8 + 16 : (size + 7) / 8 * 8,
		.type = type,
		.domain = 1,
		.n_refs = is_text ? 0 : (first != 0) + (second != 0),
		.size_varies = is_text,
		.offsets = first != 0 ? offsets : offsets + 1,
		.refs = first != 0 ? refs : refs + 1,
	};

	synthetic_put_row(writer, &row);
}

/* One array of N references to the N_NODES nodes in turn, told in calls of 128
 * as the runtime does. */
static void put_array(struct synthetic_writer *writer, uint64_t address, uint32_t n,
		      uint64_t n_nodes)
{
	uintptr_t offsets[HS_ROW_REFS_MAX];
	void *refs[HS_ROW_REFS_MAX];
	struct hs_row row = {
		.address = address,
		.size = 32 + 8 * (uint64_t)n,
		.slot_size = 32 + 8 * (uint64_t)n,
		.type = TYPE_ARRAY,
		.domain = 1,
		.size_varies = true,
		.is_array = true,
		.offsets = offsets,
		.refs = refs,
	};
	uint32_t i, done = 0;

	do {
		row.n_refs = n - done > HS_ROW_REFS_MAX ? HS_ROW_REFS_MAX : n - done;
		for (i = 0; i < row.n_refs; i++) {
			offsets[i] = 32 + 8 * (uintptr_t)(done + i);
			refs[i] = (void *)(uintptr_t)(NODES + (done + i) % n_nodes * 32);
		}
		synthetic_put_row(writer, &row);
		done += row.n_refs;
		row.is_continuation = true;
		row.size = row.slot_size = 0;
		row.size_varies = false;
	} while (done < n);
}

uint32_t synthetic_put_source(struct synthetic_writer *writer, uint32_t kind, const char *text,
			      const char *name)
{
	Heapshot__RootSource source = HEAPSHOT__ROOT_SOURCE__INIT;
	uint8_t buffer[512];

	source.kind = (Heapshot__RootKind)kind;
	source.kind_text = (char *)(uintptr_t)text;
	source.name = (char *)(uintptr_t)name;
	return hs_root_add_source(&writer->roots, buffer,
				  heapshot__root_source__pack(&source, buffer));
}

void synthetic_put_root(struct synthetic_writer *writer, uint32_t source, uint32_t kind,
			uint64_t object)
{
	if (!hs_root_add(&writer->roots, source, 0x600000 + writer->end.roots * 8, object))
		abort();
	writer->end.roots++;
	writer->by_kind[kind]++;
}

void synthetic_flush_roots(struct synthetic_writer *writer)
{
	size_t bytes = hs_root_bytes(&writer->roots);
	int error;
	uint8_t *out =
		hs_stream_put_raw(writer->stream, HS_FRAME_SNAPSHOT_BODY, writer->time_ns += MOMENT,
				  HEAPSHOT__RECORD__BODY_ROOT_BATCH, bytes, 0, &error);

	if (out == NULL || hs_root_finish(&writer->roots, out) != bytes)
		abort();
	writer->end.root_batches++;
}

void synthetic_put_ephemerons(struct synthetic_writer *writer,
			      const struct hs_decoded_ephemeron *edges, size_t n)
{
	static uint8_t memory[64 << 10];
	struct hs_ephemeron_encoder encoder;
	size_t bytes, i;
	uint8_t *out;
	int error;

	hs_ephemeron_encoder_init(&encoder, memory, sizeof(memory), 8);
	hs_ephemeron_begin(&encoder, writer->id);
	for (i = 0; i < n; i++)
		if (!hs_ephemeron_add(&encoder, edges[i].table, edges[i].key, edges[i].value))
			abort();
	bytes = hs_ephemeron_bytes(&encoder);
	out = hs_stream_put_raw(writer->stream, HS_FRAME_SNAPSHOT_BODY, writer->time_ns += MOMENT,
				HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH, bytes, 0, &error);
	if (out == NULL || hs_ephemeron_finish(&encoder, out) != bytes)
		abort();
	writer->end.ephemeron_batches++;
	writer->end.ephemeron_edges += n;
}

void synthetic_begin_snapshot(struct synthetic_writer *writer, const char *label,
			      const char *trigger)
{
	Heapshot__SnapshotBegin begin = HEAPSHOT__SNAPSHOT_BEGIN__INIT;

	begin.id = ++writer->id;
	begin.label = (char *)(uintptr_t)label;
	begin.trigger = (char *)(uintptr_t)trigger;
	begin.generation = 1;
	heapshot__snapshot_end__init(&writer->end);
	memset(writer->by_kind, 0, sizeof(writer->by_kind));
	writer->end.id = writer->id;
	writer->end.label = begin.label;
	writer->end.trigger = begin.trigger;
	writer->end.pause_ns = 12345678;
	hs_stream_set_snapshot(writer->stream, (uint32_t)writer->id);
	PUT(SNAPSHOT_BEGIN, SNAPSHOT_BEGIN, &begin);
	hs_stream_flush(writer->stream, HS_FRAME_SNAPSHOT_BEGIN, 0);
	hs_batch_begin(writer->batch, writer->id, 1);
	hs_root_begin(&writer->roots, writer->id);
}

void synthetic_end_snapshot(struct synthetic_writer *writer)
{
	synthetic_flush_batch(writer);
	hs_stream_flush(writer->stream, HS_FRAME_SNAPSHOT_BODY, 0);
	writer->end.n_roots_by_kind = 19;
	writer->end.roots_by_kind = writer->by_kind;
	PUT(SNAPSHOT_END, SNAPSHOT_END, &writer->end);
	hs_stream_flush(writer->stream, HS_FRAME_SNAPSHOT_END, 0);
}

/* The usual heap: N nodes in a chain, an array of 300, strings, roots. */
void synthetic_put_heap(struct synthetic_writer *writer, uint64_t n)
{
	static const struct hs_decoded_ephemeron edges[] = {
		{ARRAY, NODES, NODES + 32},
		{ARRAY, NODES + 32, NODES + 64},
	};
	uint32_t kind, source;
	uint64_t i;

	put_array(writer, ARRAY, GOOD_ARRAY_REFS, n);
	for (i = 0; i < n; i++)
		synthetic_put_object(writer, i % 16 == 15 ? TYPE_COPY : TYPE_NODE, NODES + i * 32,
				     32, i + 1 < n ? NODES + (i + 1) * 32 : 0,
				     i % 3 == 0 ? ARRAY : 0);
	for (i = 0; i < n / 10; i++)
		synthetic_put_object(writer, TYPE_STRING, NODES + n * 32 + i * 4096,
				     22 + 2 * (i % 100), 0, 0);
	synthetic_put_object(writer, TYPE_PUB, NODES + n * 32 + i * 4096, 40, NODES, 0);
	synthetic_put_object(writer, TYPE_LATE, NODES + n * 32 + i * 4096 + 64, 24, 0, 0);
	synthetic_flush_batch(writer);
	for (kind = 0; kind < 19; kind++) {
		char name[32];

		snprintf(name, sizeof(name), "source %u", kind);
		source = synthetic_put_source(writer, kind, kind == 18 ? "marshal cache" : "",
					      kind == 4   ? "T.Pub.Root"
					      : kind == 2 ? "main"
							  : name);
		synthetic_put_root(writer, source, kind,
				   kind == 4 ? ARRAY : NODES + 32 * (uint64_t)kind);
		if (kind == 7) {
			synthetic_flush_roots(writer);
			hs_root_begin(&writer->roots, writer->id);
		}
	}
	source = synthetic_put_source(writer, 4, "", "T.Pub.Root");
	synthetic_put_root(writer, source, 4, NODES);
	synthetic_flush_roots(writer);
	synthetic_put_ephemerons(writer, edges, 2);
}

static void put_gc(struct synthetic_writer *writer, uint32_t generation, uint64_t heap_bytes)
{
	static const int phases[] = {11, 7, 8, 1, 6, 9, 10, 12};
	Heapshot__GcEvent event = HEAPSHOT__GC_EVENT__INIT;
	Heapshot__GcResize resize = HEAPSHOT__GC_RESIZE__INIT;
	size_t i;

	event.generation = generation;
	for (i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		event.phase = (Heapshot__GcPhase)phases[i];
		/* As Mono has it: false at START and END. */
		event.is_serial = generation == 1 && phases[i] != 1 && phases[i] != 6;
		PUT(EVENTS, GC_EVENT, &event);
	}
	resize.heap_bytes = heap_bytes;
	PUT(EVENTS, GC_RESIZE, &resize);
}

void synthetic_put_events(struct synthetic_writer *writer)
{
	Heapshot__Counter counter = HEAPSHOT__COUNTER__INIT;
	Heapshot__CounterSample sample = HEAPSHOT__COUNTER_SAMPLE__INIT;
	Heapshot__CounterValue value = HEAPSHOT__COUNTER_VALUE__INIT, *values[] = {&value};
	Heapshot__Marker marker = HEAPSHOT__MARKER__INIT;
	Heapshot__Loss loss = HEAPSHOT__LOSS__INIT;
	Heapshot__GcMoves moves = HEAPSHOT__GC_MOVES__INIT;
	Heapshot__JitChunk chunk = HEAPSHOT__JIT_CHUNK__INIT;
	Heapshot__GcHandle handle = HEAPSHOT__GC_HANDLE__INIT;
	uint64_t from[] = {BASE}, to[] = {BASE + 64};

	put_gc(writer, 0, 4 << 20);
	put_gc(writer, 1, 8 << 20);
	counter.id = 1;
	counter.name = (char *)(uintptr_t) "Working Set";
	counter.section = (char *)(uintptr_t) "system";
	counter.type = HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_LONG;
	PUT(METADATA, COUNTER, &counter);
	value.counter = 1;
	value.value_case = HEAPSHOT__COUNTER_VALUE__VALUE_SIGNED_VALUE;
	value.signed_value = -5;
	sample.n_value = 1;
	sample.value = values;
	PUT(EVENTS, COUNTER_SAMPLE, &sample);
	marker.label = (char *)(uintptr_t) "phase \"two\"";
	PUT(EVENTS, MARKER, &marker);
	loss.kind = HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS;
	loss.count = 7;
	loss.reason = (char *)(uintptr_t) "log full";
	PUT(EVENTS, LOSS, &loss);
	moves.n_from = moves.n_to = 1;
	moves.from = from;
	moves.to = to;
	PUT(EVENTS, GC_MOVES, &moves);
	chunk.address = 0x40000000;
	chunk.size = 65536;
	PUT(EVENTS, JIT_CHUNK, &chunk);
	handle.handle = 3;
	handle.handle_type = HEAPSHOT__HANDLE_TYPE__HANDLE_TYPE_PINNED;
	handle.object = NODES;
	PUT(EVENTS, GC_HANDLE, &handle);
	hs_stream_flush(writer->stream, HS_FRAME_EVENTS, 0);
}
