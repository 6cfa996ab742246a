/* SPDX-License-Identifier: MIT */
/*
 * Callbacks of running threads.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <mono/metadata/assembly.h>
#include <mono/metadata/image.h>

#include "profiler/events.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/seen.h"
#include "profiler/text.h"
#include "profiler/threads.h"

/* Exported, in no header that is installed. */
extern void *mono_thread_info_current_unchecked(void) __attribute__((weak));

#define DEFINITIONS HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS
#define EVENTS      HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS
#define SHORT_TEXT  1024

static void push_image(MonoImage *image, bool is_unloaded)
{
	struct hs_text name = hs_text_of(mono_image_get_name(image), SHORT_TEXT);
	struct hs_text file = hs_text_of(mono_image_get_filename(image), SHORT_TEXT);
	struct hs_text mvid = hs_text_of(mono_image_get_guid(image), SHORT_TEXT);
	struct hs_image_entry *out;
	struct hs_log_entry *entry =
		hs_push_begin(HS_ENTRY_IMAGE,
			      sizeof *out + name.bytes + file.bytes + mvid.bytes + 3, DEFINITIONS);
	char *text;

	if (entry) {
		out = hs_log_payload(entry);
		out->image = (uintptr_t)image;
		out->is_unloaded = is_unloaded;
		out->name_bytes = (uint32_t)name.bytes;
		out->file_bytes = (uint32_t)file.bytes;
		out->mvid_bytes = (uint32_t)mvid.bytes;
		text = hs_text_append(out->text, name.text, name.bytes);
		text = hs_text_append(text, file.text, file.bytes);
		hs_text_append(text, mvid.text, mvid.bytes);
		hs_push_end(entry);
	}
	hs_text_free(&name);
	hs_text_free(&file);
	hs_text_free(&mvid);
}

static void image_loaded(MonoProfiler *profiler, MonoImage *image)
{
	(void)profiler;
	if (hs_is_recording())
		push_image(image, false);
}

/*
 * Addresses of its types, and of those made of them, are free from here on, and
 * so are its names when image_unloaded comes.
 */
static void image_unloading(MonoProfiler *profiler, MonoImage *image)
{
	(void)profiler;
	hs_seen_expect_others();
	if (hs_is_recording())
		push_image(image, true);
}

static void push_domain(MonoDomain *domain, const char *name, bool is_unloaded)
{
	struct hs_text text = hs_text_of(name, SHORT_TEXT);
	struct hs_domain_entry *out;
	struct hs_log_entry *entry =
		hs_push_begin(HS_ENTRY_DOMAIN, sizeof *out + text.bytes + 1, DEFINITIONS);

	if (entry) {
		out = hs_log_payload(entry);
		out->domain = (uintptr_t)domain;
		out->is_unloaded = is_unloaded;
		out->name_bytes = (uint32_t)text.bytes;
		hs_text_append(out->text, text.text, text.bytes);
		hs_push_end(entry);
	}
	hs_text_free(&text);
}

static void domain_loaded(MonoProfiler *profiler, MonoDomain *domain)
{
	(void)profiler;
	push_domain(domain, "", false);
}

static void domain_named(MonoProfiler *profiler, MonoDomain *domain, const char *name)
{
	(void)profiler;
	push_domain(domain, name, false);
}

static void domain_unloading(MonoProfiler *profiler, MonoDomain *domain)
{
	(void)profiler;
	(void)domain;
	hs_seen_expect_others();
	if (hs_is_recording())
		hs_late_name_last();
}

static void domain_unloaded(MonoProfiler *profiler, MonoDomain *domain)
{
	(void)profiler;
	push_domain(domain, "", true);
}

static void push_thread(uintptr_t id, Heapshot__ThreadState state, const char *name)
{
	struct hs_text text = hs_text_of(name, SHORT_TEXT);
	struct hs_thread_entry *out;
	struct hs_log_entry *entry =
		hs_push_begin(HS_ENTRY_THREAD, sizeof *out + text.bytes + 1, DEFINITIONS);

	if (entry) {
		out = hs_log_payload(entry);
		out->id = id;
		out->state = state;
		out->name_bytes = (uint32_t)text.bytes;
		hs_text_append(out->text, text.text, text.bytes);
		hs_push_end(entry);
	}
	hs_text_free(&text);
}

