/* SPDX-License-Identifier: MIT */
/*
 * JIT packets: what is recorded of each method that gets its code.
 */
#ifndef HEAPSHOT_PROFILER_METHODS_H
#define HEAPSHOT_PROFILER_METHODS_H

#include <mono/metadata/profiler.h>

void hs_methods_install(MonoProfilerHandle handle);

#endif
