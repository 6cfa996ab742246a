/* SPDX-License-Identifier: MIT */
/*
 * Payloads of the log: what callbacks leave for the owner of the stream.
 * Texts are UTF-8, end with a zero byte, and follow each other behind the
 * struct in the order of the members that give their lengths (without the
 * zero byte).
 */
#ifndef HEAPSHOT_PROFILER_ENTRIES_H
#define HEAPSHOT_PROFILER_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hs_entry_kind {
	HS_ENTRY_CLASS = 1,
	HS_ENTRY_LAYOUT,
	HS_ENTRY_VTABLE,
	HS_ENTRY_IMAGE,
	HS_ENTRY_DOMAIN,
	HS_ENTRY_THREAD,
	HS_ENTRY_ROOT,
	HS_ENTRY_GC,
	HS_ENTRY_MOVES,
	HS_ENTRY_CHUNK,
	HS_ENTRY_HANDLE,
	HS_ENTRY_COUNTER,
	HS_ENTRY_SAMPLE,
	HS_ENTRY_MARKER,
	HS_ENTRY_METHOD,
	HS_ENTRY_CODE,
	HS_ENTRY_BUFFER,
};

struct hs_class_entry {
	uintptr_t klass, element, parent, image;
	uint64_t whole_bytes, whole_hash; /* of a name that was cut */
	uint32_t kind;                    /* TypeKind */
	uint32_t rank, token;
	uint32_t is_instance; /* of a generic type */
	uint32_t is_late;     /* named on our account, not when it was loaded */
	uint32_t name_bytes, space_bytes, image_name_bytes;
	char text[];
};

struct hs_field_entry {
	uintptr_t type; /* class of the field's type */
	uint64_t offset;
	uint32_t name_bytes;
	uint8_t is_static, is_thread_static, is_inline;
	char name[]; /* padded so that the next one is aligned to 8 */
};

struct hs_layout_entry {
	uintptr_t klass;
	uint32_t n_fields;
	uint32_t instance_bytes;
	/* struct hs_field_entry, one behind the other */
};

struct hs_vtable_entry {
	uintptr_t vtable, klass, domain, statics;
};

struct hs_image_entry {
	uintptr_t image;
	uint32_t is_unloaded;
	uint32_t name_bytes, file_bytes, mvid_bytes;
	char text[];
};

struct hs_domain_entry {
	uintptr_t domain;
	uint32_t is_unloaded;
	uint32_t name_bytes;
	char text[];
};

struct hs_thread_entry {
	uint64_t id;
	uint32_t state; /* ThreadState */
	uint32_t name_bytes;
	char text[];
};

struct hs_root_entry {
	uintptr_t start, size, key;
	uint32_t kind; /* RootKind */
	uint32_t is_unregistered;
	uint32_t name_bytes;
	char text[];
};

/*
 * Steps of one stop of the world, all or some.  A step is one word: the time since
 * that of the entry, the generation, whether it is serial, and the phase.
 */
#define HS_GC_STEPS 13u
/* In place of a GcPhase: the heap has heap_bytes from here on. */
#define HS_GC_STEP_RESIZE 0u

struct hs_gc_entry {
	uint32_t n;
	uint32_t n_told; /* the owner's */
	uint64_t heap_bytes;
	uint64_t steps[HS_GC_STEPS]; /* n of them; in the log no more than that */
};

static inline size_t hs_gc_entry_bytes(uint32_t n)
{
	return offsetof(struct hs_gc_entry, steps) + n * sizeof(uint64_t);
}

static inline uint64_t hs_gc_step(uint64_t delta_ns, uint32_t phase, uint32_t generation,
				  bool is_serial)
{
	return delta_ns << 16 | (uint64_t)(generation & 0x7f) << 9 | (uint64_t)is_serial << 8 |
	       (phase & 0xff);
}

static inline uint64_t hs_gc_step_delta_ns(uint64_t step)
{
	return step >> 16;
}

static inline uint32_t hs_gc_step_phase(uint64_t step)
{
	return step & 0xff;
}

static inline uint32_t hs_gc_step_generation(uint64_t step)
{
	return step >> 9 & 0x7f;
}

static inline bool hs_gc_step_is_serial(uint64_t step)
{
	return step >> 8 & 1;
}

struct hs_moves_entry {
	uint64_t n_pairs;
	uint64_t pairs[]; /* from, to, from, to, ... */
};

struct hs_chunk_entry {
	uintptr_t address;
	uint64_t size;
	uint32_t is_destroyed;
};

struct hs_method_entry {
	uint64_t id;
	uintptr_t method, image, domain; /* image: 0 for a dynamic method */
	uint64_t thread;
	uint64_t il_bytes, il_hash;
	uintptr_t code;
	uint64_t code_bytes;
	uint64_t compile_ns, nested_ns;
	uint64_t whole_bytes, whole_hash; /* of a name that was cut */
	uint32_t token;
	uint8_t is_compiled;     /* by the JIT, in this process */
	uint8_t is_interpreting; /* the runtime is */
	uint8_t is_dynamic;
	uint32_t name_bytes, wrapper_bytes, signature_bytes, shared_bytes, image_name_bytes;
	char text[];
};

struct hs_code_entry {
	uint64_t method; /* hs_method_entry.id */
	uint64_t offset, total_bytes;
	uint32_t kind; /* CodeKind */
	uint32_t bytes;
	unsigned char data[];
};

struct hs_buffer_entry {
	uintptr_t address;
	uint64_t size;
	uint32_t kind; /* CodeBufferKind */
	uint32_t name_bytes;
	char text[];
};

struct hs_handle_entry {
	uint64_t handle;
	uintptr_t object;
	uint32_t type; /* HandleType */
	uint32_t is_deleted;
};

struct hs_counter_entry {
	uint32_t id;
	uint32_t type; /* CounterType */
	uint32_t name_bytes, section_bytes, unit_bytes, variance_bytes;
	char text[];
};

struct hs_value_entry {
	uint32_t counter;
	uint32_t type; /* CounterType; strings are not sampled */
	union {
		int64_t i;
		uint64_t u;
		double d;
	} value;
};

struct hs_sample_entry {
	uint64_t n_values;
	struct hs_value_entry values[];
};

struct hs_marker_entry {
	uint32_t label_bytes;
	char text[];
};

#endif
