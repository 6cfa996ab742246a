/* SPDX-License-Identifier: MIT */
/*
 * The table of options, its defaults, and the text of `help`.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "profiler/options.h"
#include "profiler/options_parse.h"

#define MEMBER(name) offsetof(struct hs_options, name)

const struct hs_option hs_option_table[] = {
	{"output", HS_OPTION_TEXT, MEMBER(output), 0, 0, "PATH, |COMMAND or #FD", NULL, "%p.hs",
	 "where the recording goes; %p is the process id, %t the time, %% a percent sign; an earlier "
	 "recording of that name becomes NAME.old"},
	{"snapshot", HS_OPTION_WHEN, MEMBER(when), 0, 0, "WHEN[+WHEN...]",
	 "shutdown term gc oom none", "shutdown+term",
	 "when to take a snapshot: shutdown (the program ends, but not by an unhandled exception), "
	 "term (SIGTERM or SIGINT), gc (each full collection), Ngc (every Nth collection), Nms or Ns "
	 "(time), oom (an OutOfMemoryException is thrown), none; on demand always works"},
	{"at", HS_OPTION_AT, MEMBER(at_bytes), 0, 0, "SIZE", NULL, NULL,
	 "one snapshot when the memory of the managed heap (with its free space and the nursery, "
	 "mostly 4 MB) passes SIZE, the next at twice that, and so on"},
	{"signal", HS_OPTION_SIGNAL, MEMBER(signal), 0, 0, "NAME", "USR1 USR2 HUP WINCH", NULL,
	 "take a snapshot on this signal"},
	{"control", HS_OPTION_TEXT, MEMBER(control), 0, 0, "auto, off or PATH", "auto off", "auto",
	 "unix socket for `heapshot take PID`"},
	{"events", HS_OPTION_EVENTS, MEMBER(events), 0, 0, "LIST",
	 "gc types jit methods moves handles counters threads none",
	 "gc+types+jit+counters+threads",
	 "what to record between snapshots; types that a snapshot needs are recorded anyway; methods: a "
	 "packet for each method that gets its code, and the chunks of code"},
	{"memory", HS_OPTION_SIZE, MEMBER(memory_bytes), 2u << 20, 1u << 30, "SIZE", NULL, "3m",
	 "memory reserved for buffers at the start"},
	{"max-snapshots", HS_OPTION_NUMBER, MEMBER(max_snapshots), 1, UINT32_MAX, "N", NULL, NULL,
	 "take no more than N snapshots"},
	{"max-size", HS_OPTION_SIZE, MEMBER(max_size_bytes), 1, UINT64_MAX, "SIZE", NULL, NULL,
	 "take no further snapshot once the recording has SIZE bytes"},
	{"strings", HS_OPTION_NUMBER, MEMBER(strings), 1, 4096, "N", NULL, NULL,
	 "record the first N characters of each string object (they may be private)"},
	{"fork", HS_OPTION_CHOICE, MEMBER(fork), 0, 0, "auto, never or always", "auto never always",
	 "auto",
	 "whether a forked child writes a snapshot while the program goes on; auto: where the output is "
	 "a file, the heap is large, and the program does not end anyway"},
	{"ring", HS_OPTION_SIZE, MEMBER(ring_bytes), 1u << 20, 1u << 30, "SIZE", NULL, NULL,
	 "flight recorder: events go to OUTPUT.ring, a file of SIZE bytes that keeps the newest of them "
	 "and all names, and survives any end of the process; snapshots go to the output"},
	{"methods", HS_OPTION_METHODS, MEMBER(methods_code), 0, 0, "code", "code", NULL,
	 "events=methods, with the IL and the native code of each method"},
	{"strict", HS_OPTION_FLAG, MEMBER(strict), 0, 0, NULL, NULL, NULL,
	 "end the process with status 2 when it cannot be recorded"},
	{"quiet", HS_OPTION_FLAG, MEMBER(quiet), 0, 0, NULL, NULL, NULL,
	 "say nothing when all is well"},
	{"overwrite", HS_OPTION_FLAG, MEMBER(overwrite), 0, 0, NULL, NULL, NULL,
	 "replace an output file that is not a recording"},
	{"help", HS_OPTION_FLAG, MEMBER(help), 0, 0, NULL, NULL, NULL,
	 "print this list and end the process with status 0"},
	{NULL, HS_OPTION_FLAG, 0, 0, 0, NULL, NULL, NULL, NULL},
};

void hs_options_init(struct hs_options *options)
{
	const struct hs_option *option;
	char message[256];

	memset(options, 0, sizeof *options);
	for (option = hs_option_table; option->name; option++)
		if (option->initial)
			hs_option_set(options, option, option->initial, message, sizeof message);
}

/* snprintf at the end of what was written so far; counts on past the end. */
#define APPEND(...)                                                                                \
	(length += (size_t)snprintf(length < size ? text + length : NULL,                          \
				    length < size ? size - length : 0, __VA_ARGS__))

size_t hs_options_help(char *text, size_t size)
{
	const struct hs_option *option;
	size_t length = 0;

	APPEND("usage: mono --profile=heapshot:OPTION[,OPTION...] program.exe\n\noptions:\n");
	for (option = hs_option_table; option->name; option++) {
		APPEND("  %s%s%s\n      %s", option->name, option->value ? "=" : "",
		       option->value ? option->value : "", option->help);
		if (option->initial)
			APPEND(" [%s]", option->initial);
		APPEND("\n");
	}
	APPEND("\nA comma or a backslash in a value is written \\, or \\\\.  Options in the\n"
	       "environment variable HEAPSHOT_OPTIONS come first, those above win over them.\n");
	return length;
}

static size_t append_escaped(char *text, size_t size, size_t length, const char *value)
{
	for (; *value; value++) {
		if (*value == ',' || *value == '\\')
			APPEND("\\");
		APPEND("%c", *value);
	}
	return length;
}

size_t hs_options_format(const struct hs_options *options, char *text, size_t size)
{
	const struct hs_option *option;
	struct hs_options defaults;
	char value[HS_OPTIONS_VALUE_MAX], initial[HS_OPTIONS_VALUE_MAX];
	size_t length = 0;

	if (size)
		*text = 0;
	hs_options_init(&defaults);
	for (option = hs_option_table; option->name; option++) {
		hs_option_get(options, option, value, sizeof value);
		hs_option_get(&defaults, option, initial, sizeof initial);
		if (strcmp(value, initial) == 0)
			continue;
		APPEND("%s%s", length ? "," : "", option->name);
		if (option->type == HS_OPTION_FLAG)
			continue;
		APPEND("=");
		length = append_escaped(text, size, length, value);
	}
	return length;
}
