/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the option language: whatever is given, a mistake is said in one line;
 * what was taken over can be written as an option text that means the same.
 */
#include "profiler/options.h"
#include "profiler/output.h"
#include "tests/fuzz/fuzz.h"

#define TEXT_BYTES (4 * HS_OPTIONS_VALUE_MAX)

static void check_text(const char *message, size_t size)
{
	const size_t length = strnlen(message, size);

	FUZZ_CHECK(length > 0 && length < size);
}

static void expand(const char *pattern)
{
	char path[256], message[128];

	if (hs_output_expand(pattern, path, sizeof path, message, sizeof message))
		FUZZ_CHECK(strnlen(path, sizeof path) < sizeof path);
	else
		check_text(message, sizeof message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hs_options options, again;
	static char written[TEXT_BYTES], rewritten[TEXT_BYTES];
	char *text = malloc(size + 1), message[200] = "";

	FUZZ_CHECK(text != NULL);
	memcpy(text, data, size);
	text[size] = 0;
	hs_options_init(&options);
	if (hs_options_parse(&options, text, message, sizeof message))
		FUZZ_CHECK(!*message);
	else {
		check_text(message, sizeof message);
		FUZZ_CHECK(!strpbrk(message, "\r\n"));
	}

	FUZZ_CHECK(hs_options_format(&options, written, sizeof written) < sizeof written);
	hs_options_init(&again);
	FUZZ_CHECK(hs_options_parse(&again, written, message, sizeof message));
	FUZZ_CHECK(memcmp(&options, &again, sizeof options) == 0 ||
		   (hs_options_format(&again, rewritten, sizeof rewritten) < sizeof rewritten &&
		    strcmp(written, rewritten) == 0));
	expand(options.output);
	free(text);
	return 0;
}
