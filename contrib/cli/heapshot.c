/* SPDX-License-Identifier: MIT */
/*
 * The heapshot command: the table of commands, messages, the end of the output.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/cli/cli.h"
#include "contrib/cli/text.h"
#include "profiler/options_parse.h"

#define RETAINED_OPTIONS                                                                           \
	(CLI_JSON | CLI_LIMIT | CLI_SNAPSHOT | CLI_TYPE | CLI_ASSEMBLY | CLI_PART | CLI_SHARE |    \
	 CLI_MEMORY)

const struct cli_command cli_commands[] = {
	{"overview", cli_leaks, CLI_JSON | CLI_LIMIT | CLI_SNAPSHOT | CLI_MEMORY, "FILE[@N]",
	 "show in half a screen what grew and what may leak; also: heapshot FILE"},
	{"leaks", cli_leaks, CLI_JSON | CLI_LIMIT | CLI_SNAPSHOT | CLI_MEMORY, "FILE[@N]",
	 "show what may leak, and what may be wasted"},
	{"list", cli_list, CLI_JSON | CLI_LIMIT, "FILE", "list the snapshots of a recording"},
	{"top", cli_top,
	 CLI_JSON | CLI_LIMIT | CLI_SNAPSHOT | CLI_BY | CLI_ASSEMBLY | CLI_FILTER | CLI_MEMORY |
		 CLI_RETAINED,
	 "FILE[@N]", "show the types that take the most memory"},
	{"roots", cli_roots, CLI_JSON | CLI_FILTER | CLI_LIMIT | CLI_SNAPSHOT | CLI_MEMORY,
	 "FILE[@N]", "show what holds objects from outside of the heap, by kind"},
	{"handles", cli_handles,
	 CLI_JSON | CLI_FILTER | CLI_LIMIT | CLI_SNAPSHOT | CLI_MEMORY | CLI_OBJECTS, "FILE[@N]",
	 "show what JavaScript and the runtime hold of each other"},
	{"show", cli_show, CLI_JSON | CLI_LIMIT | CLI_SNAPSHOT | CLI_MEMORY, "FILE[@N] ADDRESS",
	 "show an object, what it refers to, and what holds it"},
	{"find", cli_find,
	 CLI_JSON | CLI_LIMIT | CLI_SNAPSHOT | CLI_TYPE | CLI_ASSEMBLY | CLI_MIN_SIZE |
		 CLI_MAX_SIZE | CLI_REFERS_TO | CLI_TARGET_OF | CLI_ROOT_KIND | CLI_LIVE |
		 CLI_DEAD | CLI_STRING | CLI_MEMORY,
	 "FILE[@N]", "find objects by type, size, references, roots, text"},
	{"diff", cli_diff,
	 CLI_JSON | CLI_LIMIT | CLI_DIFF_SORT | CLI_ASSEMBLY | CLI_FILTER | CLI_MEMORY |
		 CLI_FAIL_IF | CLI_RETAINED | CLI_HOLDERS,
	 "FILE[@N] FILE[@N]", "show what changed between two snapshots, check that it is allowed"},
	{"retained", cli_retained, RETAINED_OPTIONS, "FILE[@N]",
	 "show what would go with an object, a type, a root"},
	{"path", cli_path, CLI_JSON | CLI_LIMIT | CLI_SNAPSHOT | CLI_ALL | CLI_EXCLUDE | CLI_MEMORY,
	 "FILE[@N] TYPE|ADDRESS", "show what holds an object, or the objects of a type"},
	{"report", cli_report,
	 CLI_JSON | CLI_SNAPSHOT | CLI_SERIES | CLI_MEMORY | CLI_NEW_FILE | CLI_OVERWRITE |
		 CLI_PAGE_SIZE,
	 "FILE[@N]...", "write a page for a browser: suspects, tables, charts, differences"},
	{"dominators", cli_retained, RETAINED_OPTIONS, "FILE[@N]", "the same as retained"},
	{"tui", cli_tui, CLI_SNAPSHOT | CLI_MEMORY, "FILE[@N]",
	 "browse types, objects and paths in the terminal"},
	{"events", cli_events, CLI_JSON | CLI_LIMIT, "FILE",
	 "show collections, pauses and the size of the heap over time"},
	{"jit", cli_jit,
	 CLI_JSON | CLI_LIMIT | CLI_JIT_SORT | CLI_ASSEMBLY | CLI_FILTER | CLI_MEMORY |
		 CLI_ADDRESS | CLI_PERF_MAP | CLI_MAP_FILE,
	 "FILE", "show methods and their code, name the method at an address"},
	{"dump", cli_dump, CLI_JSON | CLI_LIMIT | CLI_SNAPSHOT | CLI_OBJECTS, "FILE[@N]",
	 "write all records as lines of JSON"},
	{"verify", cli_verify, CLI_JSON | CLI_MEMORY, "FILE",
	 "check totals, numbers, checksums and references"},
	{"extract", cli_extract,
	 CLI_JSON | CLI_SNAPSHOT | CLI_MEMORY | CLI_NEW_FILE | CLI_OVERWRITE, "FILE[@N]",
	 "write one snapshot to a recording of its own"},
	{"recompress", cli_recompress, CLI_JSON | CLI_NEW_FILE | CLI_OVERWRITE, "FILE",
	 "write the same recording to a smaller file"},
	{"anonymize", cli_anonymize,
	 CLI_JSON | CLI_MEMORY | CLI_NEW_FILE | CLI_OVERWRITE | CLI_ALL_NAMES, "FILE",
	 "write the recording with other names, to be shown to others"},
	{"export", cli_export,
	 CLI_JSON | CLI_SNAPSHOT | CLI_MEMORY | CLI_FORMAT | CLI_TABLE | CLI_NEW_FILE |
		 CLI_OVERWRITE,
	 "FILE[@N]", "write a snapshot in a format that other tools open"},
	{"doctor", cli_doctor, CLI_JSON | CLI_MONO, "",
	 "check whether mono finds the recording module"},
	{"record", cli_record, CLI_JSON | CLI_OUTPUT | CLI_OPTIONS | CLI_RECORD,
	 "-- PROGRAM [ARGUMENT...]", "run a program and record it"},
	{"take", cli_take, CLI_JSON | CLI_LABEL | CLI_STATS, "PID",
	 "take a snapshot of a process that is being recorded"},
	{"watch", cli_watch, CLI_JSON | CLI_INTERVAL | CLI_COUNT | CLI_LIMIT, "PID",
	 "show how the heap of a process that is being recorded changes"},
	{"flush", cli_flush, CLI_JSON, "PID [FILE]",
	 "write what the ring of a process holds to a file"},
	{"help", cli_help, 0, "[COMMAND]", "show help on a command"},
	{NULL, NULL, 0, NULL, NULL},
};

const struct cli_command *cli_find_command(const char *name)
{
	const struct cli_command *command;

	for (command = cli_commands; command->name != NULL; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

bool cli_is_recording(const char *name)
{
	const char *at = strrchr(name, '@');
	char file[4096];

	if (access(name, F_OK) == 0)
		return true;
	if (at == NULL || at == name || (size_t)(at - name) >= sizeof(file))
		return false;
	memcpy(file, name, (size_t)(at - name));
	file[at - name] = '\0';
	return access(file, F_OK) == 0;
}

int cli_no_command(const char *name)
{
	char names[256] = "", nearest[32];
	const struct cli_command *command;

	for (command = cli_commands; command->name != NULL; command++) {
		strncat(names, command->name, sizeof(names) - strlen(names) - 1);
		strncat(names, " ", sizeof(names) - strlen(names) - 1);
	}
	hs_nearest_word(name, names, nearest, sizeof(nearest));
	if (*nearest != '\0')
		return cli_usage(NULL, "unknown command '%s', did you mean '%s'?", name, nearest);
	return cli_usage(NULL, "'%s' is neither a command nor a file", name);
}

void (*cli_before_message)(void);

void cli_message(const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (cli_before_message != NULL)
		cli_before_message();
	fputs("heapshot: ", stderr);
	text_put_masked(stderr, text);
	fputc('\n', stderr);
}

int cli_no_memory(void)
{
	cli_message("out of memory");
	return CLI_IO;
}

int cli_usage(const struct cli_command *command, const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (command != NULL)
		cli_message("%s: %s (try 'heapshot help %s')", command->name, text, command->name);
	else
		cli_message("%s (try 'heapshot help')", text);
	return CLI_USAGE;
}

int cli_finish(int status)
{
	bool has_failed = ferror(stdout) != 0;

	errno = 0;
	if (fflush(stdout) == 0 && !has_failed)
		return status;
	/* stdio forgets why an earlier write failed; the same will fail again. */
	if (errno == 0 && write(STDOUT_FILENO, "\n", 1) >= 0)
		errno = EIO;
	/* A reader that went away has seen what it wanted. */
	if (errno == EPIPE)
		return status;
	cli_message("cannot write the output: %s", strerror(errno));
	return CLI_IO;
}

bool cli_has_colour(void)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	return (no_colour == NULL || *no_colour == '\0') && term != NULL &&
	       strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO);
}
