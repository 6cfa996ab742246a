/* SPDX-License-Identifier: MIT */
/*
 * How full linear memory was, as the counters of a recording tell.
 */
#ifndef HEAPSHOT_CLI_LINEAR_MEMORY_H
#define HEAPSHOT_CLI_LINEAR_MEMORY_H

#include "contrib/cli/recording.h"
#include "contrib/export/counters.h"

/* Whether the recording is of a runtime that has linear memory, with a maximum. */
bool linear_memory_is_there(const struct recording *recording);

/* At a snapshot, in bytes. */
struct linear_memory {
	uint64_t live;    /* objects of the snapshot */
	uint64_t free;    /* the rest of the managed heap */
	uint64_t native;  /* what is not the managed heap's */
	uint64_t total;   /* all that is taken */
	uint64_t maximum; /* that it may be */
};

/* False where it is not known. */
bool linear_memory_at(const struct counters *counters, const struct heapshot_snapshot *snapshot,
		      struct linear_memory *memory);
/* "1,234 bytes live managed, ... of at most ...", in a buffer of 256 bytes. */
const char *linear_memory_text(const struct linear_memory *memory, char text[256]);

#endif
