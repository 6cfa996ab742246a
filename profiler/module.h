/* SPDX-License-Identifier: MIT */
/*
 * Installing the callbacks.
 */
#ifndef HEAPSHOT_PROFILER_MODULE_H
#define HEAPSHOT_PROFILER_MODULE_H

#include "profiler/recorder.h"

/* True when the runtime's collector can be walked. */
bool hs_is_collector_supported(void);

/* Starts the recording and installs the callbacks; as hs_recorder_start(). */
enum hs_start_result hs_module_start(const struct hs_start *start, char *message, size_t size,
				     bool *is_strict);

#endif
