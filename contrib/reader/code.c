/* SPDX-License-Identifier: MIT */
/*
 * Methods, chunks and code buffers.  What lies in a chunk is freed with it, so
 * everything keeps the index of its chunk, and learns in the end what became
 * of that.
 */
#include <string.h>

#include "contrib/reader/reader.h"
#include "contrib/reader/take.h"

const char *heapshot_jit_tier_name(uint32_t tier)
{
	static const char *const names[] = {"unknown", "jit", "precompiled", "interpreter"};

	return tier < sizeof(names) / sizeof(*names) ? names[tier] : "unknown";
}

const char *heapshot_code_buffer_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		"unknown",
		"method",
		"method_trampoline",
		"unbox_trampoline",
		"imt_trampoline",
		"generics_trampoline",
		"specific_trampoline",
		"helper",
		"monitor",
		"delegate_invoke",
		"exception_handling",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}

void hs_code_free(struct heapshot_reader *reader)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_code *code = &reader->code;

	hs_memory_release(memory, code->methods, code->room_methods * sizeof(*code->methods));
	hs_memory_release(memory, code->buffers, code->room_buffers * sizeof(*code->buffers));
	hs_memory_release(memory, code->chunks, code->room_chunks * sizeof(*code->chunks));
	hs_idmap_free(memory, &code->chunk_index);
	hs_idmap_free(memory, &code->orphans);
	hs_arena_free(memory, &code->arena);
	*code = (struct hs_code){0};
}

static struct heapshot_chunk *add_chunk(struct heapshot_reader *reader, uint64_t address,
					uint64_t bytes, uint64_t time_ns)
{
	struct hs_code *code = &reader->code;

	if (code->n_chunks >= HEAPSHOT_NO_CHUNK ||
	    !hs_memory_reserve(&reader->memory, &code->chunks, code->n_chunks, &code->room_chunks,
			       sizeof(*code->chunks)) ||
	    !hs_idmap_put(&reader->memory, &code->chunk_index, address, (uint32_t)code->n_chunks))
		return NULL;
	code->chunks[code->n_chunks] = (struct heapshot_chunk){
		.address = address,
		.bytes = bytes,
		.created_ns = time_ns,
	};
	return &code->chunks[code->n_chunks++];
}

/* The present chunk at ADDRESS, or NULL. */
static struct heapshot_chunk *live_chunk(struct hs_code *code, uint64_t address)
{
	const uint32_t *index = hs_idmap_find(&code->chunk_index, address);

	return index == NULL || code->chunks[*index].is_freed ? NULL : &code->chunks[*index];
}

static bool take_chunk(struct heapshot_reader *reader, const Heapshot__JitChunk *from,
		       uint64_t time_ns)
{
	struct hs_code *code = &reader->code;
	struct heapshot_chunk *chunk = live_chunk(code, from->address);
	const uint32_t *orphan;

	if (!from->is_destroyed) {
		/* The end of one that was there was lost. */
		if (chunk != NULL) {
			chunk->is_freed = true;
			chunk->freed_ns = time_ns;
		}
		return add_chunk(reader, from->address, from->size, time_ns) != NULL;
	}
	if (chunk != NULL) {
		chunk->is_freed = true;
		chunk->freed_ns = time_ns;
		return true;
	}
	orphan = hs_idmap_find(&code->orphans, from->address);
	if (orphan != NULL && !code->methods[*orphan].is_freed) {
		code->methods[*orphan].is_freed = true;
		code->methods[*orphan].freed_ns = time_ns;
	}
	return true;
}

/* Counts BYTES into the chunk at ADDRESS; false over the limit of memory. */
static bool join_chunk(struct heapshot_reader *reader, uint64_t address, uint64_t bytes,
		       uint64_t time_ns, uint32_t *index, struct heapshot_chunk **joined)
{
	struct heapshot_chunk *chunk = live_chunk(&reader->code, address);

	*index = HEAPSHOT_NO_CHUNK;
	*joined = NULL;
	if (address == 0)
		return true;
	/* Its own record was lost. */
	if (chunk == NULL)
		chunk = add_chunk(reader, address, 0, time_ns);
	if (chunk == NULL)
		return false;
	if (__builtin_add_overflow(chunk->used_bytes, bytes, &chunk->used_bytes))
		chunk->used_bytes = UINT64_MAX;
	*index = (uint32_t)(chunk - reader->code.chunks);
	*joined = chunk;
	return true;
}

static bool take_method(struct heapshot_reader *reader, const Heapshot__JitMethod *from,
			uint64_t time_ns)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_code *code = &reader->code;
	struct hs_arena *arena = &code->arena;
	const struct heapshot_image *image = heapshot_reader_image(reader, from->image);
	struct heapshot_chunk *chunk;
	struct heapshot_method *method;

	if (code->n_methods >= UINT32_MAX ||
	    !hs_memory_reserve(memory, &code->methods, code->n_methods, &code->room_methods,
			       sizeof(*code->methods)))
		return false;
	method = &code->methods[code->n_methods];
	*method = (struct heapshot_method){
		.id = from->id,
		.time_ns = time_ns,
		.name = hs_arena_text(memory, arena, from->name),
		.signature = hs_arena_text(memory, arena, from->signature),
		.wrapper = hs_arena_text(memory, arena, from->wrapper),
		.shared_name = hs_arena_text(memory, arena, from->shared_name),
		.assembly = image != NULL ? image->name : "",
		.mvid = image != NULL ? image->mvid : "",
		.token = from->token,
		.tier = (uint32_t)from->tier,
		.domain = from->domain,
		.is_dynamic = from->is_dynamic,
		.thread = from->thread,
		.il_bytes = from->il_bytes,
		.il_hash = from->il_hash,
		.code_address = from->code_address,
		.code_bytes = from->code_bytes,
		.compile_ns = from->compile_ns,
		.nested_ns = from->nested_ns,
	};
	if (method->name == NULL || method->signature == NULL || method->wrapper == NULL ||
	    method->shared_name == NULL ||
	    !join_chunk(reader, from->chunk_address, from->code_bytes, time_ns, &method->chunk,
			&chunk))
		return false;
	if (chunk != NULL)
		chunk->n_methods++;
	else if (method->tier == HEAPSHOT__JIT_TIER__JIT_TIER_JIT &&
		 !hs_idmap_put(memory, &code->orphans, from->code_address,
			       (uint32_t)code->n_methods))
		return false;
	code->n_methods++;
	return true;
}

