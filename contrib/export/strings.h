/* SPDX-License-Identifier: MIT */
/*
 * Contents of string objects, where they were recorded (option strings=N).
 */
#ifndef HEAPSHOT_EXPORT_STRINGS_H
#define HEAPSHOT_EXPORT_STRINGS_H

#include "contrib/export/export.h"
#include "contrib/export/names.h"

/*
 * *texts: the number in NAMES of each object's text, NO_NAME for those without, or
 * NULL where there is none at all; free it.  Of a text that was cut the name ends
 * with "... (of N)", so that no two with one beginning are taken for the same.
 * False without memory.
 */
bool export_strings_read(const struct export *export, struct export_names *names, uint32_t **texts);

#endif
