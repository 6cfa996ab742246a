/* SPDX-License-Identifier: MIT */
/*
 * What the parts of heapshot jit share.
 */
#ifndef HEAPSHOT_CLI_JIT_H
#define HEAPSHOT_CLI_JIT_H

#include "contrib/cli/json.h"
#include "contrib/cli/recording.h"
#include "contrib/reader/heapshot-reader-code.h"

struct jit_view {
	const struct recording *recording;
	const struct cli_arguments *arguments;
	struct heapshot_code code;
	const struct heapshot_method **methods; /* those asked for, sorted */
	size_t n_methods;
};

/* A piece of machine code: of METHOD, or else of BUFFER. */
struct jit_piece {
	const struct heapshot_method *method;
	const struct heapshot_code_buffer *buffer;
	uint64_t address, bytes, time_ns, freed_ns;
	bool is_freed;
};

/* Piece number I of what an address can lie in; interpreted code is none: its bytes are 0. */
struct jit_piece jit_piece_at(const struct heapshot_code *code, size_t i);
static inline size_t jit_n_pieces(const struct heapshot_code *code)
{
	return code->n_methods + code->n_buffers;
}

/* "(wrapper KIND) NAME (PARAMETERS)" into TEXT of SIZE bytes, as far as it goes. */
void jit_piece_text(const struct jit_piece *piece, char *text, size_t size);

/* Keys of a method or buffer into the object that is open. */
void jit_put_method(struct json *json, const struct heapshot_code *code,
		    const struct heapshot_method *method);
void jit_put_buffer(struct json *json, const struct heapshot_code *code,
		    const struct heapshot_code_buffer *buffer);

/* The forms of heapshot jit; each returns a status. */
int jit_show_tables(const struct jit_view *view);
int jit_show_json(const struct jit_view *view);
int jit_show_address(const struct jit_view *view);
int jit_write_map(const struct jit_view *view);

/* Sums of the methods of one assembly. */
struct jit_assembly {
	const char *name;
	uint64_t n_methods, code_bytes, il_bytes, compile_ns;
};

/*
 * The assemblies of the methods of VIEW, largest code first; free() them.
 * Precompiled code that several domains took from one image counts once.  NULL
 * without memory.
 */
struct jit_assembly *jit_assemblies(const struct jit_view *view, size_t *n);

#endif
