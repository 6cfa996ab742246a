/* SPDX-License-Identifier: MIT */
/*
 * Sources of roots.  In the stopped world: no malloc, no stdio.
 */
#include "config.h"

#include <string.h>

#include "profiler/handles.h"
#include "profiler/root_source.h"
#include "schema/root_kind.h"

#define NAME_ROOM (16u << 10)
/* Longest part of a name; two of them, and what joins them, fit. */
#define PART_MAX (NAME_ROOM / 2 - 64)
#define N_CACHED 512u

/* Sources of the current batch, by what tells them apart. */
static struct {
	uintptr_t place, slot; /* range and static field or slot */
	uint32_t index;
	Heapshot__RootKind kind;
} cache[N_CACHED];

void hs_root_sources_reset(void)
{
	memset(cache, 0, sizeof cache);
}

const char hs_saved_registers[] = "saved_registers";

static Heapshot__RootKind kind_of(const struct hs_root *root, const struct hs_range *range)
{
	if (root->kind == hs_saved_registers)
		return HEAPSHOT__ROOT_KIND__ROOT_KIND_SAVED_REGISTERS;
	if (range)
		return (Heapshot__RootKind)range->kind;
	return root->kind ? (Heapshot__RootKind)hs_root_kind_of(root->kind)
			  : HEAPSHOT__ROOT_KIND__ROOT_KIND_UNKNOWN;
}

/* A name under construction. */
struct name {
	char text[NAME_ROOM];
	size_t bytes;
};

static void add_text(struct name *name, const char *text, size_t bytes)
{
	static const char ellipsis[] = "\xE2\x80\xA6";

	if (bytes > PART_MAX || bytes + 4 > sizeof name->text - name->bytes) {
		/* The type stands beside it whole, by its id. */
		bytes = bytes > PART_MAX ? PART_MAX : bytes;
		if (bytes + 4 > sizeof name->text - name->bytes)
			bytes = sizeof name->text - name->bytes - 4;
		while (bytes && (text[bytes] & 0xC0) == 0x80)
			bytes--;
		memcpy(name->text + name->bytes, text, bytes);
		memcpy(name->text + name->bytes + bytes, ellipsis, 3);
		name->bytes += bytes + 3;
	} else {
		memcpy(name->text + name->bytes, text, bytes);
		name->bytes += bytes;
	}
	name->text[name->bytes] = 0;
}

static void add_string(struct name *name, const char *text)
{
	add_text(name, text, strlen(text));
}

