/* SPDX-License-Identifier: MIT */
/*
 * Type, TypeLayout and StaticStorage by hand: a program has thousands of them, all
 * at its start, where it is waited for.  Members are those of the messages.
 */
#ifndef HEAPSHOT_SCHEMA_TYPE_RECORDS_H
#define HEAPSHOT_SCHEMA_TYPE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_chars {
	const char *data;
	size_t bytes;
};

struct hs_type_record {
	uint32_t id, image, kind, element, rank, parent, generic_definition, token;
	uint64_t class_address, instance_size_bytes;
	uint64_t name_bytes, name_hash;
	struct hs_chars name, name_space;
};

struct hs_field_record {
	struct hs_chars name;
	uint64_t offset;
	uint32_t type;
	bool is_static, is_thread_static, is_inline;
};

struct hs_layout_record {
	uint32_t type;
	uint64_t instance_size_bytes;
	const struct hs_field_record *fields;
	size_t n_fields;
};

struct hs_storage_record {
	uint32_t type, domain;
	uint64_t address;
};

/* Length of the message, and the message; RECORD is the struct above, returned is the end. */
size_t hs_type_bytes(const struct hs_type_record *record);
uint8_t *hs_type_encode(uint8_t *out, const void *record);
size_t hs_layout_bytes(const struct hs_layout_record *record);
uint8_t *hs_layout_encode(uint8_t *out, const void *record);
size_t hs_storage_bytes(const struct hs_storage_record *record);
uint8_t *hs_storage_encode(uint8_t *out, const void *record);

#endif
