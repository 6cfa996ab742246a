/* SPDX-License-Identifier: MIT */
/*
 * What is one type to people: those of one name and assembly, however many domains
 * loaded them.
 */
#ifndef HEAPSHOT_CLI_TYPE_KEY_H
#define HEAPSHOT_CLI_TYPE_KEY_H

#include "contrib/cli/recording.h"

struct type_key {
	const char *name;     /* "" when it has none: see type_key_name */
	const char *assembly; /* "" when it is not known */
	uint64_t hash;        /* tells names apart that were cut, and types without one */
	uint32_t id;          /* of one of them; not compared */
};

/* The key of type ID. */
struct type_key type_key_of(const struct recording *recording, uint32_t id);

/* As for qsort. */
int type_key_compare(const struct type_key *a, const struct type_key *b);

/* Name for people: its own, or "type#17"; BUFFER has 32 bytes. */
const char *type_key_name(const struct type_key *key, char *buffer);

/* Whether it is of ASSEMBLY, and its name for people matches FILTER; NULL: any. */
bool type_key_matches(const struct type_key *key, const char *assembly, const char *filter);

#endif
