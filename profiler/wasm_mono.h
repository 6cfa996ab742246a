/* SPDX-License-Identifier: MIT */
/*
 * Included before every source of the wasm module: functions that Mono declares in
 * installed headers and .NET's runtime packs have without declaring them there, and
 * one that emscripten's libc lacks.
 */
#ifndef HEAPSHOT_PROFILER_WASM_MONO_H
#define HEAPSHOT_PROFILER_WASM_MONO_H

#include <mono/metadata/appdomain.h>
#include <mono/metadata/object.h>
#include <mono/utils/mono-publib.h>
#include <sys/random.h>
#include <unistd.h>

MonoClass *mono_get_string_class(void);
MonoClass *mono_vtable_class(MonoVTable *vtable);
MonoDomain *mono_vtable_domain(MonoVTable *vtable);
void mono_domain_foreach(void (*visit)(MonoDomain *domain, void *user_data), void *user_data);
const char *mono_domain_get_friendly_name(MonoDomain *domain);
/* 0 to 14, from .NET 10 on; before, 0 to 12. */
double mono_jiterp_get_counter(int32_t counter);

#define getrandom(data, bytes, flags)                                                              \
	((void)(flags), getentropy(data, bytes) == 0 ? (ssize_t)(bytes) : -1)

#endif
