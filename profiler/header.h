/* SPDX-License-Identifier: MIT */
/*
 * The FileHeader record and the End record.
 */
#ifndef HEAPSHOT_PROFILER_HEADER_H
#define HEAPSHOT_PROFILER_HEADER_H

#include "schema/heapshot.pb-c.h"

/* Both as the owner; return 0 or the stream's error. */
int hs_header_put(void);
int hs_end_put(Heapshot__EndReason reason, uint64_t deadline_ns);

/* Why a recording that ends for REASON holds no snapshot, for people; NULL when it holds one. */
const char *hs_why_no_snapshot(Heapshot__EndReason reason);

#endif
