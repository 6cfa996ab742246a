/* SPDX-License-Identifier: MIT */
/*
 * What emscripten's C library lacks.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

void *reallocarray(void *block, size_t n, size_t size)
{
	if (size != 0 && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, n * size);
}
