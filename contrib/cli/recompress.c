/* SPDX-License-Identifier: MIT */
/*
 * heapshot recompress: the same frames with the same content, packed by the slow
 * and thorough compressor of LZ4.
 */
#include <lz4hc.h>

#include "contrib/cli/rewrite.h"
#include "contrib/cli/text.h"

static int recompress(struct rewrite *rewrite)
{
	for (;;) {
		struct heapshot_frame frame;
		bool has_frame, is_whole;
		int status = rewrite_next(rewrite, &frame, &has_frame);

		if (status != CLI_OK || !has_frame)
			return status;
		status = rewrite_load(rewrite, &frame, &is_whole);
		if (status == CLI_OK && is_whole)
			status = rewrite_copy(rewrite, &frame, LZ4HC_CLEVEL_MAX);
		if (status != CLI_OK)
			return status;
	}
}

static void report(const struct rewrite *rewrite)
{
	const uint64_t before = heapshot_reader_size_bytes(rewrite->recording.reader);
	char numbers[2][TEXT_NUMBER_BYTES];
	struct json json = {0};

	if (rewrite->arguments->is_json) {
		json_begin(&json, '{');
		rewrite_put_json(rewrite, &json);
		json_put_unsigned(&json, "bytes_before", before);
		json_end(&json, '}');
		json_line(&json);
		return;
	}
	text_put_masked(stdout, rewrite->file.path);
	printf(": %s bytes, %.1f %% of %s", text_number(numbers[0], rewrite->file.bytes),
	       100.0 * (double)rewrite->file.bytes / (double)(before != 0 ? before : 1),
	       text_number(numbers[1], before));
	rewrite_put_unknown(rewrite, "kept");
	putchar('\n');
}

int cli_recompress(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct rewrite rewrite;
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = rewrite_open(&rewrite, command, &arguments, RECORDING_ALL);
	if (status != CLI_OK)
		return status;
	status = rewrite_finish(&rewrite, recompress(&rewrite));
	if (status == CLI_OK && !rewrite.file.is_standard_output)
		report(&rewrite);
	return rewrite_close(&rewrite, status);
}
