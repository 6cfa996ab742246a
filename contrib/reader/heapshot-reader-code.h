/* SPDX-License-Identifier: MIT */
/*
 * libheapshot-reader: the code of a recording (made with events=methods).
 * The rules of heapshot-reader.h for errors, memory and text hold here too.
 */
#ifndef HEAPSHOT_READER_CODE_H
#define HEAPSHOT_READER_CODE_H

#include "heapshot-reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that the runtime writes code into. */
struct heapshot_chunk {
	uint64_t address;
	uint64_t bytes;      /* 0: not known */
	uint64_t used_bytes; /* by the methods and buffers that were written into it */
	uint64_t n_methods, n_buffers;
	uint64_t created_ns;
	bool is_freed;
	uint64_t freed_ns;
};

/* No chunk: precompiled or interpreted code, or one from before the recording. */
#define HEAPSHOT_NO_CHUNK UINT32_MAX

/* A method that got its code; one that got code again (another domain) is there again. */
struct heapshot_method {
	uint64_t id;             /* in the recording, from 1 */
	uint64_t time_ns;        /* when it got its code */
	const char *name;        /* "Space.Outer/Inner:Method<int>" */
	const char *signature;   /* "void (int,string)" */
	const char *wrapper;     /* kind of a wrapper, "managed-to-native"; "" */
	const char *shared_name; /* of generic code for several types; "" */
	const char *assembly;    /* simple name; "" for dynamic methods */
	const char *mvid;        /* of its module; "" for dynamic methods and modules */
	uint32_t token;          /* metadata token, 0: none */
	uint32_t tier;           /* JitTier of heapshot.proto */
	uint32_t domain;
	bool is_dynamic; /* a DynamicMethod */
	uint64_t thread;
	uint64_t il_bytes, il_hash;
	uint64_t code_address, code_bytes;
	uint64_t compile_ns, nested_ns; /* its own, and other methods' in between */
	uint32_t chunk;                 /* index into chunks, or HEAPSHOT_NO_CHUNK */
	bool is_freed; /* its memory was given back: the address may be another's now */
	uint64_t freed_ns;
};

/* Code that is no method's: trampolines and the like. */
struct heapshot_code_buffer {
	uint64_t time_ns;
	uint64_t address, bytes;
	uint32_t kind;    /* CodeBufferKind of heapshot.proto */
	const char *name; /* where the runtime gives one; "" */
	uint32_t chunk;
	bool is_freed;
	uint64_t freed_ns;
};

struct heapshot_code {
	const struct heapshot_method *methods; /* in the order in which they got their code */
	size_t n_methods;
	const struct heapshot_code_buffer *buffers;
	size_t n_buffers;
	const struct heapshot_chunk *chunks;
	size_t n_chunks;
	uint64_t n_lost;      /* records of code for which the recorder had no room */
	bool has_code_bodies; /* made with methods=code */
};

/*
 * Reads what the recording says of code, in one pass over its events (and one
 * over the names, if they were not loaded).  Needs about 200 bytes of memory a
 * method, and its names.  CODE stays valid until the reader is freed.
 *
 * Returns OK, DAMAGED (parts are missing from CODE), IO, MEMORY.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_load_code(struct heapshot_reader *reader, struct heapshot_code *code);

/* "jit", "precompiled", "interpreter"; "unknown" for others. */
HEAPSHOT_READER_API const char *heapshot_jit_tier_name(uint32_t tier);
/* "specific_trampoline", ...; "unknown" for others. */
HEAPSHOT_READER_API const char *heapshot_code_buffer_kind_name(uint32_t kind);

#ifdef __cplusplus
}
#endif

#endif
