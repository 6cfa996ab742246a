/* SPDX-License-Identifier: MIT */
/*
 * class_loaded and vtable_loaded.  They come on running threads, possibly with
 * the loader lock held, so nothing here may make the runtime load a type
 * before its vtable is complete.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <mono/metadata/attrdefs.h>
#include <mono/metadata/blob.h>

#include "profiler/classes.h"
#include "profiler/layout.h"
#include "profiler/recorder.h"
#include "profiler/seen.h"
#include "profiler/text.h"

/*
 * Classes announced before the runtime is initialised cannot be named yet
 * (mono_type_get_name aborts): some 270 with Mono 6.8.
 */
#define EARLY_MAX 4096u

static MonoClass *_Atomic early[EARLY_MAX];
static _Atomic uint32_t n_early;

static bool is_early(void)
{
	return atomic_load(&hs_recorder.phase) == HS_PHASE_EARLY;
}

/*
 * TYPE is the element type of KLASS's own, RANK its rank as an array.  Most of what
 * can be asked of a class makes the runtime change the state of the thread, twice,
 * which takes longer than all else here; flags and types do not.
 */
static Heapshot__TypeKind kind_of(MonoClass *klass, int type, int rank)
{
	uint32_t flags;

	if (rank)
		return HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY;
	if (type == MONO_TYPE_PTR || type == MONO_TYPE_FNPTR)
		return HEAPSHOT__TYPE_KIND__TYPE_KIND_POINTER;
	if (klass == mono_get_string_class())
		return HEAPSHOT__TYPE_KIND__TYPE_KIND_STRING;
	/* Of these two no class is a struct. */
	if (type != MONO_TYPE_CLASS && type != MONO_TYPE_OBJECT) {
		if (mono_class_is_enum(klass))
			return HEAPSHOT__TYPE_KIND__TYPE_KIND_ENUM;
		if (mono_class_is_valuetype(klass))
			return HEAPSHOT__TYPE_KIND__TYPE_KIND_STRUCT;
	}
	flags = mono_class_get_flags(klass);
	if (flags & MONO_TYPE_ATTR_INTERFACE)
		return HEAPSHOT__TYPE_KIND__TYPE_KIND_INTERFACE;
	if (mono_class_is_delegate(klass))
		return HEAPSHOT__TYPE_KIND__TYPE_KIND_DELEGATE;
	return HEAPSHOT__TYPE_KIND__TYPE_KIND_CLASS;
}

static void push_class(MonoClass *klass, bool is_late)
{
	MonoType *own = mono_class_get_type(klass);
	const int type = mono_type_get_type(own), rank = mono_class_get_rank(klass);
	char *type_name = mono_type_get_name(own);
	struct hs_text name = hs_text_of(type_name, HS_NAME_MAX);
	struct hs_text space = hs_text_of(mono_class_get_namespace(klass), 1024);
	MonoImage *image = mono_class_get_image(klass);
	struct hs_text image_name = hs_text_of(image ? mono_image_get_name(image) : "", 1024);
	struct hs_log_entry *entry = NULL;
	struct hs_class_entry *class;
	char *out;

	if (name.text && space.text && image_name.text)
		entry = hs_push_begin(HS_ENTRY_CLASS,
				      sizeof *class + name.bytes + space.bytes + image_name.bytes +
					      3,
				      HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS);
	else
		hs_count_loss(HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS, 1);
	if (entry) {
		class = hs_log_payload(entry);
		memset(class, 0, sizeof *class);
		class->klass = (uintptr_t)klass;
		class->image = (uintptr_t)image;
		class->parent = (uintptr_t)mono_class_get_parent(klass);
		class->kind = kind_of(klass, type, rank);
		class->rank = (uint32_t)rank;
		if (class->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY ||
		    class->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_POINTER)
			class->element = (uintptr_t)mono_class_get_element_class(klass);
		class->token = mono_class_get_type_token(klass);
		class->is_instance = type == MONO_TYPE_GENERICINST;
		class->is_late = is_late;
		class->whole_bytes = name.whole_bytes;
		class->whole_hash = name.whole_hash;
		class->name_bytes = (uint32_t)name.bytes;
		class->space_bytes = (uint32_t)space.bytes;
		class->image_name_bytes = (uint32_t)image_name.bytes;
		out = hs_text_append(class->text, name.text, name.bytes);
		out = hs_text_append(out, space.text, space.bytes);
		hs_text_append(out, image_name.text, image_name.bytes);
		hs_push_end(entry);
	}
	hs_text_free(&name);
	hs_text_free(&space);
	hs_text_free(&image_name);
	mono_free(type_name);
}

static void class_loaded(MonoProfiler *profiler, MonoClass *klass)
{
	uint32_t index;

	(void)profiler;
	if (!hs_is_recording())
		return;
	hs_seen_remove((uintptr_t)klass);
	if (!is_early()) {
		push_class(klass, false);
		return;
	}
	index = atomic_fetch_add(&n_early, 1);
	if (index < EARLY_MAX)
		atomic_store(&early[index], klass);
	else
		hs_count_loss(HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS, 1);
}

void hs_classes_runtime_initialized(void)
{
	uint32_t n = atomic_load(&n_early), i;

	for (i = 0; i < n && i < EARLY_MAX; i++) {
		MonoClass *klass = atomic_exchange(&early[i], NULL);
		if (klass)
			push_class(klass, false);
	}
	atomic_store(&n_early, 0);
}

void hs_classes_name_late(MonoClass *klass)
{
	push_class(klass, true);
	hs_layout_push(klass);
}

/* Exported by the runtime, declared only in its private headers; absent: no places of statics. */
extern void *mono_vtable_get_static_field_data(MonoVTable *vtable) __attribute__((weak));

static void vtable_loaded(MonoProfiler *profiler, MonoVTable *vtable)
{
	MonoClass *klass = mono_vtable_class(vtable);
	struct hs_log_entry *entry;
	struct hs_vtable_entry *out;

	(void)profiler;
	if (!hs_is_recording())
		return;
	entry = hs_push_begin(HS_ENTRY_VTABLE, sizeof *out,
			      HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS);
	if (entry) {
		out = hs_log_payload(entry);
		out->vtable = (uintptr_t)vtable;
		out->klass = (uintptr_t)klass;
		out->domain = (uintptr_t)mono_vtable_domain(vtable);
		out->statics = mono_vtable_get_static_field_data
				       ? (uintptr_t)mono_vtable_get_static_field_data(vtable)
				       : 0;
		hs_push_end(entry);
	}
	hs_layout_push(klass);
}

void hs_classes_install(MonoProfilerHandle handle)
{
	mono_profiler_set_class_loaded_callback(handle, class_loaded);
	mono_profiler_set_vtable_loaded_callback(handle, vtable_loaded);
}
