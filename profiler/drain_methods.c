/* SPDX-License-Identifier: MIT */
/*
 * Code: chunks, methods, and what else the runtime writes into chunks.
 */
#include "config.h"

#include <errno.h>

#include "profiler/drain.h"

int hs_drain_chunk(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_chunk_entry *in = hs_log_payload(entry);
	const struct hs_chunk *known = hs_chunks_find(&hs_recorder.chunks, in->address);
	Heapshot__JitChunk chunk = HEAPSHOT__JIT_CHUNK__INIT;
	int error;
	HS_RECORD(record, chunk, JIT_CHUNK);

	chunk.address = in->address;
	chunk.is_destroyed = in->is_destroyed;
	/* The runtime does not say how large a chunk was that it destroys. */
	chunk.size = !in->is_destroyed                        ? in->size
		     : known && known->address == in->address ? known->bytes
							      : 0;
	error = hs_drain_put(drain, HS_FRAME_EVENTS, entry, &record);
	if (error)
		return error;
	if (in->is_destroyed)
		hs_chunks_remove(&hs_recorder.chunks, in->address);
	else if (!hs_chunks_add(&hs_recorder.chunks, in->address, in->size))
		return -ENOMEM;
	return 0;
}

static uint64_t chunk_of(uintptr_t address)
{
	const struct hs_chunk *chunk = hs_chunks_find(&hs_recorder.chunks, address);

	return chunk ? chunk->address : 0;
}

/* The runtime does not say it in so many words. */
static Heapshot__JitTier tier_of(const struct hs_method_entry *in)
{
	if (in->is_compiled)
		return HEAPSHOT__JIT_TIER__JIT_TIER_JIT;
	return in->is_interpreting ? HEAPSHOT__JIT_TIER__JIT_TIER_INTERPRETER
				   : HEAPSHOT__JIT_TIER__JIT_TIER_PRECOMPILED;
}

int hs_drain_method(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_method_entry *in = hs_log_payload(entry);
	struct hs_types *types = &hs_recorder.types;
	Heapshot__JitMethod method = HEAPSHOT__JIT_METHOD__INIT;
	char *text = in->text;
	bool is_new;
	int error;
	HS_RECORD(record, method, JIT_METHOD);

	method.name = hs_drain_text(&text, in->name_bytes);
	method.wrapper = hs_drain_text(&text, in->wrapper_bytes);
	method.signature = hs_drain_text(&text, in->signature_bytes);
	method.shared_name = hs_drain_text(&text, in->shared_bytes);
	error = hs_drain_image_of(drain, entry, in->image, text, &method.image);
	if (error)
		return error;
	method.id = in->id;
	method.method_address = in->method;
	method.domain = hs_types_domain(types, in->domain, &is_new);
	method.thread = in->thread;
	method.token = in->token;
	method.is_dynamic = in->is_dynamic;
	method.il_bytes = in->il_bytes;
	method.il_hash = in->il_hash;
	method.code_address = in->code;
	method.code_bytes = in->code_bytes;
	method.chunk_address = chunk_of(in->code);
	method.tier = tier_of(in);
	method.compile_ns = in->compile_ns;
	method.nested_ns = in->nested_ns;
	method.name_bytes = in->whole_bytes;
	method.name_hash = in->whole_hash;
	return hs_drain_put(drain, HS_FRAME_EVENTS, entry, &record);
}

int hs_drain_code(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_code_entry *in = hs_log_payload(entry);
	Heapshot__MethodCode code = HEAPSHOT__METHOD_CODE__INIT;
	HS_RECORD(record, code, METHOD_CODE);

	code.method = in->method;
	code.kind = (Heapshot__CodeKind)in->kind;
	code.offset = in->offset;
	code.total_bytes = in->total_bytes;
	code.data.data = in->data;
	code.data.len = in->bytes;
	return hs_drain_put(drain, HS_FRAME_EVENTS, entry, &record);
}

int hs_drain_buffer(struct hs_draining *drain, struct hs_log_entry *entry)
{
	struct hs_buffer_entry *in = hs_log_payload(entry);
	Heapshot__CodeBuffer buffer = HEAPSHOT__CODE_BUFFER__INIT;
	HS_RECORD(record, buffer, CODE_BUFFER);

	buffer.address = in->address;
	buffer.size = in->size;
	buffer.kind = (Heapshot__CodeBufferKind)in->kind;
	buffer.name = in->text;
	buffer.chunk_address = chunk_of(in->address);
	return hs_drain_put(drain, HS_FRAME_EVENTS, entry, &record);
}
