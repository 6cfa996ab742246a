/* SPDX-License-Identifier: MIT */
/*
 * Words that threads saved when they last entered a region in which they may be
 * collected past: registers and a piece of stack, copied to memory of their own.
 *
 * The collector takes them for roots, and does not report them (Mono 6.8 and
 * 6.12, gc_stackdata of the thread).  Nothing clears the copy, so most of what it
 * holds is out of date; yet what only it holds is alive.
 */
#ifndef HEAPSHOT_PROFILER_SAVED_H
#define HEAPSHOT_PROFILER_SAVED_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/area.h"

struct hs_saved_word {
	uintptr_t word;   /* aligned; of an object's inside, too */
	uintptr_t object; /* what the walk found there; 0: nothing */
	uintptr_t stack;  /* of the thread */
};

/* In the stopped world, before the collector scans: fills WORDS, sorted; fewer when memory is short. */
void hs_saved_collect(struct hs_area *words);

/* The walk has met an object of BYTES at ADDRESS. */
void hs_saved_meet(struct hs_area *words, uintptr_t address, uint64_t bytes);

static inline size_t hs_saved_count(const struct hs_area *words)
{
	return words->used / sizeof(struct hs_saved_word);
}

static inline struct hs_saved_word *hs_saved_words(const struct hs_area *words)
{
	return (struct hs_saved_word *)(void *)words->data;
}

/* Where in the runtime's structure for a thread its copy is, is looked for anew; for tests. */
void hs_saved_forget_layout(void);

#endif
