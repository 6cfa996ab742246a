/* SPDX-License-Identifier: MIT */
/*
 * Contents of string objects, where they were recorded (option strings=N).
 */
#ifndef HEAPSHOT_EXPORT_STRINGS_H
#define HEAPSHOT_EXPORT_STRINGS_H

#include "contrib/export/export.h"
#include "contrib/export/names.h"

struct export_string {
	uint32_t object;  /* number in the graph */
	uint64_t length;  /* characters of the whole */
	const char *text; /* valid UTF-8, perhaps its beginning only; U+FFFD for NUL */
	bool is_cut;
};

/* Takes a string; false when it has no memory. */
typedef bool export_string_take(void *user_data, const struct export_string *string);

/* All strings of the snapshot whose text was recorded; false without memory. */
bool export_each_string(const struct export *export, export_string_take *take, void *user_data);

/*
 * *texts: the number in NAMES of each object's text, NO_NAME for those without, or
 * NULL where there is none at all; free it.  Of a text that was cut the name ends
 * with "... (of N)", so that no two with one beginning are taken for the same.
 * False without memory.
 */
bool export_strings_read(const struct export *export, struct export_names *names, uint32_t **texts);

#endif
