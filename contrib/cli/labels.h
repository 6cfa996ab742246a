/* SPDX-License-Identifier: MIT */
/*
 * Numbers for texts: each text is kept once.
 */
#ifndef HEAPSHOT_CLI_LABELS_H
#define HEAPSHOT_CLI_LABELS_H

#include <stddef.h>
#include <stdint.h>

/* Starts as zero. */
struct labels {
	char **texts; /* by number */
	size_t n;
	uint32_t *index; /* hash table of number + 1 */
	size_t room;     /* of index; texts have half of it */
};

/* Number of TEXT, which is added if it is new; UINT32_MAX without memory. */
uint32_t labels_add(struct labels *labels, const char *text);
void labels_free(struct labels *labels);

#endif
