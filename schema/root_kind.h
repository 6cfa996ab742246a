/* SPDX-License-Identifier: MIT */
/*
 * Names of root kinds, as people and runtimes write them.
 */
#ifndef HEAPSHOT_SCHEMA_ROOT_KIND_H
#define HEAPSHOT_SCHEMA_ROOT_KIND_H

#include <stdint.h>

/* In lower case, "static", "thread_static"; "unknown" for what is no kind. */
const char *hs_root_kind_name(uint32_t kind);

/* The RootKind of that name, in whichever case; ROOT_KIND_OTHER for any other text. */
uint32_t hs_root_kind_of(const char *name);

#endif
