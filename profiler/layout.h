/* SPDX-License-Identifier: MIT */
/*
 * Fields of types.
 */
#ifndef HEAPSHOT_PROFILER_LAYOUT_H
#define HEAPSHOT_PROFILER_LAYOUT_H

#include <mono/metadata/class.h>

/*
 * Logs the fields of KLASS, of its base classes, of its elements if it is an
 * array, and of the structs that lie inside of all these; each once.  Not
 * before its vtable is complete: reading fields makes the runtime load types.
 */
void hs_layout_push(MonoClass *klass);

#endif
