/* SPDX-License-Identifier: MIT */
/*
 * heapshot jit FILE: the tables of methods, assemblies and chunks, for people
 * and as JSON.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/cli/jit.h"
#include "contrib/cli/text.h"
#include "schema/heapshot.pb-c.h"

#define DEFAULT_LIMIT 30
#define TEXT_BYTES    2048

struct sums {
	uint64_t n_jit, n_precompiled, n_interpreted;
	uint64_t jit_bytes, jit_il_bytes, compile_ns, buffer_bytes;
	uint64_t chunk_bytes, used_bytes;
	size_t n_live_chunks;
};

static struct sums sum_up(const struct heapshot_code *code)
{
	struct sums sums = {0};
	size_t i;

	for (i = 0; i < code->n_methods; i++) {
		const struct heapshot_method *method = &code->methods[i];

		sums.compile_ns += method->compile_ns;
		if (method->tier == HEAPSHOT__JIT_TIER__JIT_TIER_PRECOMPILED) {
			sums.n_precompiled++;
		} else if (method->tier == HEAPSHOT__JIT_TIER__JIT_TIER_INTERPRETER) {
			sums.n_interpreted++;
		} else {
			sums.n_jit++;
			sums.jit_bytes += method->code_bytes;
			sums.jit_il_bytes += method->il_bytes;
		}
	}
	for (i = 0; i < code->n_buffers; i++)
		sums.buffer_bytes += code->buffers[i].bytes;
	for (i = 0; i < code->n_chunks; i++) {
		sums.n_live_chunks += !code->chunks[i].is_freed;
		sums.chunk_bytes += code->chunks[i].bytes;
		sums.used_bytes += code->chunks[i].used_bytes;
	}
	return sums;
}

static size_t limit_of(const struct jit_view *view, size_t n)
{
	const struct cli_arguments *arguments = view->arguments;
	const size_t limit = cli_limit(arguments, DEFAULT_LIMIT, SIZE_MAX);

	return limit < n ? limit : n;
}

static void put_rest(size_t shown, size_t all, const char *what)
{
	char number[TEXT_NUMBER_BYTES];

	if (shown < all)
		printf("... and %s more %s (--limit 0 shows all)\n",
		       text_number(number, all - shown), what);
}

/* A row for each of N; CELLS fills its cells from item I. */
#define COLUMNS 6
typedef void row_cells(const void *items, size_t i, char texts[COLUMNS][TEXT_BYTES],
		       const char *cells[COLUMNS]);

static void put_table(const char *align, const char *const *titles, const void *items, size_t n,
		      row_cells *fill)
{
	static char texts[COLUMNS][TEXT_BYTES];
	struct text_table table = {.align = align};
	const char *cells[COLUMNS];
	size_t i;

	text_table_measure(&table, titles);
	for (i = 0; i < n; i++) {
		fill(items, i, texts, cells);
		text_table_measure(&table, cells);
	}
	text_table_print(&table, titles, true);
	for (i = 0; i < n; i++) {
		fill(items, i, texts, cells);
		text_table_print(&table, cells, false);
	}
}

static void method_cells(const void *items, size_t i, char texts[COLUMNS][TEXT_BYTES],
			 const char *cells[COLUMNS])
{
	const struct heapshot_method *method = ((const struct heapshot_method *const *)items)[i];
	const struct jit_piece piece = {.method = method};

	cells[0] = text_number(texts[0], method->code_bytes);
	cells[1] = text_number(texts[1], method->il_bytes);
	cells[2] = text_duration(texts[2], method->compile_ns);
	cells[3] = heapshot_jit_tier_name(method->tier);
	cells[4] = *method->assembly ? method->assembly : "-";
	jit_piece_text(&piece, texts[5], TEXT_BYTES);
	cells[5] = texts[5];
}

static void assembly_cells(const void *items, size_t i, char texts[COLUMNS][TEXT_BYTES],
			   const char *cells[COLUMNS])
{
	const struct jit_assembly *assembly = (const struct jit_assembly *)items + i;

	cells[0] = text_number(texts[0], assembly->code_bytes);
	cells[1] = text_number(texts[1], assembly->il_bytes);
	cells[2] = text_duration(texts[2], assembly->compile_ns);
	cells[3] = text_number(texts[3], assembly->n_methods);
	cells[4] = *assembly->name ? assembly->name : "-";
}

