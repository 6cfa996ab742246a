/* SPDX-License-Identifier: MIT */
/*
 * The IL of a method.
 */
#ifndef HEAPSHOT_PROFILER_METHOD_IL_H
#define HEAPSHOT_PROFILER_METHOD_IL_H

#include <stddef.h>

#include <mono/metadata/loader.h>
#include <mono/metadata/metadata.h>

struct hs_il {
	const unsigned char *code; /* NULL: the method has none */
	size_t bytes;
	MonoMethodHeader *header;
};

/* In jit_done, on the compiling thread.  hs_il_release() lets go of it. */
struct hs_il hs_il_of(MonoMethod *method);
void hs_il_release(struct hs_il *il);

#endif
