/* SPDX-License-Identifier: MIT */
/*
 * libheapshot-reader: the fields of types, and what the slots of objects are
 * called.  The rules of heapshot-reader.h for errors, memory and text hold here too.
 */
#ifndef HEAPSHOT_READER_FIELDS_H
#define HEAPSHOT_READER_FIELDS_H

#include "heapshot-reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct heapshot_type_field {
	uint32_t owner; /* type that declares it */
	uint32_t type;  /* of the field; 0: not known */
	/*
	 * Bytes from the start of the object, header included, also for fields of
	 * structs.  Static fields: from the start of their storage.
	 */
	uint64_t offset;
	const char *name; /* never NULL */
	bool is_static, is_thread_static;
	bool is_inline; /* a struct that stands in place */
};

/*
 * Reads the fields of all types, once; names are loaded by it too.  Returns as
 * heapshot_reader_load_names; the functions below need it.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_load_fields(struct heapshot_reader *reader);

/*
 * The fields that TYPE itself declares: of instances, then static ones, both by
 * offset.  *n their number; 0 where they were not recorded.
 */
HEAPSHOT_READER_API const struct heapshot_type_field *
heapshot_reader_fields(const struct heapshot_reader *reader, uint32_t type, size_t *n_fields);

/* Bytes of an instance of TYPE, header included; 0: not known, or it varies. */
HEAPSHOT_READER_API uint64_t heapshot_reader_instance_bytes(const struct heapshot_reader *reader,
							    uint32_t type);

/*
 * Where TYPE is an array: the number of the element that the slot at OFFSET bytes
 * from the object's start belongs to (elements of several dimensions are counted
 * through), and how far from the element's own start it lies.  False for others,
 * and where the element's size is not known.
 */
HEAPSHOT_READER_API bool heapshot_reader_element(const struct heapshot_reader *reader,
						 uint32_t type, uint64_t offset, uint64_t *index,
						 uint64_t *inner_offset);

/* Longer names of slots are cut. */
#define HEAPSHOT_SLOT_NAME_BYTES 256

/*
 * Writes what the slot at OFFSET of objects of TYPE is called: "_items", "[17]",
 * "[17].key", "_current._value".  False when that is not known: then it is the
 * offset, "+24".
 */
HEAPSHOT_READER_API bool heapshot_reader_slot_name(const struct heapshot_reader *reader,
						   uint32_t type, uint64_t offset,
						   char name[HEAPSHOT_SLOT_NAME_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
