/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes everything that is read out of frames: puts the input's frames into a
 * recording in memory and runs each command that reads one over it.  What they
 * write is JSON where it should be, and safe on a terminal.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>

#include "contrib/cli/cli.h"
#include "contrib/export/export.h"
#include "emit/frame.h"
#include "schema/varint.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/output_check.h"
#include "tests/fuzz/records.h"

#define STREAM        7u
#define START_BYTES   32u
#define TWO_FILES     "FILE[@N] FILE[@N]"
#define FILE_AND_TYPE "FILE[@N] TYPE|ADDRESS"
#define AN_OBJECT     "FILE[@N] ADDRESS"
#define FILES         "FILE[@N]..."

/* Statuses that a command may end with: no usage, and the memory is enough. */
static bool is_expected(int status)
{
	return status == CLI_OK || status == CLI_CHECK_FAILED || status == CLI_DAMAGED ||
	       status == CLI_INCOMPLETE || status == CLI_NOT_FOUND || status == CLI_NOT_RECORDING;
}

static size_t put_start(uint8_t *raw, uint64_t seq)
{
	uint8_t start[START_BYTES - 6], *out = start;
	size_t n;

	*out++ = 1 << 3; /* stream */
	out = hs_varint_put(out, STREAM);
	*out++ = 2 << 3; /* seq */
	out = hs_varint_put(out, seq);
	*out++ = 3 << 3; /* time_ns */
	out = hs_varint_put(out, 1000 * seq);
	n = (size_t)(out - start);
	raw[0] = 1 << 3 | 2; /* Stream.record */
	raw[1] = (uint8_t)(2 + n);
	raw[2] = 1 << 3 | 2; /* Record.frame_start */
	raw[3] = (uint8_t)n;
	memcpy(raw + 4, start, n);
	return 4 + n;
}

static void write_frame(int fd, struct fuzz_input *input, uint64_t seq)
{
	static uint8_t raw[START_BYTES + UINT16_MAX], packed[2 * sizeof raw];
	struct hs_tag tag = {.version = 1, .stream = STREAM, .seq = seq, .time_ns = 1000 * seq};
	size_t size, bytes;

	tag.kind = (uint8_t)fuzz_number(input, 1);
	tag.snapshot = (uint32_t)fuzz_number(input, 1);
	size = (size_t)fuzz_number(input, 2);
	bytes = put_start(raw, seq);
	bytes += fuzz_bytes(input, raw + bytes, size < input->size ? size : input->size);
	size = hs_frame_compress(packed, sizeof packed, raw, bytes, &tag);
	FUZZ_CHECK(size > 0 && write(fd, packed, size) == (ssize_t)size);
}

/* Runs a command with its words; what it writes must be safe, and JSON where that is asked for. */
static int run_words(const struct cli_command *command, int n, char **words, bool is_json)
{
	FILE *usual_out = stdout, *usual_error = stderr;
	char *out = NULL, *messages = NULL;
	size_t out_bytes = 0, message_bytes = 0;
	int status;

	stdout = open_memstream(&out, &out_bytes);
	stderr = open_memstream(&messages, &message_bytes);
	FUZZ_CHECK(stdout && stderr);
	status = command->run(command, n, words);
	FUZZ_CHECK(fclose(stdout) == 0 && fclose(stderr) == 0);
	if (is_json)
		FUZZ_CHECK(output_is_json(out, out_bytes));
	FUZZ_CHECK(output_is_safe(out, out_bytes));
	FUZZ_CHECK(output_is_safe(messages, message_bytes));
	free(out);
	free(messages);
	stdout = usual_out;
	stderr = usual_error;
	return status;
}

static void run(const struct cli_command *command, const char *path, unsigned flags)
{
	const bool is_report = strcmp(command->operands, FILES) == 0; /* its data only */
	const bool is_json = is_report || ((flags & RECORDS_JSON) && (command->options & CLI_JSON));
	char first[64], *words[8] = {NULL};
	int n = 0;

	snprintf(first, sizeof first, "%s@1", path);
	words[n++] = (char *)(uintptr_t)command->name;
	if (is_json)
		words[n++] = (char *)(uintptr_t) "--json";
	if ((flags & RECORDS_OBJECTS) && (command->options & CLI_OBJECTS))
		words[n++] = (char *)(uintptr_t) "--objects";
	if ((flags & RECORDS_ADDRESS) && (command->options & CLI_ADDRESS))
		words[n++] = (char *)(uintptr_t) "--address=0x40000050";
	if (strcmp(command->operands, TWO_FILES) == 0)
		words[n++] = first;
	words[n++] = (char *)(uintptr_t)path;
	if (strcmp(command->operands, FILE_AND_TYPE) == 0)
		words[n++] = (char *)(uintptr_t) "*";
	if (strcmp(command->operands, AN_OBJECT) == 0)
		words[n++] = (char *)(uintptr_t) "7f0000010000"; /* as in the corpus */
	FUZZ_CHECK(is_expected(
		run_words(command, n, words, is_json || strcmp(command->name, "dump") == 0)));
}

/* All formats that go to standard output, which leads nowhere meanwhile. */
static void run_exports(const struct cli_command *command, const char *path)
{
	const int usual = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const struct export_format *format;

	FUZZ_CHECK(usual >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0);
	for (format = export_formats; format->name != NULL; format++) {
		char *words[] = {
			(char *)(uintptr_t) "export",
			(char *)(uintptr_t) "--format",
			(char *)(uintptr_t)format->name,
			(char *)(uintptr_t) "--output=-",
			(char *)(uintptr_t)path,
			(char *)(uintptr_t) "--table=objects",
			NULL,
		};
		int status;

		if (format->wants_file)
			continue;
		status = run_words(command, format->is_tables ? 6 : 5, words, false);
		FUZZ_CHECK(is_expected(status) || status == CLI_IO); /* refused */
	}
	FUZZ_CHECK(dup2(usual, STDOUT_FILENO) >= 0);
	close(usual);
	close(nowhere);
}

/* Whether COMMAND reads recordings only: those that always write files are left out. */
static bool is_for_files(const struct cli_command *command)
{
	if (command->run == cli_tui) /* it wants a terminal */
		return false;
	if (strcmp(command->operands, FILES) == 0)
		return true;
	return (command->options & CLI_NEW_FILE) == 0 &&
	       (strcmp(command->operands, "FILE") == 0 ||
		strcmp(command->operands, "FILE[@N]") == 0 ||
		strcmp(command->operands, FILE_AND_TYPE) == 0 ||
		strcmp(command->operands, AN_OBJECT) == 0 ||
		strcmp(command->operands, TWO_FILES) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	const unsigned flags = (unsigned)fuzz_number(&input, 1);
	const struct cli_command *command;
	int fd = memfd_create("records", MFD_CLOEXEC);
	char path[32];

	FUZZ_CHECK(fd >= 0);
	for (uint64_t seq = 0; input.size && seq < RECORDS_MAX; seq++)
		write_frame(fd, &input, seq);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	for (command = cli_commands; command->name; command++)
		if (is_for_files(command))
			run(command, path, flags);
		else if (command->run == cli_export)
			run_exports(command, path);
	close(fd);
	return 0;
}
