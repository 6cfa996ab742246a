/* SPDX-License-Identifier: MIT */
/*
 * The chunks of code that live, by address.  A dynamic method has one of its
 * own, of its very size, so they need not begin at a page.  Belongs to the
 * owner of the stream; memory is mmap.
 */
#ifndef HEAPSHOT_PROFILER_CHUNKS_H
#define HEAPSHOT_PROFILER_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/area.h"

struct hs_chunk {
	uintptr_t address;
	uint64_t bytes;
};

/* Zero-initialised it is empty. */
struct hs_chunks {
	struct hs_area sorted; /* struct hs_chunk */
};

/* False when there is no memory.  A chunk at the same address is replaced. */
bool hs_chunks_add(struct hs_chunks *chunks, uintptr_t address, uint64_t bytes);
void hs_chunks_remove(struct hs_chunks *chunks, uintptr_t address);

/* The chunk that holds ADDRESS, or NULL; until the next change. */
const struct hs_chunk *hs_chunks_find(const struct hs_chunks *chunks, uintptr_t address);

void hs_chunks_free(struct hs_chunks *chunks);

#endif
