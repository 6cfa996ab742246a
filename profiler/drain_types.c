/* SPDX-License-Identifier: MIT */
/*
 * What names things: types, fields, images, domains, threads.
 */
#include "config.h"

#include <errno.h>

#include "profiler/drain.h"
#include "profiler/ring.h"
#include "schema/type_records.h"

int hs_drain_image_of(struct hs_draining *drain, const struct hs_log_entry *entry,
		      uintptr_t address, char *name, uint32_t *id)
{
	struct hs_types *types = &hs_recorder.types;
	Heapshot__Image image = HEAPSHOT__IMAGE__INIT;
	bool is_new;
	int error;
	HS_RECORD(record, image, IMAGE);

	*id = hs_types_image(types, address, &is_new);
	if (!is_new)
		return 0;
	image.id = *id;
	image.name = name;
	error = hs_drain_put(drain, HS_FRAME_METADATA, entry, &record);
	/* The entry comes again, and must find the image untold. */
	if (error)
		hs_ptr_map_remove(&types->images, address);
	return error;
}

static int put_raw(struct hs_draining *drain, const struct hs_log_entry *entry, uint32_t field,
		   size_t bytes, hs_record_encode *encode, const void *message)
{
	return hs_record_put_raw(HS_FRAME_METADATA, hs_since_start(entry->time_ns), field, bytes,
				 encode, message, drain->deadline_ns);
}

int hs_drain_class(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_class_entry *class = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	struct hs_type_record type = {0};
	struct hs_type *known;
	char *text = class->text;
	int error;

	type.id = hs_types_intern(types, class->klass);
	known = hs_types_get(types, type.id);
	if (!known)
		return -ENOMEM;
	if (known->is_announced) {
		if (class->is_late)
			return 0;
		/* Its address was used again: the type before is gone. */
		type.id = hs_types_renew(types, class->klass);
		if (!type.id)
			return -ENOMEM;
	}
	type.name.data = hs_drain_text(&text, type.name.bytes = class->name_bytes);
	type.name_space.data = hs_drain_text(&text, type.name_space.bytes = class->space_bytes);
	error = hs_drain_image_of(drain, entry, class->image, text, &type.image);
	if (error)
		return error;
	type.class_address = class->klass;
	type.kind = class->kind;
	type.element = hs_types_intern(types, class->element);
	type.parent = hs_types_intern(types, class->parent);
	type.rank = class->rank;
	type.token = class->token;
	if (class->is_instance)
		type.generic_definition = hs_types_definition(types, class->image, class->token);
	type.name_bytes = class->whole_bytes;
	type.name_hash = class->whole_hash;
	error = put_raw(drain, entry, HEAPSHOT__RECORD__BODY_TYPE, hs_type_bytes(&type),
			hs_type_encode, &type);
	if (error)
		return error;
	known = hs_types_get(types, type.id);
	known->is_announced = true;
	if (!class->is_instance && !hs_types_define(types, type.id, class->image, class->token))
		return -ENOMEM;
	return hs_types_set_name(types, type.id, type.name.data, class->name_bytes) ? 0 : -ENOMEM;
}

/* Field records on the stack: a class with more fields is written in several layouts. */
#define FIELDS_AT_ONCE 128

static int put_fields(struct hs_draining *drain, struct hs_log_entry *entry, uint32_t id,
		      uint32_t instance_bytes, const struct hs_field_record *fields, size_t n)
{
	const struct hs_layout_record layout = {
		.type = id,
		.instance_size_bytes = instance_bytes,
		.fields = fields,
		.n_fields = n,
	};

	return put_raw(drain, entry, HEAPSHOT__RECORD__BODY_TYPE_LAYOUT, hs_layout_bytes(&layout),
		       hs_layout_encode, &layout);
}

