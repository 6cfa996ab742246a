/* SPDX-License-Identifier: MIT */
/*
 * Memory that malloc has no part in, for what must work while the world is
 * stopped, where malloc may be locked by a thread that does not run: from mmap, or,
 * in wasm, from a reserve.
 */
#ifndef HEAPSHOT_PROFILER_PAGES_H
#define HEAPSHOT_PROFILER_PAGES_H

#include <stddef.h>

/* Zeroed, page-aligned memory; NULL when there is none. */
void *hs_map(size_t bytes);
/* The same for memory that will all be used soon: one call makes its pages present. */
void *hs_map_present(size_t bytes);
/*
 * MEMORY, or NULL, with its content in more bytes, the rest zeroed; NULL, and it stays
 * as it is, when there are none.
 */
void *hs_map_larger(void *memory, size_t bytes, size_t larger_bytes);
void hs_unmap(void *memory, size_t bytes);

#endif
