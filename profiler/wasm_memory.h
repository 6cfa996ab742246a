/* SPDX-License-Identifier: MIT */
/*
 * Linear memory, and what takes it.
 */
#ifndef HEAPSHOT_PROFILER_WASM_MEMORY_H
#define HEAPSHOT_PROFILER_WASM_MEMORY_H

#include <stdint.h>

struct hs_memory {
	uint64_t linear;                   /* what there is of it */
	uint64_t maximum;                  /* what it may grow to */
	uint64_t taken;                    /* by malloc, the collector and the program itself */
	uint64_t malloc_used, malloc_free; /* of what malloc took */
	uint64_t heap, heap_used;          /* managed; used by what outlived the last collection */
};

/* While the world runs. */
void hs_memory_read(struct hs_memory *memory);

#endif