static void chunk_cells(const void *items, size_t i, char texts[COLUMNS][TEXT_BYTES],
			const char *cells[COLUMNS])
{
	const struct heapshot_chunk *chunk = (const struct heapshot_chunk *)items + i;

	snprintf(texts[0], TEXT_BYTES, "0x%" PRIx64, chunk->address);
	cells[0] = texts[0];
	cells[1] = chunk->bytes != 0 ? text_number(texts[1], chunk->bytes) : "?";
	cells[2] = text_number(texts[2], chunk->used_bytes);
	snprintf(texts[3], TEXT_BYTES, "%.1f",
		 chunk->bytes != 0 ? 100.0 * (double)chunk->used_bytes / (double)chunk->bytes
				   : 0.0);
	cells[3] = chunk->bytes != 0 ? texts[3] : "?";
	snprintf(texts[4], TEXT_BYTES, "%" PRIu64 "+%" PRIu64, chunk->n_methods, chunk->n_buffers);
	cells[4] = texts[4];
	cells[5] = chunk->is_freed ? "freed" : "live";
}

static void put_summary(const struct heapshot_code *code, const struct sums *sums)
{
	char numbers[6][TEXT_NUMBER_BYTES];

	printf("%s methods compiled, %s bytes of code from %s of IL; %s precompiled, %s "
	       "interpreted; %s in the compiler\n",
	       text_number(numbers[0], sums->n_jit), text_number(numbers[1], sums->jit_bytes),
	       text_number(numbers[2], sums->jit_il_bytes),
	       text_number(numbers[3], sums->n_precompiled),
	       text_number(numbers[4], sums->n_interpreted),
	       text_duration(numbers[5], sums->compile_ns));
	printf("%s trampolines and other buffers, %s bytes; %s chunks, %s of them freed, %s bytes, "
	       "%.1f %% used\n",
	       text_number(numbers[0], code->n_buffers),
	       text_number(numbers[1], sums->buffer_bytes), text_number(numbers[2], code->n_chunks),
	       text_number(numbers[3], code->n_chunks - sums->n_live_chunks),
	       text_number(numbers[4], sums->chunk_bytes),
	       sums->chunk_bytes != 0 ? 100.0 * (double)sums->used_bytes / (double)sums->chunk_bytes
				      : 0.0);
	if (code->n_lost != 0)
		printf("lost: %s records of code, for which the recorder had no room\n",
		       text_number(numbers[0], code->n_lost));
}

int jit_show_tables(const struct jit_view *view)
{
	static const char *const methods[] = {"CODE", "IL", "TIME", "TIER", "ASSEMBLY", "METHOD"};
	static const char *const totals[] = {"CODE", "IL", "TIME", "METHODS", "ASSEMBLY"};
	static const char *const chunks[] = {"CHUNK", "BYTES", "USED", "%", "METHODS+OTHER", ""};
	const struct sums sums = sum_up(&view->code);
	size_t n_assemblies, n;
	struct jit_assembly *assemblies = jit_assemblies(view, &n_assemblies);

	if (assemblies == NULL)
		return cli_no_memory();
	text_put_masked(stdout, view->recording->path);
	putchar('\n');
	put_summary(&view->code, &sums);
	putchar('\n');
	n = limit_of(view, view->n_methods);
	put_table("rrrlll", methods, view->methods, n, method_cells);
	put_rest(n, view->n_methods, "methods");
	putchar('\n');
	n = limit_of(view, n_assemblies);
	put_table("rrrrl", totals, assemblies, n, assembly_cells);
	put_rest(n, n_assemblies, "assemblies");
	putchar('\n');
	n = limit_of(view, view->code.n_chunks);
	put_table("rrrrrl", chunks, view->code.chunks, n, chunk_cells);
	put_rest(n, view->code.n_chunks, "chunks");
	free(assemblies);
	return CLI_OK;
}

static void put_freed(struct json *json, bool is_freed, uint64_t freed_ns)
{
	json_put_bool(json, "live", !is_freed);
	json_put_known(json, "freed_ns", is_freed, freed_ns);
}

static void put_chunk_of(struct json *json, const struct heapshot_code *code, uint32_t chunk)
{
	const bool is_known = chunk != HEAPSHOT_NO_CHUNK;

	json_put_known(json, "chunk", is_known, is_known ? code->chunks[chunk].address : 0);
}

void jit_put_method(struct json *json, const struct heapshot_code *code,
		    const struct heapshot_method *method)
{
	json_put_unsigned(json, "id", method->id);
	json_put_text(json, "name", method->name);
	json_put_text(json, "signature", method->signature);
	json_put_text(json, "wrapper", *method->wrapper ? method->wrapper : NULL);
	json_put_text(json, "shared_name", *method->shared_name ? method->shared_name : NULL);
	json_put_text(json, "assembly", *method->assembly ? method->assembly : NULL);
	json_put_text(json, "mvid", *method->mvid ? method->mvid : NULL);
	json_put_known(json, "token", method->token != 0, method->token);
	json_put_bool(json, "dynamic", method->is_dynamic);
	json_put_text(json, "tier", heapshot_jit_tier_name(method->tier));
	json_put_unsigned(json, "il_bytes", method->il_bytes);
	json_put_known(json, "il_hash", method->il_bytes != 0, method->il_hash);
	json_put_unsigned(json, "code_address", method->code_address);
	json_put_unsigned(json, "code_bytes", method->code_bytes);
	put_chunk_of(json, code, method->chunk);
	json_put_unsigned(json, "compile_ns", method->compile_ns);
	json_put_unsigned(json, "nested_ns", method->nested_ns);
	json_put_unsigned(json, "thread", method->thread);
	json_put_unsigned(json, "domain", method->domain);
	json_put_unsigned(json, "time_ns", method->time_ns);
	put_freed(json, method->is_freed, method->freed_ns);
}

