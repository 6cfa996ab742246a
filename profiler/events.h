/* SPDX-License-Identifier: MIT */
/*
 * What happens between snapshots: images, domains, threads, code chunks, GC
 * handles, root registrations.  All callbacks here come on running threads and
 * only append to the log.
 */
#ifndef HEAPSHOT_PROFILER_EVENTS_H
#define HEAPSHOT_PROFILER_EVENTS_H

#include <mono/metadata/profiler.h>

void hs_events_install(MonoProfilerHandle handle);

/* A late start: tells of the images and domains that exist already. */
void hs_events_tell_present(void);

/* A user's label. */
void hs_events_marker(const char *label);

#endif
