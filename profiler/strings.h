/* SPDX-License-Identifier: MIT */
/*
 * First characters of string objects (option `strings`).
 */
#ifndef HEAPSHOT_PROFILER_STRINGS_H
#define HEAPSHOT_PROFILER_STRINGS_H

#include <mono/metadata/object.h>

#include "profiler/walk.h"

/* Bytes of the buffer hs_recorder.strings. */
#define HS_STRINGS_BYTES ((size_t)64 << 10)

/* For the owner in the stopped world; 0 or an error. */
int hs_strings_add(struct hs_walk *walk, MonoObject *string);
int hs_strings_flush(struct hs_walk *walk);

#endif
