/* SPDX-License-Identifier: MIT */
/*
 * Linked into the runtimes of the tests: what JavaScript cannot ask itself.
 */
#include <emscripten.h>
#include <malloc.h>

/* What malloc has given away. */
EMSCRIPTEN_KEEPALIVE size_t probe_malloc_used(void);

size_t probe_malloc_used(void)
{
	return (size_t)mallinfo().uordblks;
}
