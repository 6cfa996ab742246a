/* SPDX-License-Identifier: MIT */
/*
 * The cache of names of slots.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/export/slots.h"

/* Files may tell of any number of slots; these many get names of their own. */
#define SLOTS_MAX (4u << 20)

struct export_slot_entry {
	uint64_t offset;
	uint32_t type, name;
	bool is_used;
};

static struct export_slot_entry *find(const struct export_slots *slots, uint32_t type,
				      uint64_t offset)
{
	uint64_t hash = ((uint64_t)type << 40 ^ offset) * 0x9E3779B97F4A7C15ull;
	size_t i = (size_t)(hash >> 24);

	for (;; i++) {
		struct export_slot_entry *entry = &slots->entries[i & (slots->room - 1)];

		if (!entry->is_used || (entry->type == type && entry->offset == offset))
			return entry;
	}
}

static bool grow(struct export_slots *slots)
{
	struct export_slots old = *slots;
	size_t i;

	slots->room = old.room != 0 ? old.room * 2 : 1024;
	slots->entries = calloc(slots->room, sizeof(*slots->entries));
	if (slots->entries == NULL) {
		*slots = old;
		return false;
	}
	for (i = 0; i < old.room; i++)
		if (old.entries[i].is_used)
			*find(slots, old.entries[i].type, old.entries[i].offset) = old.entries[i];
	free(old.entries);
	return true;
}

/*
 * What the slot at OFFSET is called; of an array's first element, without "[0]".
 * Sets *name to NO_NAME where nothing is left.  False without memory.
 */
static bool make_name(const struct export_slots *slots, uint32_t type, uint64_t offset,
		      bool is_element, uint32_t *name)
{
	char text[HEAPSHOT_SLOT_NAME_BYTES];
	const char *rest = text;

	*name = EXPORT_NO_NAME;
	heapshot_reader_slot_name(slots->reader, type, offset, text);
	if (is_element && strncmp(text, "[0]", 3) == 0)
		rest += text[3] == '.' ? 4 : 3;
	if (*rest == '\0')
		return true;
	*name = export_name(slots->names, slots->n < SLOTS_MAX ? rest : "(field)");
	return *name != EXPORT_NO_NAME;
}

bool export_slot_find(struct export_slots *slots, uint32_t type, uint64_t offset,
		      struct export_slot *slot)
{
	struct export_slot_entry *entry;
	uint64_t inner;

	slot->index = 0;
	slot->is_element =
		heapshot_reader_element(slots->reader, type, offset, &slot->index, &inner);
	/* The fields of all elements are those of the first. */
	if (slot->is_element)
		offset = 4 * (uint64_t)heapshot_reader_header(slots->reader)->word_bytes + inner;
	if (slots->n < SLOTS_MAX && slots->n * 2 >= slots->room && !grow(slots))
		return false;
	entry = find(slots, type, offset);
	if (entry->is_used) {
		slot->name = entry->name;
		return true;
	}
	if (!make_name(slots, type, offset, slot->is_element, &slot->name))
		return false;
	if (slots->n < SLOTS_MAX) {
		*entry = (struct export_slot_entry){offset, type, slot->name, true};
		slots->n++;
	}
	return true;
}

void export_slots_free(struct export_slots *slots)
{
	free(slots->entries);
	slots->entries = NULL;
	slots->n = slots->room = 0;
}
