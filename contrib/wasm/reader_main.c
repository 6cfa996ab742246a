/* SPDX-License-Identifier: MIT */
/*
 * The reader in WebAssembly: opens files and tells of them what `heapshot report --json` tells.
 * Exported functions return the status of a command; what was wrong was written to stderr.
 * Nothing is freed where one fails: the page drops the whole instance.
 */
#include <stdlib.h>
#include <string.h>

#include <emscripten.h>

#include "contrib/wasm/reader_host.h"

/* All that 32 bits can have; the browser gives less where it has less. */
#define MEMORY_BYTES ((size_t)4095 << 20)

/* Without --memory, so that no message tells to give more by it. */
static const struct cli_command command = {.name = "report"};
static struct cli_arguments arguments = {.is_json = true, .memory_bytes = MEMORY_BYTES};
struct report reader_report = {.arguments = &arguments, .keeps_graph = true};

static char *text;
static size_t text_bytes;

FILE *reader_answer(void)
{
	FILE *out;

	free(text);
	text = NULL;
	text_bytes = 0;
	out = open_memstream(&text, &text_bytes);
	if (out == NULL)
		cli_no_memory();
	return out;
}

int reader_answered(FILE *out, int status)
{
	if (fclose(out) != 0 && status == CLI_OK)
		status = cli_no_memory();
	return status;
}

struct report_snapshot *reader_snapshot(uint32_t snapshot)
{
	if (snapshot < reader_report.n_snapshots)
		return &reader_report.snapshots[snapshot];
	cli_message("there is no snapshot %u", snapshot);
	return NULL;
}

EMSCRIPTEN_KEEPALIVE int reader_open(const char *names, uint32_t n, bool is_all)
{
	const char **list = calloc(n + 1, sizeof(*list));
	int status;
	uint32_t i;

	if (list == NULL)
		return cli_no_memory();
	if (n == 0 || n > REPORT_FILES_MAX) {
		cli_message("%u files: there can be %d", n, REPORT_FILES_MAX);
		return CLI_USAGE;
	}
	for (i = 0; i < n; i++) {
		list[i] = names;
		names += strlen(names) + 1;
	}
	reader_names = list;
	reader_n_names = n;
	arguments.operands = (char **)list;
	arguments.n_operands = (int)n;
	arguments.is_all = is_all;
	status = report_open(&reader_report, &command);
	return status == CLI_OK ? report_read(&reader_report) : status;
}

EMSCRIPTEN_KEEPALIVE int reader_json(double most)
{
	const size_t limit = most < (double)MEMORY_BYTES ? (size_t)most : MEMORY_BYTES;

	free(text);
	text = NULL;
	text_bytes = 0;
	return report_make_json(&reader_report, false, limit, &text, &text_bytes);
}

EMSCRIPTEN_KEEPALIVE const char *reader_text(void)
{
	return text;
}

EMSCRIPTEN_KEEPALIVE size_t reader_text_bytes(void)
{
	return text_bytes;
}
