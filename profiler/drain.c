/* SPDX-License-Identifier: MIT */
/*
 * From the log to the tables and the stream.  Runs as the owner, possibly in
 * the stopped world: no malloc, no call into the runtime.
 *
 * A record is written first and applied to the tables afterwards, because an
 * entry that a slow reader leaves no room for stays in the log and comes again.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "profiler/recorder.h"

struct drain {
	uint64_t deadline_ns;
	int error;
};

/* A record around BODY; all members of the union are pointers to messages. */
#define RECORD(name, body, CASE)                                                                   \
	Heapshot__Record name = HEAPSHOT__RECORD__INIT;                                            \
	name.body_case = HEAPSHOT__RECORD__BODY_##CASE;                                            \
	name.header = (void *)&body

static int put(struct drain *drain, enum hs_frame_kind kind, const struct hs_log_entry *entry,
	       Heapshot__Record *record)
{
	return hs_stream_put(hs_recorder.stream, kind, hs_since_start(entry->time_ns), record,
			     drain->deadline_ns);
}

static bool wants(uint32_t events)
{
	return hs_recorder.options.events & events;
}

/* Texts follow each other; each ends with a zero byte. */
static char *next_text(char **text, uint32_t bytes)
{
	char *current = *text;

	*text += bytes + 1;
	return current;
}

static int put_image(struct drain *drain, const struct hs_log_entry *entry, uint32_t id, char *name)
{
	Heapshot__Image image = HEAPSHOT__IMAGE__INIT;
	RECORD(record, image, IMAGE);

	image.id = id;
	image.name = name;
	return put(drain, HS_FRAME_METADATA, entry, &record);
}

static int drain_class(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_class_entry *class = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	Heapshot__Type type = HEAPSHOT__TYPE__INIT;
	struct hs_type *known;
	char *text = class->text;
	bool is_new;
	int error;
	RECORD(record, type, TYPE);

	type.id = hs_types_intern(types, class->klass);
	known = hs_types_get(types, type.id);
	if (!known)
		return -ENOMEM;
	if (known->is_announced) {
		if (class->is_late)
			return 0;
		/* Its address was used again: the type before is gone. */
		type.id = hs_types_renew(types, class->klass);
		if (!type.id)
			return -ENOMEM;
	}
	type.name = next_text(&text, class->name_bytes);
	type.name_space = next_text(&text, class->space_bytes);
	type.image = hs_types_image(types, class->image, &is_new);
	if (is_new) {
		error = put_image(drain, entry, type.image, text);
		if (error) {
			/* The entry comes again, and must find the image untold. */
			hs_ptr_map_remove(&types->images, class->image);
			return error;
		}
	}
	type.class_address = class->klass;
	type.kind = (Heapshot__TypeKind)class->kind;
	type.element = hs_types_intern(types, class->element);
	type.parent = hs_types_intern(types, class->parent);
	type.rank = class->rank;
	type.token = class->token;
	if (class->is_instance)
		type.generic_definition = hs_types_definition(types, class->image, class->token);
	type.name_bytes = class->whole_bytes;
	type.name_hash = class->whole_hash;
	error = put(drain, HS_FRAME_METADATA, entry, &record);
	if (error)
		return error;
	known = hs_types_get(types, type.id);
	known->is_announced = true;
	if (!class->is_instance && !hs_types_define(types, type.id, class->image, class->token))
		return -ENOMEM;
	return hs_types_set_name(types, type.id, type.name, class->name_bytes) ? 0 : -ENOMEM;
}

/* Field records on the stack: a class with more fields is written in several layouts. */
#define FIELDS_AT_ONCE 128

static int put_fields(struct drain *drain, struct hs_log_entry *entry, uint32_t id,
		      uint32_t instance_bytes, Heapshot__Field *fields, size_t n)
{
	Heapshot__TypeLayout layout = HEAPSHOT__TYPE_LAYOUT__INIT;
	Heapshot__Field *pointers[FIELDS_AT_ONCE];
	size_t i;
	RECORD(record, layout, TYPE_LAYOUT);

	for (i = 0; i < n; i++)
		pointers[i] = &fields[i];
	layout.type = id;
	layout.instance_size_bytes = instance_bytes;
	layout.n_field = n;
	layout.field = pointers;
	return put(drain, HS_FRAME_METADATA, entry, &record);
}

