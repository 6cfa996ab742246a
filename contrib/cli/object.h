/* SPDX-License-Identifier: MIT */
/*
 * What show and find know of single objects beyond the graph: their slots by name,
 * their generation, the texts of strings.
 */
#ifndef HEAPSHOT_CLI_OBJECT_H
#define HEAPSHOT_CLI_OBJECT_H

#include "contrib/cli/graph.h"

/* A field of an object, or an element of an array that refers to an object. */
struct object_slot {
	uint64_t offset;
	char name[HEAPSHOT_SLOT_NAME_BYTES];
	uint32_t type;   /* that the field was declared with; 0: not known */
	uint32_t target; /* HEAPSHOT_GRAPH_NONE: no reference was recorded */
};

/*
 * The slots of OBJECT by offset: fields of its type and its bases, structs in
 * place taken apart, and all that refer to something; of arrays only those, the
 * first MAX.  *n their number; NULL without memory.  To be freed by free().
 */
struct object_slot *object_slots(const struct recording *recording,
				 const struct heapshot_graph *graph, uint32_t object, size_t max,
				 size_t *n);

/* The text of a string as it was recorded (option strings=N). */
struct object_text {
	uint64_t object;  /* address */
	uint64_t length;  /* characters of the whole */
	const char *text; /* UTF-8, perhaps its beginning only; until the callback returns */
	size_t bytes;
	bool is_cut;
};

/*
 * Reads the texts of the recording's snapshot; TAKE returns false when it has no
 * memory.  *n_texts (may be NULL) their number.  CLI_OK or a status, said.
 */
int object_texts(struct recording *recording,
		 bool (*take)(void *user_data, const struct object_text *text), void *user_data,
		 uint64_t *n_texts);

struct object_details {
	bool has_generation;
	uint32_t generation;
	char *text; /* NULL: not recorded; to be freed */
	size_t text_bytes;
	uint64_t length;
	bool is_cut;
};

/* Looks for ADDRESS in the frames of the snapshot.  CLI_OK or a status, said. */
int object_read_details(struct recording *recording, uint64_t address,
			struct object_details *details);

/* A text in quotation marks, masked, at most COLUMNS of it. */
void object_quote(const char *text, size_t bytes, bool is_cut, size_t columns, char *out,
		  size_t size);

#endif