static void thread_started(MonoProfiler *profiler, uintptr_t id)
{
	(void)profiler;
	push_thread(id, HEAPSHOT__THREAD_STATE__THREAD_STATE_STARTED, NULL);
}

static void thread_stopped(MonoProfiler *profiler, uintptr_t id)
{
	(void)profiler;
	push_thread(id, HEAPSHOT__THREAD_STATE__THREAD_STATE_STOPPED, NULL);
}

static void thread_named(MonoProfiler *profiler, uintptr_t id, const char *name)
{
	(void)profiler;
	push_thread(id, HEAPSHOT__THREAD_STATE__THREAD_STATE_NAMED, name);
}

static void push_chunk(uintptr_t address, uint64_t size, bool is_destroyed)
{
	struct hs_chunk_entry *out;
	struct hs_log_entry *entry = hs_push_begin(HS_ENTRY_CHUNK, sizeof *out, EVENTS);

	if (!entry)
		return;
	out = hs_log_payload(entry);
	out->address = address;
	out->size = size;
	out->is_destroyed = is_destroyed;
	hs_push_end(entry);
}

static void chunk_created(MonoProfiler *profiler, const mono_byte *chunk, uintptr_t size)
{
	(void)profiler;
	push_chunk((uintptr_t)chunk, size, false);
}

static void chunk_destroyed(MonoProfiler *profiler, const mono_byte *chunk)
{
	(void)profiler;
	push_chunk((uintptr_t)chunk, 0, true);
}

static void push_handle(uint32_t handle, MonoGCHandleType type, MonoObject *object, bool is_deleted)
{
	struct hs_handle_entry *out;
	struct hs_log_entry *entry = hs_push_begin(HS_ENTRY_HANDLE, sizeof *out, EVENTS);

	if (!entry)
		return;
	out = hs_log_payload(entry);
	out->handle = handle;
	out->object = (uintptr_t)object;
	out->type = (uint32_t)type + 1;
	out->is_deleted = is_deleted;
	hs_push_end(entry);
}

static void handle_created(MonoProfiler *profiler, uint32_t handle, MonoGCHandleType type,
			   MonoObject *object)
{
	(void)profiler;
	push_handle(handle, type, object, false);
}

static void handle_deleted(MonoProfiler *profiler, uint32_t handle, MonoGCHandleType type)
{
	(void)profiler;
	push_handle(handle, type, NULL, true);
}

static void push_root(uintptr_t start, uintptr_t size, uint32_t kind, uintptr_t key,
		      const char *name, bool is_unregistered)
{
	struct hs_root_entry *out;
	struct hs_log_entry *entry;
	size_t bytes = name ? strnlen(name, HS_RANGE_NAME_MAX - 1) : 0;

	/* Without allocation: the runtime registers ranges also at delicate moments. */
	entry = hs_push_begin(HS_ENTRY_ROOT, sizeof *out + bytes + 1,
			      HEAPSHOT__LOSS_KIND__LOSS_KIND_ROOT_RANGES);
	if (!entry)
		return;
	out = hs_log_payload(entry);
	out->start = start;
	out->size = size;
	out->key = key;
	out->kind = kind;
	out->is_unregistered = is_unregistered;
	out->name_bytes = (uint32_t)bytes;
	if (bytes)
		memcpy(out->text, name, bytes);
	out->text[bytes] = 0;
	hs_push_end(entry);
}

static void note_own_stack(uintptr_t start, uintptr_t size)
{
	hs_threads_add(start, size,
		       mono_thread_info_current_unchecked
			       ? (uintptr_t)mono_thread_info_current_unchecked()
			       : 0);
}

/*
 * A thread that attaches may be scanned before its stack is announced, but not
 * before its thread-static fields are, which happens on the thread itself.  The
 * announcement that follows has the same start and replaces this one.
 */
static void push_own_stack(uintptr_t thread)
{
	pthread_attr_t attributes;
	void *start;
	size_t size;

	if (pthread_getattr_np((pthread_t)thread, &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &start, &size) == 0) {
		push_root((uintptr_t)start, size, HEAPSHOT__ROOT_KIND__ROOT_KIND_STACK, thread,
			  "Thread Stack", false);
		note_own_stack((uintptr_t)start, size);
	}
	pthread_attr_destroy(&attributes);
}