static int drain_layout(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_layout_entry *layout = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	const uint32_t id = hs_types_intern(types, layout->klass);
	struct hs_type *type = hs_types_get(types, id);
	Heapshot__Field fields[FIELDS_AT_ONCE];
	struct hs_field_entry *field;
	char *at = (char *)(layout + 1);
	uint32_t i, n = 0;
	int error;

	if (!type)
		return -ENOMEM;
	if (!layout->n_fields)
		return put_fields(drain, entry, id, layout->instance_bytes, NULL, 0);
	for (i = 0; i < layout->n_fields; i++) {
		Heapshot__Field *out = &fields[n++];
		field = (struct hs_field_entry *)(void *)at;
		at += (sizeof *field + field->name_bytes + 1 + 7) & ~(size_t)7;
		heapshot__field__init(out);
		out->name = field->name;
		out->offset = field->offset;
		out->is_static = field->is_static;
		out->is_thread_static = field->is_thread_static;
		out->is_inline = field->is_inline;
		out->type = hs_types_intern(types, field->type);
		if (n < FIELDS_AT_ONCE && i + 1 < layout->n_fields)
			continue;
		error = put_fields(drain, entry, id, layout->instance_bytes, fields, n);
		if (error)
			return error;
		n = 0;
	}
	at = (char *)(layout + 1);
	for (i = 0; i < layout->n_fields; i++) {
		field = (struct hs_field_entry *)(void *)at;
		at += (sizeof *field + field->name_bytes + 1 + 7) & ~(size_t)7;
		if (field->is_static && !field->is_thread_static &&
		    !hs_types_add_static(types, id, field->offset, field->name, field->name_bytes))
			return -ENOMEM;
	}
	return 0;
}

static int drain_vtable(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_vtable_entry *vtable = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	Heapshot__StaticStorage storage = HEAPSHOT__STATIC_STORAGE__INIT;
	bool is_new;
	int error;
	RECORD(record, storage, STATIC_STORAGE);

	storage.type = hs_types_intern(types, vtable->klass);
	storage.domain = hs_types_domain(types, vtable->domain, &is_new);
	storage.address = vtable->statics;
	if (!storage.type || !hs_ptr_map_set(&types->vtables, vtable->vtable, storage.type) ||
	    !hs_ptr_map_set(&types->vtable_domains, vtable->vtable, storage.domain))
		return -ENOMEM;
	error = storage.address ? put(drain, HS_FRAME_METADATA, entry, &record) : 0;
	return error;
}

static int drain_image(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_image_entry *in = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	Heapshot__Image image = HEAPSHOT__IMAGE__INIT;
	char *text = in->text;
	bool is_new;
	int error;
	RECORD(record, image, IMAGE);

	if (in->is_unloaded && !hs_ptr_map_get(&types->images, in->image))
		return 0;
	image.id = hs_types_image(types, in->image, &is_new);
	image.name = next_text(&text, in->name_bytes);
	image.file = next_text(&text, in->file_bytes);
	image.mvid = next_text(&text, in->mvid_bytes);
	image.is_unloaded = in->is_unloaded;
	error = put(drain, HS_FRAME_METADATA, entry, &record);
	if (!error && in->is_unloaded)
		hs_ptr_map_remove(&types->images, in->image);
	return error;
}

static int drain_domain(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_domain_entry *in = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	Heapshot__Domain domain = HEAPSHOT__DOMAIN__INIT;
	bool is_new;
	int error;
	RECORD(record, domain, DOMAIN);

	if (in->is_unloaded && !hs_ptr_map_get(&types->domains, in->domain))
		return 0;
	domain.id = hs_types_domain(types, in->domain, &is_new);
	domain.address = in->domain;
	domain.name = in->text;
	domain.is_unloaded = in->is_unloaded;
	error = put(drain, HS_FRAME_METADATA, entry, &record);
	if (!error && in->is_unloaded)
		hs_ptr_map_remove(&types->domains, in->domain);
	return error;
}

