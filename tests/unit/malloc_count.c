/* SPDX-License-Identifier: MIT */
/*
 * The program's own malloc and its kin stand before the C library's, to whose
 * inner names they pass everything on.
 */
#include "tests/unit/malloc_count.h"

#include <stddef.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)

bool malloc_count_is_available(void)
{
	return false;
}

uint64_t malloc_count(void)
{
	return 0;
}

#else

#define EXPORTED __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uint64_t n_calls;

static void count(void)
{
	__atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED);
}

EXPORTED void *malloc(size_t size)
{
	count();
	return __libc_malloc(size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
	count();
	return __libc_calloc(n, size);
}

EXPORTED void *realloc(void *old, size_t size)
{
	count();
	return __libc_realloc(old, size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
	count();
	return __libc_memalign(alignment, size);
}

bool malloc_count_is_available(void)
{
	return true;
}

uint64_t malloc_count(void)
{
	return __atomic_load_n(&n_calls, __ATOMIC_RELAXED);
}

#endif
