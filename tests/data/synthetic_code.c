/* SPDX-License-Identifier: MIT */
/*
 * The variant "code": chunks that come and go at one address, and in them
 * methods; precompiled, interpreted and unplaced code.
 */
#include "tests/data/synthetic_code.h"
#include "tests/data/synthetic_writer.h"

#define AT_A 0x40000000u
#define AT_B 0x50000000u

static void put_chunk(struct synthetic_writer *writer, uint64_t address, uint64_t size)
{
	Heapshot__JitChunk chunk = HEAPSHOT__JIT_CHUNK__INIT;

	chunk.address = address;
	chunk.size = size;
	chunk.is_destroyed = size == 0;
	PUT(EVENTS, JIT_CHUNK, &chunk);
}

static void put_method(struct synthetic_writer *writer, const char *name, uint64_t address,
		       uint64_t bytes, uint64_t chunk, Heapshot__JitTier tier)
{
	Heapshot__JitMethod method = HEAPSHOT__JIT_METHOD__INIT;

	method.id = ++writer->id;
	method.name = (char *)(uintptr_t)name;
	method.signature = (char *)(uintptr_t) "void (int)";
	method.token = 0x06000000u + (uint32_t)method.id;
	method.image = 2;
	method.tier = tier;
	method.il_bytes = 7;
	method.il_hash = 0xFEDCBA9876543210u;
	method.code_address = address;
	method.code_bytes = bytes;
	method.chunk_address = chunk;
	method.compile_ns = 1000 * (100 - method.id);
	method.thread = 77;
	method.domain = method.id == 6 ? 2 : 1;
	PUT(EVENTS, JIT_METHOD, &method);
}

static void put_body(struct synthetic_writer *writer, uint64_t method, uint64_t offset)
{
	Heapshot__MethodCode code = HEAPSHOT__METHOD_CODE__INIT;
	uint8_t data[] = {0x02, 0x2a, 0xff};

	code.method = method;
	code.kind = HEAPSHOT__CODE_KIND__CODE_KIND_IL;
	code.offset = offset;
	code.total_bytes = 6;
	code.data.data = data;
	code.data.len = sizeof(data);
	PUT(EVENTS, METHOD_CODE, &code);
}

void synthetic_code(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer_, *writer = &writer_;
	Heapshot__CodeBuffer buffer = HEAPSHOT__CODE_BUFFER__INIT;
	Heapshot__Loss loss = HEAPSHOT__LOSS__INIT;
	const Heapshot__JitTier compiled = HEAPSHOT__JIT_TIER__JIT_TIER_JIT;

	(void)n;
	synthetic_open(writer, bytes, 0xC0FFEE, 1);
	put_chunk(writer, AT_A, 0x10000);
	put_method(writer, "T.A:First", AT_A + 0x100, 0x80, AT_A, compiled);
	buffer.address = AT_A + 0x200;
	buffer.size = 10;
	buffer.kind = HEAPSHOT__CODE_BUFFER_KIND__CODE_BUFFER_KIND_SPECIFIC_TRAMPOLINE;
	buffer.name = (char *)(uintptr_t) "jit";
	buffer.chunk_address = AT_A;
	PUT(EVENTS, CODE_BUFFER, &buffer);
	put_chunk(writer, AT_A, 0);
	put_chunk(writer, AT_B, 0x10000);
	put_method(writer, "T.Esc\033[31m\n\xe2\x80\xae:Stays", AT_B, 0x200, AT_B, compiled);
	put_body(writer, 2, 0);
	put_body(writer, 2, 3);
	put_chunk(writer, AT_A, 0x8000);
	put_method(writer, "T.A:Second", AT_A + 0xf0, 0x40, AT_A, compiled);
	put_chunk(writer, AT_A, 0);
	put_chunk(writer, AT_A, 0x4000);
	put_method(writer, "T.A:Third", AT_A + 0x100, 0x20, AT_A, compiled);
	/* One image's code in two domains. */
	put_method(writer, "T.Ready:Made", 0x60000000, 0x30, 0,
		   HEAPSHOT__JIT_TIER__JIT_TIER_PRECOMPILED);
	put_method(writer, "T.Ready:Made", 0x60000000, 0x30, 0,
		   HEAPSHOT__JIT_TIER__JIT_TIER_PRECOMPILED);
	/* Its chunk is from before the recording; its end is told. */
	put_method(writer, "T.Late:Gone", 0x70000000, 0x30, 0, compiled);
	put_chunk(writer, 0x70000000, 0);
	put_method(writer, "T.Slow:Walked", 0x80000000, 50, 0,
		   HEAPSHOT__JIT_TIER__JIT_TIER_INTERPRETER);
	loss.kind = HEAPSHOT__LOSS_KIND__LOSS_KIND_METHODS;
	loss.count = 5;
	PUT(EVENTS, LOSS, &loss);
	synthetic_close(writer, true, "");
}