static int drain_thread(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_thread_entry *in = hs_log_payload(entry);
	Heapshot__Thread thread = HEAPSHOT__THREAD__INIT;
	int error = 0;
	RECORD(record, thread, THREAD);

	thread.id = in->id;
	thread.state = (Heapshot__ThreadState)in->state;
	thread.name = in->text;
	if (wants(HS_EVENTS_THREADS))
		error = put(drain, HS_FRAME_METADATA, entry, &record);
	if (error)
		return error;
	/* A stopped thread's id comes again, and then has no name at first. */
	if (in->state != HEAPSHOT__THREAD_STATE__THREAD_STATE_STARTED &&
	    !hs_types_name_thread(&hs_recorder.types, in->id, in->text, in->name_bytes))
		return -ENOMEM;
	return 0;
}

static int drain_root(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_root_entry *in = hs_log_payload(entry);
	Heapshot__RootRange range = HEAPSHOT__ROOT_RANGE__INIT;
	int error = 0;
	RECORD(record, range, ROOT_RANGE);

	range.start = in->start;
	range.size = in->size;
	range.key = in->key;
	range.kind = (Heapshot__RootKind)in->kind;
	range.is_unregistered = in->is_unregistered;
	range.name = in->text;
	if (wants(HS_EVENTS_GC))
		error = put(drain, HS_FRAME_EVENTS, entry, &record);
	if (error)
		return error;
	if (in->is_unregistered)
		hs_ranges_remove(&hs_recorder.ranges, in->start);
	else if (!hs_ranges_add(&hs_recorder.ranges, in->start, in->size, in->kind, in->key,
				in->text))
		return -ENOMEM;
	return 0;
}

static int drain_gc(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_gc_entry *in = hs_log_payload(entry);
	Heapshot__GcEvent event = HEAPSHOT__GC_EVENT__INIT;
	int error = 0;
	RECORD(record, event, GC_EVENT);

	event.phase = (Heapshot__GcPhase)in->phase;
	event.generation = in->generation;
	event.is_serial = in->is_serial;
	if (wants(HS_EVENTS_GC))
		error = put(drain, HS_FRAME_EVENTS, entry, &record);
	if (!error && in->phase == HEAPSHOT__GC_PHASE__GC_PHASE_POST_START_WORLD)
		hs_ranges_gc_ended(&hs_recorder.ranges);
	return error;
}

static int drain_resize(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_resize_entry *in = hs_log_payload(entry);
	Heapshot__GcResize resize = HEAPSHOT__GC_RESIZE__INIT;
	RECORD(record, resize, GC_RESIZE);

	resize.heap_bytes = in->heap_bytes;
	return put(drain, HS_FRAME_EVENTS, entry, &record);
}

static int drain_moves(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_moves_entry *in = hs_log_payload(entry);
	Heapshot__GcMoves moves = HEAPSHOT__GC_MOVES__INIT;
	uint64_t from[64], to[64];
	uint64_t i, n = in->n_pairs < 64 ? in->n_pairs : 64;
	RECORD(record, moves, GC_MOVES);

	for (i = 0; i < n; i++) {
		from[i] = in->pairs[2 * i];
		to[i] = in->pairs[2 * i + 1];
	}
	moves.n_from = moves.n_to = n;
	moves.from = from;
	moves.to = to;
	return put(drain, HS_FRAME_EVENTS, entry, &record);
}

static int drain_chunk(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_chunk_entry *in = hs_log_payload(entry);
	Heapshot__JitChunk chunk = HEAPSHOT__JIT_CHUNK__INIT;
	int error;
	RECORD(record, chunk, JIT_CHUNK);

	chunk.address = in->address;
	chunk.is_destroyed = in->is_destroyed;
	/* The runtime does not say how large a chunk was that it destroys. */
	chunk.size = in->is_destroyed ?
			     (uint64_t)hs_ptr_map_get(&hs_recorder.chunks, in->address) << 10 :
			     in->size;
	error = put(drain, HS_FRAME_EVENTS, entry, &record);
	if (error)
		return error;
	if (in->is_destroyed)
		hs_ptr_map_remove(&hs_recorder.chunks, in->address);
	else if (!hs_ptr_map_set(&hs_recorder.chunks, in->address, (uint32_t)(in->size >> 10)))
		return -ENOMEM;
	return 0;
}

static int drain_handle(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_handle_entry *in = hs_log_payload(entry);
	Heapshot__GcHandle handle = HEAPSHOT__GC_HANDLE__INIT;
	RECORD(record, handle, GC_HANDLE);

	handle.handle = in->handle;
	handle.handle_type = (Heapshot__HandleType)in->type;
	handle.object = in->object;
	handle.is_deleted = in->is_deleted;
	return put(drain, HS_FRAME_EVENTS, entry, &record);
}

