/* SPDX-License-Identifier: MIT */
/*
 * Names of root kinds.
 */
#include "schema/root_kind.h"

#include <strings.h>

#include "schema/heapshot.pb-c.h"

#define OTHER HEAPSHOT__ROOT_KIND__ROOT_KIND_OTHER
#define LAST  HEAPSHOT__ROOT_KIND__ROOT_KIND_SAVED_REGISTERS

static const char *const names[LAST + 1] = {
	"unknown",   "external",      "stack",          "finalizer_queue",
	"static",    "thread_static", "context_static", "gc_handle",
	"jit",       "threading",     "domain",         "reflection",
	"marshal",   "thread_pool",   "debugger",       "handle",
	"ephemeron", "toggleref",     "other",          "saved_registers",
};

const char *hs_root_kind_name(uint32_t kind)
{
	return names[kind <= LAST ? kind : HEAPSHOT__ROOT_KIND__ROOT_KIND_UNKNOWN];
}

uint32_t hs_root_kind_of(const char *name)
{
	uint32_t kind;

	for (kind = HEAPSHOT__ROOT_KIND__ROOT_KIND_EXTERNAL; kind < OTHER; kind++)
		if (strcasecmp(names[kind], name) == 0)
			break;
	return kind;
}