void jit_put_buffer(struct json *json, const struct heapshot_code *code,
		    const struct heapshot_code_buffer *buffer)
{
	json_put_text(json, "name", *buffer->name ? buffer->name : NULL);
	json_put_unsigned(json, "code_address", buffer->address);
	json_put_unsigned(json, "code_bytes", buffer->bytes);
	put_chunk_of(json, code, buffer->chunk);
	json_put_unsigned(json, "time_ns", buffer->time_ns);
	put_freed(json, buffer->is_freed, buffer->freed_ns);
}

static void put_json_assembly(struct json *json, const struct jit_assembly *assembly)
{
	json_begin(json, '{');
	json_put_text(json, "assembly", *assembly->name ? assembly->name : NULL);
	json_put_unsigned(json, "methods", assembly->n_methods);
	json_put_unsigned(json, "code_bytes", assembly->code_bytes);
	json_put_unsigned(json, "il_bytes", assembly->il_bytes);
	json_put_unsigned(json, "compile_ns", assembly->compile_ns);
	json_end(json, '}');
}

static void put_json_chunk(struct json *json, const struct heapshot_chunk *chunk)
{
	json_begin(json, '{');
	json_put_unsigned(json, "address", chunk->address);
	json_put_known(json, "bytes", chunk->bytes != 0, chunk->bytes);
	json_put_unsigned(json, "used_bytes", chunk->used_bytes);
	json_put_unsigned(json, "methods", chunk->n_methods);
	json_put_unsigned(json, "buffers", chunk->n_buffers);
	json_put_unsigned(json, "created_ns", chunk->created_ns);
	put_freed(json, chunk->is_freed, chunk->freed_ns);
	json_end(json, '}');
}

static void put_json_summary(struct json *json, const struct heapshot_code *code,
			     const struct sums *sums)
{
	json_key(json, "summary");
	json_begin(json, '{');
	json_put_unsigned(json, "jit", sums->n_jit);
	json_put_unsigned(json, "precompiled", sums->n_precompiled);
	json_put_unsigned(json, "interpreted", sums->n_interpreted);
	json_put_unsigned(json, "jit_code_bytes", sums->jit_bytes);
	json_put_unsigned(json, "jit_il_bytes", sums->jit_il_bytes);
	json_put_unsigned(json, "compile_ns", sums->compile_ns);
	json_put_unsigned(json, "buffers", code->n_buffers);
	json_put_unsigned(json, "buffer_bytes", sums->buffer_bytes);
	json_put_unsigned(json, "chunks", code->n_chunks);
	json_put_unsigned(json, "chunk_bytes", sums->chunk_bytes);
	json_put_unsigned(json, "used_bytes", sums->used_bytes);
	json_put_bool(json, "code_bodies", code->has_code_bodies);
	json_put_unsigned(json, "lost", code->n_lost);
	json_end(json, '}');
}

int jit_show_json(const struct jit_view *view)
{
	const struct sums sums = sum_up(&view->code);
	struct json json = {0};
	size_t n_assemblies, n, i;
	struct jit_assembly *assemblies = jit_assemblies(view, &n_assemblies);

	if (assemblies == NULL)
		return cli_no_memory();
	json_begin(&json, '{');
	json_key(&json, "methods");
	json_begin_rows(&json);
	n = limit_of(view, view->n_methods);
	for (i = 0; i < n; i++) {
		json_begin(&json, '{');
		jit_put_method(&json, &view->code, view->methods[i]);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_key(&json, "assemblies");
	json_begin_rows(&json);
	n = limit_of(view, n_assemblies);
	for (i = 0; i < n; i++)
		put_json_assembly(&json, &assemblies[i]);
	json_end(&json, ']');
	json_key(&json, "chunks");
	json_begin_rows(&json);
	n = limit_of(view, view->code.n_chunks);
	for (i = 0; i < n; i++)
		put_json_chunk(&json, &view->code.chunks[i]);
	json_end(&json, ']');
	put_json_summary(&json, &view->code, &sums);
	json_end(&json, '}');
	json_line(&json);
	free(assemblies);
	return CLI_OK;
}