static int drain_counter(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_counter_entry *in = hs_log_payload(entry);
	Heapshot__Counter counter = HEAPSHOT__COUNTER__INIT;
	char *text = in->text;
	RECORD(record, counter, COUNTER);

	counter.id = in->id;
	counter.type = (Heapshot__CounterType)in->type;
	counter.name = next_text(&text, in->name_bytes);
	counter.section = next_text(&text, in->section_bytes);
	counter.unit = next_text(&text, in->unit_bytes);
	counter.variance = next_text(&text, in->variance_bytes);
	return put(drain, HS_FRAME_METADATA, entry, &record);
}

#define VALUES_AT_ONCE 128

static int drain_sample(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_sample_entry *in = hs_log_payload(entry);
	Heapshot__CounterValue values[VALUES_AT_ONCE], *pointers[VALUES_AT_ONCE];
	Heapshot__CounterSample sample = HEAPSHOT__COUNTER_SAMPLE__INIT;
	uint64_t i, n = in->n_values < VALUES_AT_ONCE ? in->n_values : VALUES_AT_ONCE;
	RECORD(record, sample, COUNTER_SAMPLE);

	for (i = 0; i < n; i++) {
		Heapshot__CounterValue *value = pointers[i] = &values[i];
		heapshot__counter_value__init(value);
		value->counter = in->values[i].counter;
		switch (in->values[i].type) {
		case HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_DOUBLE:
			value->value_case = HEAPSHOT__COUNTER_VALUE__VALUE_DOUBLE_VALUE;
			value->double_value = in->values[i].value.d;
			break;
		case HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_UINT:
		case HEAPSHOT__COUNTER_TYPE__COUNTER_TYPE_ULONG:
			value->value_case = HEAPSHOT__COUNTER_VALUE__VALUE_UNSIGNED_VALUE;
			value->unsigned_value = in->values[i].value.u;
			break;
		default:
			value->value_case = HEAPSHOT__COUNTER_VALUE__VALUE_SIGNED_VALUE;
			value->signed_value = in->values[i].value.i;
		}
	}
	sample.n_value = n;
	sample.value = pointers;
	return put(drain, HS_FRAME_EVENTS, entry, &record);
}

static int drain_marker(struct drain *drain, struct hs_log_entry *entry)
{
	struct hs_marker_entry *in = hs_log_payload(entry);
	Heapshot__Marker marker = HEAPSHOT__MARKER__INIT;
	RECORD(record, marker, MARKER);

	marker.label = in->text;
	return put(drain, HS_FRAME_EVENTS, entry, &record);
}

static int (*const drains[])(struct drain *drain, struct hs_log_entry *entry) = {
	[HS_ENTRY_CLASS] = drain_class,     [HS_ENTRY_LAYOUT] = drain_layout,
	[HS_ENTRY_VTABLE] = drain_vtable,   [HS_ENTRY_IMAGE] = drain_image,
	[HS_ENTRY_DOMAIN] = drain_domain,   [HS_ENTRY_THREAD] = drain_thread,
	[HS_ENTRY_ROOT] = drain_root,       [HS_ENTRY_GC] = drain_gc,
	[HS_ENTRY_RESIZE] = drain_resize,   [HS_ENTRY_MOVES] = drain_moves,
	[HS_ENTRY_CHUNK] = drain_chunk,     [HS_ENTRY_HANDLE] = drain_handle,
	[HS_ENTRY_COUNTER] = drain_counter, [HS_ENTRY_SAMPLE] = drain_sample,
	[HS_ENTRY_MARKER] = drain_marker,
};

static bool visit(struct hs_log_entry *entry, void *data)
{
	struct drain *drain = data;
	int error = drains[entry->kind](drain, entry);

	if (error == -ENOMEM || error == -EMSGSIZE) {
		/* This one is lost; what comes behind it is not. */
		hs_count_loss(HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS, 1);
		return true;
	}
	drain->error = error;
	return error == 0;
}

int hs_drain(uint64_t deadline_ns)
{
	struct drain drain = {.deadline_ns = deadline_ns};

	if (hs_log_drain(&hs_recorder.log, visit, &drain))
		atomic_store(&hs_recorder.is_stuck, 0);
	return drain.error;
}
