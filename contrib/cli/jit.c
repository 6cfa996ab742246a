/* SPDX-License-Identifier: MIT */
/*
 * heapshot jit: methods and their code.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/jit.h"
#include "contrib/cli/text.h"
#include "schema/heapshot.pb-c.h"

static int by_id(const void *left, const void *right)
{
	const struct heapshot_method *a = *(const struct heapshot_method *const *)left,
				     *b = *(const struct heapshot_method *const *)right;

	return (a->id > b->id) - (a->id < b->id);
}

static int by_size(const void *left, const void *right)
{
	const struct heapshot_method *a = *(const struct heapshot_method *const *)left,
				     *b = *(const struct heapshot_method *const *)right;

	return a->code_bytes != b->code_bytes ? (a->code_bytes < b->code_bytes ? 1 : -1)
					      : by_id(left, right);
}

static int by_time(const void *left, const void *right)
{
	const struct heapshot_method *a = *(const struct heapshot_method *const *)left,
				     *b = *(const struct heapshot_method *const *)right;

	return a->compile_ns != b->compile_ns ? (a->compile_ns < b->compile_ns ? 1 : -1)
					      : by_id(left, right);
}

static bool is_wanted(const struct cli_arguments *arguments, const struct heapshot_method *method)
{
	return (arguments->assembly == NULL ||
		strcmp(arguments->assembly, method->assembly) == 0) &&
	       text_matches(method->name, arguments->filter);
}

/* The methods that are asked for; false without memory. */
static bool choose(struct jit_view *view)
{
	const struct cli_arguments *arguments = view->arguments;
	size_t i;

	view->methods = calloc(view->code.n_methods + 1, sizeof(*view->methods));
	if (view->methods == NULL)
		return false;
	for (i = 0; i < view->code.n_methods; i++)
		if (is_wanted(arguments, &view->code.methods[i]))
			view->methods[view->n_methods++] = &view->code.methods[i];
	qsort(view->methods, view->n_methods, sizeof(*view->methods),
	      arguments->sort != NULL && strcmp(arguments->sort, "time") == 0 ? by_time : by_size);
	return true;
}

struct jit_piece jit_piece_at(const struct heapshot_code *code, size_t i)
{
	const struct heapshot_method *method = i < code->n_methods ? &code->methods[i] : NULL;
	const struct heapshot_code_buffer *buffer =
		method == NULL ? &code->buffers[i - code->n_methods] : NULL;

	if (method == NULL)
		return (struct jit_piece){
			.buffer = buffer,
			.address = buffer->address,
			.bytes = buffer->bytes,
			.time_ns = buffer->time_ns,
			.freed_ns = buffer->freed_ns,
			.is_freed = buffer->is_freed,
		};
	return (struct jit_piece){
		.method = method,
		.address = method->code_address,
		.bytes = method->tier == HEAPSHOT__JIT_TIER__JIT_TIER_INTERPRETER
				 ? 0
				 : method->code_bytes,
		.time_ns = method->time_ns,
		.freed_ns = method->freed_ns,
		.is_freed = method->is_freed,
	};
}

void jit_piece_text(const struct jit_piece *piece, char *text, size_t size)
{
	const struct heapshot_method *method = piece->method;
	const char *parameters;

	if (method == NULL) {
		snprintf(text, size, "(%s)%s%s",
			 heapshot_code_buffer_kind_name(piece->buffer->kind),
			 *piece->buffer->name ? " " : "", piece->buffer->name);
		return;
	}
	/* What follows the type that is returned. */
	parameters = strstr(method->signature, " (");
	snprintf(text, size, "%s%s%s%s%s", *method->wrapper ? "(wrapper " : "", method->wrapper,
		 *method->wrapper ? ") " : "", method->name, parameters != NULL ? parameters : "");
}

static int compare_assemblies(const void *left, const void *right)
{
	const struct jit_assembly *a = left, *b = right;

	return a->code_bytes != b->code_bytes ? (a->code_bytes < b->code_bytes ? 1 : -1)
					      : strcmp(a->name, b->name);
}

static int by_assembly(const void *left, const void *right)
{
	const struct heapshot_method *a = *(const struct heapshot_method *const *)left,
				     *b = *(const struct heapshot_method *const *)right;
	int order = strcmp(a->assembly, b->assembly);

	if (order == 0)
		order = (a->code_address > b->code_address) - (a->code_address < b->code_address);
	return order != 0 ? order : by_id(left, right);
}

struct jit_assembly *jit_assemblies(const struct jit_view *view, size_t *n)
{
	const struct heapshot_method **sorted = calloc(view->n_methods + 1, sizeof(*sorted));
	struct jit_assembly *assemblies = calloc(view->n_methods + 1, sizeof(*assemblies));
	size_t i;

	*n = 0;
	if (sorted == NULL || assemblies == NULL) {
		free(sorted);
		free(assemblies);
		return NULL;
	}
	memcpy(sorted, view->methods, view->n_methods * sizeof(*sorted));
	qsort(sorted, view->n_methods, sizeof(*sorted), by_assembly);
	for (i = 0; i < view->n_methods; i++) {
		const struct heapshot_method *method = sorted[i],
					     *before = i > 0 ? sorted[i - 1] : NULL;
		const bool is_new =
			before == NULL || strcmp(before->assembly, method->assembly) != 0;
		struct jit_assembly *assembly = &assemblies[is_new ? (*n)++ : *n - 1];

		assembly->name = method->assembly;
		assembly->compile_ns += method->compile_ns;
		if (!is_new && method->chunk == HEAPSHOT_NO_CHUNK &&
		    before->code_address == method->code_address &&
		    strcmp(before->name, method->name) == 0)
			continue;
		assembly->n_methods++;
		assembly->code_bytes += method->code_bytes;
		assembly->il_bytes += method->il_bytes;
	}
	free(sorted);
	qsort(assemblies, *n, sizeof(*assemblies), compare_assemblies);
	return assemblies;
}

static int show(struct jit_view *view)
{
	const struct cli_arguments *arguments = view->arguments;

	if (view->code.n_methods == 0) {
		cli_message("%s holds no methods; record with events=methods",
			    view->recording->path);
		return CLI_NOT_FOUND;
	}
	if (arguments->is_perf_map)
		return jit_write_map(view);
	if (arguments->has_address)
		return jit_show_address(view);
	if (!choose(view))
		return cli_no_memory();
	if (view->n_methods == 0) {
		cli_message("%s: no method matches", view->recording->path);
		return CLI_NOT_FOUND;
	}
	return arguments->is_json ? jit_show_json(view) : jit_show_tables(view);
}

int cli_jit(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct jit_view view = {.recording = &recording, .arguments = &arguments};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);
	enum heapshot_read_result result;

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	if (arguments.is_perf_map && arguments.has_address)
		return cli_usage(command, "--perf-map and --address exclude each other");
	if (arguments.is_perf_map && arguments.is_json)
		return cli_usage(command, "a map for perf is no JSON");
	if (arguments.output != NULL && !arguments.is_perf_map)
		return cli_usage(command, "--output is for --perf-map");
	status = recording_open(&recording, command, &arguments, RECORDING_ALL);
	if (status != CLI_OK)
		return status;
	result = heapshot_reader_load_code(recording.reader, &view.code);
	status = recording_check(&recording, result);
	progress_stop();
	if (status == CLI_OK)
		status = show(&view);
	/* What was not found may have been in what is lost. */
	if (status == CLI_NOT_FOUND && result == HEAPSHOT_READ_DAMAGED)
		status = CLI_DAMAGED;
	free(view.methods);
	return recording_close(&recording, status);
}
