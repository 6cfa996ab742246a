/* SPDX-License-Identifier: MIT */
/*
 * jit_begin, jit_done and code buffers.  They come on the compiling thread,
 * which holds no lock of the runtime then; the names come from functions that
 * only put text together (mono_type_get_name may load types, and aborts before
 * the runtime is initialised).
 *
 * One compilation may be told several times: of a generic method first by the
 * instance that was asked for, then by the shared code; of a P/Invoke or
 * internal call by its wrapper, and again for the method each time it is met.
 * One packet comes of it.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <mono/metadata/appdomain.h>
#include <mono/metadata/class.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/image.h>

#include "profiler/method_il.h"
#include "profiler/methods.h"
#include "profiler/per_thread.h"
#include "profiler/recorder.h"
#include "profiler/text.h"

#define METHODS    HEAPSHOT__LOSS_KIND__LOSS_KIND_METHODS
#define SHORT_TEXT 1024
/* Longest signature: beside the longest name it fits into the smallest log. */
#define SIGNATURE_MAX (8u << 10)
/* Part of a code body: so small that it finds room in the smallest log. */
#define PART_MAX    (32u << 10)
#define NESTING_MAX 24

/* The runtime's own switch, declared in its private headers; absent: it compiles. */
extern int mono_use_interpreter __attribute__((weak));

/* What a thread compiles. */
struct compilations {
	struct {
		MonoMethod *method;
		uint64_t begin_ns, nested_ns;
		bool has_code;  /* the compiler has written some */
	} nesting[NESTING_MAX]; /* under way */
	unsigned depth;
	uintptr_t last_code; /* of the packet before */
};

static _Atomic uint64_t n_methods;

static void jit_begin(MonoProfiler *profiler, MonoMethod *method)
{
	struct compilations *own;
	unsigned at;

	(void)profiler;
	if (!hs_is_recording())
		return;
	own = hs_per_thread(HS_PER_THREAD_COMPILATIONS, sizeof *own);
	if (!own)
		return;
	/* An exception may have left some behind: the oldest go. */
	if (own->depth == NESTING_MAX)
		memmove(own->nesting, own->nesting + 1, --own->depth * sizeof *own->nesting);
	at = own->depth++;
	own->nesting[at].method = method;
	own->nesting[at].nested_ns = 0;
	own->nesting[at].has_code = false;
	own->nesting[at].begin_ns = hs_monotonic_ns();
}

/* Takes METHOD from the nesting into WHAT; false if it did not begin. */
static bool end_compilation(MonoMethod *method, struct hs_method_entry *what)
{
	struct compilations *own = hs_per_thread_present(HS_PER_THREAD_COMPILATIONS);
	unsigned at = own ? own->depth : 0;
	uint64_t whole_ns;

	while (at && own->nesting[at - 1].method != method)
		at--;
	if (!at)
		return false;
	own->depth = --at;
	whole_ns = hs_monotonic_ns() - own->nesting[at].begin_ns;
	what->nested_ns = own->nesting[at].nested_ns;
	what->compile_ns = whole_ns > what->nested_ns ? whole_ns - what->nested_ns : 0;
	what->is_compiled = own->nesting[at].has_code;
	if (at)
		own->nesting[at - 1].nested_ns += whole_ns;
	return true;
}

static void jit_failed(MonoProfiler *profiler, MonoMethod *method)
{
	struct hs_method_entry what;

	(void)profiler;
	end_compilation(method, &what);
}

/* "(wrapper KIND) NAME" in two; KIND is "" for what is no wrapper. */
static char *split_wrapper(char *name, char **wrapper)
{
	static const char prefix[] = "(wrapper ";
	char *end = strncmp(name, prefix, sizeof prefix - 1) == 0 ? strchr(name, ')') : NULL;

	*wrapper = name + strlen(name);
	if (!end || end[1] != ' ')
		return name;
	*end = 0;
	*wrapper = name + sizeof prefix - 1;
	return end + 2;
}

/* "int (string,bool)"; free() it. */
static struct hs_text signature_of(MonoMethod *method)
{
	MonoMethodSignature *signature = mono_method_signature(method);
	char *result =
		signature ? mono_type_full_name(mono_signature_get_return_type(signature)) : NULL;
	char *parameters = signature ? mono_signature_get_desc(signature, 1) : NULL;
	struct hs_text text = {0};
	char *joined;
	size_t bytes;

