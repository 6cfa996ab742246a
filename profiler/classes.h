/* SPDX-License-Identifier: MIT */
/*
 * Types: names when the runtime announces them, fields when a vtable is made.
 */
#ifndef HEAPSHOT_PROFILER_CLASSES_H
#define HEAPSHOT_PROFILER_CLASSES_H

#include <stdbool.h>

#include <mono/metadata/profiler.h>

void hs_classes_install(MonoProfilerHandle handle);

/* The runtime is up: names what was announced before. */
void hs_classes_runtime_initialized(void);

/* Names KLASS, which was met in the heap and never announced.  Running threads only. */
void hs_classes_name_late(MonoClass *klass);

#endif
