/* SPDX-License-Identifier: MIT */
/*
 * Recordings of heaps that never were: small, scripted, the same on every run.
 * Each variant shows readers one thing they must bear.
 */
#ifndef HEAPSHOT_TESTS_SYNTHETIC_H
#define HEAPSHOT_TESTS_SYNTHETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct synthetic_bytes {
	uint8_t *data;
	size_t size, room;
};

/* Totals that the variant "differs" can state wrongly, one by one: its N from 1. */
#define SYNTHETIC_TOTALS 9

/* Makes the variant called NAME; N scales "many" and some others, see there.
 * False when there is no such variant. */
bool synthetic_make(const char *name, uint64_t n, struct synthetic_bytes *bytes);

/* Name number I of all variants, NULL behind the last. */
const char *synthetic_name(size_t i);

/* What the snapshots of "good" hold; tests compare with these. */
#define GOOD_SNAPSHOTS  3
#define GOOD_NODES      3000u /* in snapshot 1; doubled in each next one */
#define GOOD_NODE_BYTES 32u
#define GOOD_ARRAY_REFS 300u /* one array, three rows of the walk */

#endif