	if (result && parameters) {
		bytes = strlen(result) + strlen(parameters) + 4;
		joined = malloc(bytes);
		if (joined) {
			strcpy(joined, result);
			strcat(strcat(strcat(joined, " ("), parameters), ")");
			text = hs_text_of(joined, SIGNATURE_MAX);
		}
		/* It may be the text. */
		if (text.owned || !joined)
			free(joined);
		else
			text.owned = joined;
	} else {
		text = hs_text_of("", 1);
	}
	mono_free(result);
	mono_free(parameters);
	return text;
}

static void push_code(uint64_t method, Heapshot__CodeKind kind, const unsigned char *code,
		      uint64_t total_bytes)
{
	uint64_t offset;

	for (offset = 0; offset < total_bytes; offset += PART_MAX) {
		const uint64_t left = total_bytes - offset;
		const uint32_t bytes = left < PART_MAX ? (uint32_t)left : PART_MAX;
		struct hs_code_entry *out;
		struct hs_log_entry *entry =
			hs_push_begin(HS_ENTRY_CODE, sizeof *out + bytes, METHODS);
		if (!entry)
			continue;
		out = hs_log_payload(entry);
		out->method = method;
		out->offset = offset;
		out->total_bytes = total_bytes;
		out->kind = kind;
		out->bytes = bytes;
		memcpy(out->data, code + offset, bytes);
		hs_push_end(entry);
	}
}

/* What the packet says beside its texts. */
static void describe(struct hs_method_entry *out, MonoMethod *method, MonoJitInfo *code)
{
	struct hs_il il = hs_il_of(method);

	out->id = atomic_fetch_add(&n_methods, 1) + 1;
	out->method = (uintptr_t)method;
	out->domain = (uintptr_t)mono_domain_get();
	out->thread = (uint64_t)pthread_self();
	out->token = mono_method_get_token(method);
	out->code = code ? (uintptr_t)mono_jit_info_get_code_start(code) : 0;
	out->code_bytes = code ? (uint64_t)(uint32_t)mono_jit_info_get_code_size(code) : 0;
	out->is_interpreting = &mono_use_interpreter && mono_use_interpreter;
	out->il_bytes = il.bytes;
	out->il_hash = il.bytes ? hs_fnv1a(il.code, il.bytes) : 0;
	hs_il_release(&il);
}

static void push_texts(struct hs_method_entry *what, MonoMethod *method, MonoMethod *shared)
{
	char *full = mono_method_full_name(method, 0), *wrapper, *own;
	char *full_shared = shared ? mono_method_full_name(shared, 0) : NULL;
	struct hs_text name, kind, signature = signature_of(method),
				   other = hs_text_of(full_shared, SHORT_TEXT), image_name;
	MonoImage *image = mono_class_get_image(mono_method_get_class(method));
	struct hs_log_entry *entry = NULL;
	struct hs_method_entry *out;
	char *text;

	own = split_wrapper(full, &wrapper);
	name = hs_text_of(own, HS_NAME_MAX);
	kind = hs_text_of(wrapper, SHORT_TEXT);
	/* A DynamicMethod is a wrapper to the runtime, in an image that happens to be at hand. */
	what->is_dynamic = strcmp(wrapper, "dynamic-method") == 0;
	what->image = what->is_dynamic ? 0 : (uintptr_t)image;
	image_name = hs_text_of(what->image ? mono_image_get_name(image) : "", SHORT_TEXT);
	what->whole_bytes = name.whole_bytes;
	what->whole_hash = name.whole_hash;
	what->name_bytes = (uint32_t)name.bytes;
	what->wrapper_bytes = (uint32_t)kind.bytes;
	what->signature_bytes = (uint32_t)signature.bytes;
	what->shared_bytes = (uint32_t)other.bytes;
	what->image_name_bytes = (uint32_t)image_name.bytes;
	if (name.text && kind.text && signature.text && other.text && image_name.text)
		entry = hs_push_begin(HS_ENTRY_METHOD,
				      sizeof *out + name.bytes + kind.bytes + signature.bytes +
					      other.bytes + image_name.bytes + 5,
				      METHODS);
	else
		hs_count_loss(METHODS, 1);
	if (entry) {
		out = hs_log_payload(entry);
		*out = *what;
		text = hs_text_append(out->text, name.text, name.bytes);
		text = hs_text_append(text, kind.text, kind.bytes);
		text = hs_text_append(text, signature.text, signature.bytes);
		text = hs_text_append(text, other.text, other.bytes);
		hs_text_append(text, image_name.text, image_name.bytes);
		hs_push_end(entry);
	}
	hs_text_free(&name);
	hs_text_free(&kind);
	hs_text_free(&signature);
	hs_text_free(&other);
	hs_text_free(&image_name);
	mono_free(full);
	mono_free(full_shared);
}

