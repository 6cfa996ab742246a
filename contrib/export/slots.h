/* SPDX-License-Identifier: MIT */
/*
 * What the slots of references are called, remembered by type and offset: a
 * snapshot has many references and few of these.
 */
#ifndef HEAPSHOT_EXPORT_SLOTS_H
#define HEAPSHOT_EXPORT_SLOTS_H

#include "contrib/export/names.h"
#include "contrib/reader/heapshot-reader-fields.h"

struct export_slots {
	const struct heapshot_reader *reader; /* with fields loaded */
	struct export_names *names;
	struct export_slot_entry *entries;
	size_t n, room; /* room: a power of two */
};

struct export_slot {
	bool is_element; /* of an array */
	uint64_t index;  /* its number, from 0 */
	uint32_t name;   /* of the field (in the element), NO_NAME: the element itself */
};

/* False without memory. */
bool export_slot_find(struct export_slots *slots, uint32_t type, uint64_t offset,
		      struct export_slot *slot);
void export_slots_free(struct export_slots *slots);

#endif
