/* SPDX-License-Identifier: MIT */
/*
 * Three numbers to one: open addressing.
 */
#include <stdlib.h>

#include "contrib/cli/triples.h"

static size_t hash(uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t value = ((uint64_t)a << 32 | b) * 0x9E3779B97F4A7C15ull;

	value = (value ^ value >> 29 ^ c) * 0xBF58476D1CE4E5B9ull;
	return (size_t)(value ^ value >> 32);
}

struct triple *triples_find(const struct triples *triples, uint32_t a, uint32_t b, uint32_t c)
{
	size_t i;

	for (i = hash(a, b, c);; i++) {
		struct triple *triple = &triples->list[i & (triples->room - 1)];

		if (triple->value == 0 || (triple->a == a && triple->b == b && triple->c == c))
			return triple;
	}
}

bool triples_reserve(struct triples *triples)
{
	struct triples old = *triples;
	size_t i;

	if (triples->n * 2 < triples->room)
		return true;
	triples->room = old.room != 0 ? old.room * 2 : 1024;
	triples->list = calloc(triples->room, sizeof(*triples->list));
	if (triples->list == NULL) {
		*triples = old;
		return false;
	}
	for (i = 0; i < old.room; i++)
		if (old.list[i].value != 0)
			*triples_find(triples, old.list[i].a, old.list[i].b, old.list[i].c) =
				old.list[i];
	free(old.list);
	return true;
}

bool triples_add(struct triples *triples, uint32_t a, uint32_t b, uint32_t c, uint32_t value)
{
	if (!triples_reserve(triples))
		return false;
	*triples_find(triples, a, b, c) = (struct triple){a, b, c, value};
	triples->n++;
	return true;
}

void triples_free(struct triples *triples)
{
	free(triples->list);
	*triples = (struct triples){0};
}