static void root_registered(MonoProfiler *profiler, const mono_byte *start, uintptr_t size,
			    MonoGCRootSource source, const void *key, const char *name)
{
	/* Kinds of a later runtime have no number here, and numbers index tables. */
	const uint32_t kind = source <= MONO_ROOT_SOURCE_TOGGLEREF
				      ? (uint32_t)source + 1
				      : HEAPSHOT__ROOT_KIND__ROOT_KIND_OTHER;

	(void)profiler;
	push_root((uintptr_t)start, size, kind, (uintptr_t)key, name, false);
	if (source == MONO_ROOT_SOURCE_STACK && (uintptr_t)key == (uintptr_t)pthread_self())
		note_own_stack((uintptr_t)start, size);
	if (source == MONO_ROOT_SOURCE_THREAD_STATIC &&
	    (uintptr_t)key == (uintptr_t)pthread_self() &&
	    atomic_load(&hs_recorder.phase) == HS_PHASE_RUNNING)
		push_own_stack((uintptr_t)key);
}

static void root_unregistered(MonoProfiler *profiler, const mono_byte *start)
{
	(void)profiler;
	push_root((uintptr_t)start, 0, 0, 0, NULL, true);
	hs_threads_remove((uintptr_t)start);
}

void hs_events_marker(const char *label)
{
	struct hs_text text = hs_text_of(label, SHORT_TEXT);
	struct hs_marker_entry *out;
	struct hs_log_entry *entry =
		hs_push_begin(HS_ENTRY_MARKER, sizeof *out + text.bytes + 1, EVENTS);

	if (entry) {
		out = hs_log_payload(entry);
		out->label_bytes = (uint32_t)text.bytes;
		hs_text_append(out->text, text.text, text.bytes);
		hs_push_end(entry);
	}
	hs_text_free(&text);
}

static void tell_assembly(void *assembly, void *unused)
{
	(void)unused;
	push_image(mono_assembly_get_image(assembly), false);
}

static void tell_domain(MonoDomain *domain, void *unused)
{
	(void)unused;
	push_domain(domain, mono_domain_get_friendly_name(domain), false);
}

void hs_events_tell_present(void)
{
	mono_assembly_foreach(tell_assembly, NULL);
	mono_domain_foreach(tell_domain, NULL);
}

void hs_events_install(MonoProfilerHandle handle)
{
	const uint32_t events = hs_recorder.options.events;
	const uint32_t chunks = HS_EVENTS_JIT | HS_EVENTS_METHODS;

	mono_profiler_set_image_loaded_callback(handle, image_loaded);
	mono_profiler_set_image_unloading_callback(handle, image_unloading);
	mono_profiler_set_domain_loaded_callback(handle, domain_loaded);
	mono_profiler_set_domain_name_callback(handle, domain_named);
	mono_profiler_set_domain_unloading_callback(handle, domain_unloading);
	mono_profiler_set_domain_unloaded_callback(handle, domain_unloaded);
	/* Always: roots are named by thread, even where the threads themselves are not wanted. */
	mono_profiler_set_thread_started_callback(handle, thread_started);
	mono_profiler_set_thread_stopped_callback(handle, thread_stopped);
	mono_profiler_set_thread_name_callback(handle, thread_named);
	mono_profiler_set_gc_root_register_callback(handle, root_registered);
	mono_profiler_set_gc_root_unregister_callback(handle, root_unregistered);
	/* Taken away too, since an earlier recording may have wanted them. */
	mono_profiler_set_jit_chunk_created_callback(handle,
						     events & chunks ? chunk_created : NULL);
	mono_profiler_set_jit_chunk_destroyed_callback(handle,
						       events & chunks ? chunk_destroyed : NULL);
	mono_profiler_set_gc_handle_created_callback(
		handle, events & HS_EVENTS_HANDLES ? handle_created : NULL);
	mono_profiler_set_gc_handle_deleted_callback(
		handle, events & HS_EVENTS_HANDLES ? handle_deleted : NULL);
}
