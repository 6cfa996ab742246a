/* SPDX-License-Identifier: MIT */
/*
 * Names of root kinds.
 */
#include "schema/root_kind.h"

#include <strings.h>

#include "schema/heapshot.pb-c.h"

#define OTHER HEAPSHOT__ROOT_KIND__ROOT_KIND_OTHER

static const char *const names[OTHER + 1] = {
	"unknown",   "external",      "stack",          "finalizer_queue",
	"static",    "thread_static", "context_static", "gc_handle",
	"jit",       "threading",     "domain",         "reflection",
	"marshal",   "thread_pool",   "debugger",       "handle",
	"ephemeron", "toggleref",     "other",
};

const char *hs_root_kind_name(uint32_t kind)
{
	return names[kind <= OTHER ? kind : HEAPSHOT__ROOT_KIND__ROOT_KIND_UNKNOWN];
}

uint32_t hs_root_kind_of(const char *name)
{
	uint32_t kind;

	for (kind = HEAPSHOT__ROOT_KIND__ROOT_KIND_EXTERNAL; kind < OTHER; kind++)
		if (strcasecmp(names[kind], name) == 0)
			break;
	return kind;
}