static void add_number(struct name *name, uint64_t number, unsigned base)
{
	char digits[24];
	size_t at = sizeof digits;

	do {
		digits[--at] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	add_text(name, digits + at, sizeof digits - at);
}

static void add_thread(struct name *name, uint64_t thread)
{
	uint32_t bytes;
	const char *text = hs_types_thread_name(&hs_recorder.types, thread, &bytes);

	if (bytes) {
		add_text(name, text, bytes);
	} else {
		add_string(name, "thread 0x");
		add_number(name, thread, 16);
	}
}

static void name_static(struct name *name, Heapshot__RootSource *source,
			const struct hs_range *range, uintptr_t slot)
{
	const struct hs_types *types = &hs_recorder.types;
	const struct hs_static_field *field;
	const struct hs_type *type;

	source->type = hs_ptr_map_get(&types->vtables, range->key);
	source->domain = hs_ptr_map_get(&types->vtable_domains, range->key);
	type = hs_types_get(types, source->type);
	if (!type || !type->name_bytes) {
		add_string(name, hs_range_name(&hs_recorder.ranges, range));
		return;
	}
	add_text(name, hs_types_text(types, type->name), type->name_bytes);
	field = hs_types_static_at(types, source->type, slot * sizeof(uintptr_t));
	if (field) {
		add_string(name, ".");
		add_text(name, hs_types_text(types, field->name), field->name_bytes);
	}
}

/* JAVASCRIPT: what holds it, where that is JavaScript. */
static void name_handle(struct name *name, Heapshot__RootSource *source,
			const struct hs_range *range, const char *javascript)
{
	const char *text = hs_range_name(&hs_recorder.ranges, range);

	/* The runtime's names of its tables: "GC Handle Bucket (SGen, Pinned)". */
	source->handle_type = (char *)(uintptr_t)(strstr(text, "Pinned") ? "pinned" : "normal");
	add_string(name, javascript ? javascript : source->handle_type);
}

static void describe(struct name *name, Heapshot__RootSource *source, const struct hs_range *range,
		     uintptr_t slot, const char *javascript)
{
	switch (source->kind) {
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_STATIC:
		name_static(name, source, range, slot);
		break;
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_THREAD_STATIC:
		source->thread = range->key;
		add_thread(name, range->key);
		add_string(name, " slot ");
		add_number(name, slot, 10);
		break;
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_STACK:
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_HANDLE:
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_SAVED_REGISTERS:
		source->thread = range->key;
		add_thread(name, range->key);
		break;
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_GC_HANDLE:
		name_handle(name, source, range, javascript);
		break;
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_DOMAIN:
		source->domain = hs_ptr_map_get(&hs_recorder.types.domains, range->key);
		add_string(name, hs_range_name(&hs_recorder.ranges, range));
		break;
	case HEAPSHOT__ROOT_KIND__ROOT_KIND_THREADING:
		source->thread = range->key;
		/* fall through */
	default:
		add_string(name, hs_range_name(&hs_recorder.ranges, range));
	}
}

/* The part of the slot that tells sources of one range apart. */
static uintptr_t distinction(Heapshot__RootKind kind, const struct hs_range *range, uintptr_t slot)
{
	const struct hs_static_field *field;

	if (kind == HEAPSHOT__ROOT_KIND__ROOT_KIND_THREAD_STATIC)
		return slot;
	if (kind != HEAPSHOT__ROOT_KIND__ROOT_KIND_STATIC)
		return 0;
	field = hs_types_static_at(&hs_recorder.types,
				   hs_ptr_map_get(&hs_recorder.types.vtables, range->key),
				   slot * sizeof(uintptr_t));
	return field ? (uintptr_t)field : 0;
}

struct hs_root_source_ref hs_root_source(const struct hs_root *root)
{
	/* Too large for a stack that may be a small thread's. */
	static uint8_t message[NAME_ROOM + 256];
	static struct name name;
	const char *javascript = NULL;
	uintptr_t slot = 0, place, part;
	const struct hs_range *range = hs_ranges_find(&hs_recorder.ranges, root->address, &slot);
	struct hs_root_source_ref ref = {.kind = kind_of(root, range)};
	Heapshot__RootSource source = HEAPSHOT__ROOT_SOURCE__INIT;
	size_t at;

	if (ref.kind == HEAPSHOT__ROOT_KIND__ROOT_KIND_EPHEMERON)
		return ref;
	place = range ? range->start : (uintptr_t)root->kind;
	part = range ? distinction(ref.kind, range, slot) : 0;
	if (ref.kind == HEAPSHOT__ROOT_KIND__ROOT_KIND_GC_HANDLE && range) {
		javascript = hs_handles_name(root, range, slot);
		part = (uintptr_t)javascript;
	}
	at = hs_ptr_hash(place * 31 + part + 1, 64 - 9);
	if (cache[at].index && cache[at].place == place && cache[at].slot == part &&
	    cache[at].kind == ref.kind) {
		ref.index = cache[at].index;
		return ref;
	}
	name.bytes = 0;
	name.text[0] = 0;
	source.kind = ref.kind;
	if (root->kind && root->kind != hs_saved_registers)
		source.kind_text = (char *)(uintptr_t)root->kind;
	if (range)
		describe(&name, &source, range, slot, javascript);
	source.name = name.text;
	if (heapshot__root_source__get_packed_size(&source) > sizeof message)
		return ref;
	ref.index = hs_root_add_source(&hs_recorder.root_encoder, message,
				       heapshot__root_source__pack(&source, message));
	if (ref.index) {
		cache[at].place = place;
		cache[at].slot = part;
		cache[at].kind = ref.kind;
		cache[at].index = ref.index;
	}
	return ref;
}
