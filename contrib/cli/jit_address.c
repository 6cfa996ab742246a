/* SPDX-License-Identifier: MIT */
/*
 * heapshot jit --address: whose code is at an address of a crash log.
 * Addresses are used again, so there may be several answers: what lived last
 * comes first, then what was there before.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/jit.h"
#include "contrib/cli/text.h"

static bool is_at(const struct jit_piece *piece, uint64_t address)
{
	return address >= piece->address && address - piece->address < piece->bytes;
}

/* The live one first, then the one that was freed last. */
static int by_life(const void *left, const void *right)
{
	const struct jit_piece *a = left, *b = right;

	if (a->is_freed != b->is_freed)
		return a->is_freed ? 1 : -1;
	if (a->is_freed && a->freed_ns != b->freed_ns)
		return a->freed_ns < b->freed_ns ? 1 : -1;
	return (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns);
}

/* Precompiled code that several domains took is one answer. */
static bool is_same(const struct jit_piece *a, const struct jit_piece *b)
{
	return a->method != NULL && b->method != NULL && a->address == b->address &&
	       a->bytes == b->bytes && !a->is_freed && !b->is_freed &&
	       strcmp(a->method->name, b->method->name) == 0 &&
	       strcmp(a->method->signature, b->method->signature) == 0;
}

static size_t find(const struct heapshot_code *code, uint64_t address, struct jit_piece *found,
		   size_t room)
{
	size_t i, k, n = 0;

	for (i = 0; i < jit_n_pieces(code); i++) {
		const struct jit_piece piece = jit_piece_at(code, i);

		if (!is_at(&piece, address))
			continue;
		for (k = 0; k < n && k < room && !is_same(&found[k], &piece); k++)
			;
		if (k < n && k < room)
			continue;
		if (n < room)
			found[n] = piece;
		n++;
	}
	return n;
}

static void put_json(const struct jit_view *view, const struct jit_piece *found, size_t n)
{
	const uint64_t address = view->arguments->address;
	struct json json = {0};
	size_t i;

	json_begin(&json, '{');
	json_put_unsigned(&json, "address", address);
	json_key(&json, "matches");
	json_begin_rows(&json);
	for (i = 0; i < n; i++) {
		json_begin(&json, '{');
		json_put_text(&json, "kind",
			      found[i].method != NULL
				      ? "method"
				      : heapshot_code_buffer_kind_name(found[i].buffer->kind));
		json_put_unsigned(&json, "offset", address - found[i].address);
		if (found[i].method != NULL)
			jit_put_method(&json, &view->code, found[i].method);
		else
			jit_put_buffer(&json, &view->code, found[i].buffer);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static void put_text(uint64_t address, const struct jit_piece *piece)
{
	char text[4096], number[TEXT_NUMBER_BYTES];

	jit_piece_text(piece, text, sizeof(text));
	printf("0x%" PRIx64 "  ", address);
	text_put_masked(stdout, text);
	printf(" + 0x%" PRIx64 "  [", address - piece->address);
	text_put_masked(stdout, piece->method == NULL      ? "no assembly"
				: *piece->method->assembly ? piece->method->assembly
							   : "dynamic");
	if (piece->is_freed)
		printf(", freed after %s", text_duration(number, piece->freed_ns));
	printf("]\n");
}

int jit_show_address(const struct jit_view *view)
{
	const uint64_t address = view->arguments->address;
	size_t n = find(&view->code, address, NULL, 0), i;
	struct jit_piece *found;

	if (n == 0) {
		cli_message("%s: no code that was recorded lies at 0x%" PRIx64,
			    view->recording->path, address);
		return CLI_NOT_FOUND;
	}
	found = calloc(n, sizeof(*found));
	if (found == NULL)
		return cli_no_memory();
	n = find(&view->code, address, found, n);
	qsort(found, n, sizeof(*found), by_life);
	if (view->arguments->has_limit && view->arguments->limit != 0 && view->arguments->limit < n)
		n = (size_t)view->arguments->limit;
	if (view->arguments->is_json)
		put_json(view, found, n);
	else
		for (i = 0; i < n; i++)
			put_text(address, &found[i]);
	free(found);
	return CLI_OK;
}
