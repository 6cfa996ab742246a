/* SPDX-License-Identifier: MIT */
/*
 * Types, images, domains and threads, by the runtime's addresses.  Belongs to
 * the owner of the stream; all memory is mmap, since it also grows while the
 * world is stopped.
 */
#ifndef HEAPSHOT_PROFILER_TYPES_H
#define HEAPSHOT_PROFILER_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/area.h"
#include "profiler/ptr_map.h"

struct hs_type {
	uintptr_t klass;
	size_t name;         /* offset in hs_types.text */
	size_t first_static; /* offset in hs_types.statics, plus one; 0: none */
	uint32_t name_bytes;
	uint32_t token; /* for hs_types_definition() */
	uintptr_t image;
	bool is_announced; /* its Type record was written */
} __attribute__((aligned(8)));

struct hs_static_field {
	uint64_t offset;
	size_t next; /* as first_static */
	size_t name;
	uint32_t name_bytes;
};

/* A name in hs_types.text. */
struct hs_name {
	size_t name;
	uint32_t name_bytes;
	uint32_t room_bytes;
} __attribute__((aligned(8)));

struct hs_types {
	struct hs_area types;   /* struct hs_type; id 1 is the first */
	struct hs_area statics; /* struct hs_static_field */
	struct hs_area names;   /* struct hs_name of threads */
	struct hs_area text;
	struct hs_ptr_map by_class;
	struct hs_ptr_map definitions;     /* ids, by image and token */
	struct hs_ptr_map images, domains; /* ids */
	struct hs_ptr_map threads;         /* index into names, from 1 */
	struct hs_ptr_map vtables;         /* type ids, from vtable_loaded */
	struct hs_ptr_map vtable_domains;
	uint32_t n_types, n_images, n_domains, n_names;
};

void hs_types_free(struct hs_types *types);

/* All return 0 when memory is short. */

/* Id of the type at address KLASS; a new, unannounced one if it is not known. */
uint32_t hs_types_intern(struct hs_types *types, uintptr_t klass);
/* Forgets which type was at KLASS and gives a new id (an address used again). */
uint32_t hs_types_renew(struct hs_types *types, uintptr_t klass);
struct hs_type *hs_types_get(const struct hs_types *types, uint32_t id);

/*
 * The runtime does not tell of which generic type a type is an instance, but
 * both have the same metadata token.  hs_types_define() notes a type that is no
 * instance; hs_types_definition() finds it again, or 0.
 */
bool hs_types_define(struct hs_types *types, uint32_t id, uintptr_t image, uint32_t token);
uint32_t hs_types_definition(const struct hs_types *types, uintptr_t image, uint32_t token);

/* Keeps a copy of the text; false when memory is short. */
bool hs_types_set_name(struct hs_types *types, uint32_t id, const char *name, uint32_t bytes);
bool hs_types_add_static(struct hs_types *types, uint32_t id, uint64_t offset, const char *name,
			 uint32_t bytes);

/* The static field of the type that holds OFFSET, or NULL. */
const struct hs_static_field *hs_types_static_at(const struct hs_types *types, uint32_t id,
						 uint64_t offset);

/* Ids of images and domains; *is_new tells that a record is due. */
uint32_t hs_types_image(struct hs_types *types, uintptr_t image, bool *is_new);
uint32_t hs_types_domain(struct hs_types *types, uintptr_t domain, bool *is_new);

bool hs_types_name_thread(struct hs_types *types, uint64_t thread, const char *name,
			  uint32_t bytes);
/* Name of a thread, "" if it has none; *bytes is its length. */
const char *hs_types_thread_name(const struct hs_types *types, uint64_t thread, uint32_t *bytes);

static inline const char *hs_types_text(const struct hs_types *types, size_t name)
{
	return (const char *)types->text.data + name;
}

#endif
