/* SPDX-License-Identifier: MIT */
/*
 * What the parts for wasm (wasm_*.c) share.
 */
#ifndef HEAPSHOT_PROFILER_WASM_H
#define HEAPSHOT_PROFILER_WASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At least so many bytes are to be free in one piece when a collection begins. */
void hs_pages_keep_free(size_t bytes);
/* While the world runs: sees to it; false when there is no memory. */
bool hs_pages_renew(void);

/* While the world runs: says once what the JavaScript callback threw. */
void hs_output_say(void);
/* How often that was, in this recording: each interrupted a snapshot at most. */
uint64_t hs_output_n_said(void);

#endif