int hs_drain_layout(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_layout_entry *layout = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	const uint32_t id = hs_types_intern(types, layout->klass);
	struct hs_type *type = hs_types_get(types, id);
	struct hs_field_record fields[FIELDS_AT_ONCE];
	struct hs_field_entry *field;
	char *at = (char *)(layout + 1);
	uint32_t i, n = 0;
	int error;

	if (!type)
		return -ENOMEM;
	if (!layout->n_fields)
		return put_fields(drain, entry, id, layout->instance_bytes, NULL, 0);
	for (i = 0; i < layout->n_fields; i++) {
		struct hs_field_record *out = &fields[n++];
		field = (struct hs_field_entry *)(void *)at;
		at += (sizeof *field + field->name_bytes + 1 + 7) & ~(size_t)7;
		out->name = (struct hs_chars){field->name, field->name_bytes};
		out->offset = field->offset;
		out->is_static = field->is_static;
		out->is_thread_static = field->is_thread_static;
		out->is_inline = field->is_inline;
		out->type = hs_types_intern(types, field->type);
		if (n < FIELDS_AT_ONCE && i + 1 < layout->n_fields)
			continue;
		error = put_fields(drain, entry, id, layout->instance_bytes, fields, n);
		if (error)
			return error;
		n = 0;
	}
	at = (char *)(layout + 1);
	for (i = 0; i < layout->n_fields; i++) {
		field = (struct hs_field_entry *)(void *)at;
		at += (sizeof *field + field->name_bytes + 1 + 7) & ~(size_t)7;
		if (field->is_static && !field->is_thread_static &&
		    !hs_types_add_static(types, id, field->offset, field->name, field->name_bytes))
			return -ENOMEM;
	}
	return 0;
}

int hs_drain_vtable(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_vtable_entry *vtable = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	struct hs_storage_record storage = {0};
	bool is_new;

	storage.type = hs_types_intern(types, vtable->klass);
	storage.domain = hs_types_domain(types, vtable->domain, &is_new);
	storage.address = vtable->statics;
	if (!storage.type || !hs_ptr_map_set(&types->vtables, vtable->vtable, storage.type) ||
	    !hs_ptr_map_set(&types->vtable_domains, vtable->vtable, storage.domain))
		return -ENOMEM;
	return storage.address ? put_raw(drain, entry, HEAPSHOT__RECORD__BODY_STATIC_STORAGE,
					 hs_storage_bytes(&storage), hs_storage_encode, &storage)
			       : 0;
}

int hs_drain_image(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_image_entry *in = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	Heapshot__Image image = HEAPSHOT__IMAGE__INIT;
	char *text = in->text;
	bool is_new;
	int error;
	HS_RECORD(record, image, IMAGE);

	if (in->is_unloaded && !hs_ptr_map_get(&types->images, in->image))
		return 0;
	image.id = hs_types_image(types, in->image, &is_new);
	image.name = hs_drain_text(&text, in->name_bytes);
	image.file = hs_drain_text(&text, in->file_bytes);
	image.mvid = hs_drain_text(&text, in->mvid_bytes);
	image.is_unloaded = in->is_unloaded;
	error = hs_drain_put(drain, HS_FRAME_METADATA, entry, &record);
	if (!error && in->is_unloaded)
		hs_ptr_map_remove(&types->images, in->image);
	return error;
}

int hs_drain_domain(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_domain_entry *in = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	Heapshot__Domain domain = HEAPSHOT__DOMAIN__INIT;
	bool is_new;
	int error;
	HS_RECORD(record, domain, DOMAIN);

	if (in->is_unloaded && !hs_ptr_map_get(&types->domains, in->domain))
		return 0;
	domain.id = hs_types_domain(types, in->domain, &is_new);
	domain.address = in->domain;
	domain.name = in->text;
	domain.is_unloaded = in->is_unloaded;
	error = hs_drain_put(drain, HS_FRAME_METADATA, entry, &record);
	if (!error && in->is_unloaded)
		hs_ptr_map_remove(&types->domains, in->domain);
	return error;
}

int hs_drain_thread(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_thread_entry *in = hs_log_payload(entry);
	Heapshot__Thread thread = HEAPSHOT__THREAD__INIT;
	int error = 0;
	HS_RECORD(record, thread, THREAD);

	thread.id = in->id;
	thread.state = (Heapshot__ThreadState)in->state;
	thread.name = in->text;
	if (hs_drain_wants(HS_EVENTS_THREADS))
		error = hs_drain_put(drain, HS_FRAME_METADATA, entry, &record);
	if (error)
		return error;
	/* A stopped thread's id comes again, and then has no name at first. */
	if (in->state != HEAPSHOT__THREAD_STATE__THREAD_STATE_STARTED &&
	    !hs_types_name_thread(&hs_recorder.types, in->id, in->text, in->name_bytes))
		return -ENOMEM;
	return 0;
}
