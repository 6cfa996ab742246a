/* SPDX-License-Identifier: MIT */
/*
 * heapshot jit --perf-map: a file as perf looks for in /tmp/perf-PID.map, with
 * lines "START SIZE NAME" in hexadecimal.  It knows no time, so where code took
 * the place of other code the last one stands.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/jit.h"
#include "contrib/cli/text.h"

static int by_address(const void *left, const void *right)
{
	const struct jit_piece *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* True when A is rather to be believed than B, which overlaps it. */
static bool is_better(const struct jit_piece *a, const struct jit_piece *b)
{
	return a->is_freed != b->is_freed ? !a->is_freed : a->time_ns >= b->time_ns;
}

/* Leaves no two that overlap; returns how many are left. */
static size_t thin_out(struct jit_piece *pieces, size_t n)
{
	size_t out = 0, i;

	for (i = 0; i < n; i++) {
		bool is_kept = true;

		if (pieces[i].bytes == 0)
			continue;
		while (is_kept && out > 0 &&
		       pieces[i].address - pieces[out - 1].address < pieces[out - 1].bytes) {
			is_kept = is_better(&pieces[i], &pieces[out - 1]);
			if (is_kept)
				out--;
		}
		if (is_kept)
			pieces[out++] = pieces[i];
	}
	return out;
}

static void write_map(FILE *out, const struct jit_piece *pieces, size_t n)
{
	char text[4096];
	size_t i;

	for (i = 0; i < n; i++) {
		jit_piece_text(&pieces[i], text, sizeof(text));
		fprintf(out, "%" PRIx64 " %" PRIx64 " ", pieces[i].address, pieces[i].bytes);
		text_put_masked(out, text);
		putc('\n', out);
	}
}

int jit_write_map(const struct jit_view *view)
{
	const char *path = view->arguments->output;
	struct jit_piece *pieces = calloc(jit_n_pieces(&view->code) + 1, sizeof(*pieces));
	FILE *out = stdout;
	size_t n = 0, i;
	bool is_good;

	if (pieces == NULL)
		return cli_no_memory();
	for (i = 0; i < jit_n_pieces(&view->code); i++)
		pieces[n++] = jit_piece_at(&view->code, i);
	qsort(pieces, n, sizeof(*pieces), by_address);
	n = thin_out(pieces, n);
	if (path != NULL && strcmp(path, "-") != 0)
		out = fopen(path, "w");
	if (out != NULL)
		write_map(out, pieces, n);
	free(pieces);
	if (out == stdout)
		return CLI_OK;
	is_good = out != NULL && !ferror(out);
	if (out != NULL && fclose(out) != 0)
		is_good = false;
	if (!is_good)
		cli_message("cannot write %s: %s", path, strerror(errno));
	return is_good ? CLI_OK : CLI_IO;
}