static void push_bodies(const struct hs_method_entry *what, MonoMethod *method)
{
	struct hs_il il = hs_il_of(method);

	push_code(what->id, HEAPSHOT__CODE_KIND__CODE_KIND_IL, il.code, il.bytes);
	hs_il_release(&il);
	/* What an interpreter keeps there is of a form and length of its own. */
	if (what->is_compiled || !what->is_interpreting)
		push_code(what->id, HEAPSHOT__CODE_KIND__CODE_KIND_NATIVE,
			  (const unsigned char *)what->code, what->code_bytes);
}

static void jit_done(MonoProfiler *profiler, MonoMethod *method, MonoJitInfo *code)
{
	struct compilations *own;
	struct hs_method_entry what = {0};
	MonoMethod *owner = code ? mono_jit_info_get_method(code) : method;

	(void)profiler;
	if (!hs_is_recording())
		return;
	own = hs_per_thread(HS_PER_THREAD_COMPILATIONS, sizeof *own);
	if (!end_compilation(method, &what)) {
		/*
		 * Told of another, or again: see above.  Mono 6.12 tells of a method again
		 * whenever its code is asked for, so that what did not begin is new only
		 * to a recording that began later.
		 */
		if (!hs_recorder.is_late)
			return;
		if (owner != method && !mono_method_get_token(owner))
			return;
		if (code && own && (uintptr_t)mono_jit_info_get_code_start(code) == own->last_code)
			return;
	}
	describe(&what, method, code);
	if (own)
		own->last_code = what.code;
	push_texts(&what, method, owner != method ? owner : NULL);
	if (hs_recorder.options.methods_code)
		push_bodies(&what, method);
}

static void code_buffer(MonoProfiler *profiler, const mono_byte *address, uint64_t size,
			MonoProfilerCodeBufferType type, const void *data)
{
	/* Only this kind says what it is, by a text of the runtime's own. */
	const char *name = type == MONO_PROFILER_CODE_BUFFER_SPECIFIC_TRAMPOLINE ? data : NULL;
	const size_t bytes = name ? strnlen(name, SHORT_TEXT) : 0;
	struct compilations *own = hs_per_thread_present(HS_PER_THREAD_COMPILATIONS);
	struct hs_buffer_entry *out;
	struct hs_log_entry *entry;

	(void)profiler;
	if (type == MONO_PROFILER_CODE_BUFFER_METHOD) {
		/* Code compiled ahead of time is told by jit_begin and jit_done alone. */
		if (own && own->depth)
			own->nesting[own->depth - 1].has_code = true;
		return;
	}
	entry = hs_push_begin(HS_ENTRY_BUFFER, sizeof *out + bytes + 1, METHODS);
	if (!entry)
		return;
	out = hs_log_payload(entry);
	out->address = (uintptr_t)address;
	out->size = size;
	out->kind = (uint32_t)type + 1;
	out->name_bytes = (uint32_t)bytes;
	if (bytes)
		memcpy(out->text, name, bytes);
	out->text[bytes] = 0;
	hs_push_end(entry);
}

void hs_methods_install(MonoProfilerHandle handle)
{
	const bool is_wanted = hs_recorder.options.events & HS_EVENTS_METHODS;

	atomic_store(&n_methods, 0);
	mono_profiler_set_jit_begin_callback(handle, is_wanted ? jit_begin : NULL);
	mono_profiler_set_jit_failed_callback(handle, is_wanted ? jit_failed : NULL);
	mono_profiler_set_jit_done_callback(handle, is_wanted ? jit_done : NULL);
	mono_profiler_set_jit_code_buffer_callback(handle, is_wanted ? code_buffer : NULL);
}
