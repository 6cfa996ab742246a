/* SPDX-License-Identifier: MIT */
/*
 * Maps three numbers to one, which is not 0.
 */
#ifndef HEAPSHOT_CLI_TRIPLES_H
#define HEAPSHOT_CLI_TRIPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct triple {
	uint32_t a, b, c, value; /* value 0: free */
};

/* Starts as zero. */
struct triples {
	struct triple *list;
	size_t n, room;
};

/* Makes room for one more; false without memory. */
bool triples_reserve(struct triples *triples);
/* The entry of A, B, C, or a free one; there must be room for one more. */
struct triple *triples_find(const struct triples *triples, uint32_t a, uint32_t b, uint32_t c);
/* False without memory. */
bool triples_add(struct triples *triples, uint32_t a, uint32_t b, uint32_t c, uint32_t value);
void triples_free(struct triples *triples);

#endif