static bool take_buffer(struct heapshot_reader *reader, const Heapshot__CodeBuffer *from,
			uint64_t time_ns)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_code *code = &reader->code;
	struct heapshot_code_buffer *buffer, *before;
	struct heapshot_chunk *chunk;

	if (!hs_memory_reserve(memory, &code->buffers, code->n_buffers, &code->room_buffers,
			       sizeof(*code->buffers)))
		return false;
	buffer = &code->buffers[code->n_buffers];
	before = code->n_buffers > 0 ? buffer - 1 : NULL;
	*buffer = (struct heapshot_code_buffer){
		.time_ns = time_ns,
		.address = from->address,
		.bytes = from->size,
		.kind = (uint32_t)from->kind,
	};
	/* Trampolines come in rows of one name. */
	buffer->name = before != NULL && strcmp(before->name, from->name) == 0
			       ? before->name
			       : hs_arena_text(memory, &code->arena, from->name);
	if (buffer->name == NULL ||
	    !join_chunk(reader, from->chunk_address, from->size, time_ns, &buffer->chunk, &chunk))
		return false;
	if (chunk != NULL)
		chunk->n_buffers++;
	code->n_buffers++;
	return true;
}

static bool take_loss(struct heapshot_reader *reader, const Heapshot__Loss *from, uint64_t time_ns)
{
	(void)time_ns;
	if (from->kind == HEAPSHOT__LOSS_KIND__LOSS_KIND_METHODS)
		reader->code.n_lost += from->count;
	return true;
}

static enum heapshot_read_result take_record(struct heapshot_reader *reader,
					     const struct heapshot_record *record)
{
	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_JIT_CHUNK:
		HS_TAKE(jit_chunk, take_chunk(reader, unpacked, record->time_ns));
	case HEAPSHOT__RECORD__BODY_JIT_METHOD:
		HS_TAKE(jit_method, take_method(reader, unpacked, record->time_ns));
	case HEAPSHOT__RECORD__BODY_CODE_BUFFER:
		HS_TAKE(code_buffer, take_buffer(reader, unpacked, record->time_ns));
	case HEAPSHOT__RECORD__BODY_LOSS:
		HS_TAKE(loss, take_loss(reader, unpacked, record->time_ns));
	case HEAPSHOT__RECORD__BODY_METHOD_CODE:
		reader->code.has_bodies = true;
		return HEAPSHOT_READ_OK;
	default:
		return HEAPSHOT_READ_OK;
	}
}

/* Everything learns what became of its chunk. */
static void settle(struct hs_code *code)
{
	size_t i;

	for (i = 0; i < code->n_methods; i++) {
		struct heapshot_method *method = &code->methods[i];

		if (method->chunk == HEAPSHOT_NO_CHUNK)
			continue;
		method->is_freed = code->chunks[method->chunk].is_freed;
		method->freed_ns = code->chunks[method->chunk].freed_ns;
	}
	for (i = 0; i < code->n_buffers; i++) {
		struct heapshot_code_buffer *buffer = &code->buffers[i];

		if (buffer->chunk == HEAPSHOT_NO_CHUNK)
			continue;
		buffer->is_freed = code->chunks[buffer->chunk].is_freed;
		buffer->freed_ns = code->chunks[buffer->chunk].freed_ns;
	}
}

enum heapshot_read_result heapshot_reader_load_code(struct heapshot_reader *reader,
						    struct heapshot_code *code)
{
	struct hs_code *own = &reader->code;
	enum heapshot_read_result names;

	*code = (struct heapshot_code){0};
	if (!own->is_loaded) {
		names = heapshot_reader_load_names(reader);
		if (names != HEAPSHOT_READ_OK && names != HEAPSHOT_READ_DAMAGED)
			return names;
		hs_code_free(reader);
		own->result = hs_read_all(reader, HEAPSHOT_FRAME_EVENTS, take_record);
		if (own->result != HEAPSHOT_READ_OK && own->result != HEAPSHOT_READ_DAMAGED)
			return own->result;
		if (own->result == HEAPSHOT_READ_OK)
			own->result = names;
		settle(own);
		own->is_loaded = true;
	}
	*code = (struct heapshot_code){
		.methods = own->methods,
		.n_methods = own->n_methods,
		.buffers = own->buffers,
		.n_buffers = own->n_buffers,
		.chunks = own->chunks,
		.n_chunks = own->n_chunks,
		.n_lost = own->n_lost,
		.has_code_bodies = own->has_bodies,
	};
	return own->result;
}
