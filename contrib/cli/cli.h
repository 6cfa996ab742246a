/* SPDX-License-Identifier: MIT */
/*
 * What the commands share: exit statuses, the table of commands, arguments,
 * messages.  A command is one file and one row of the table in heapshot.c.
 */
#ifndef HEAPSHOT_CLI_CLI_H
#define HEAPSHOT_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "contrib/reader/heapshot-reader.h"

enum cli_status {
	CLI_OK = 0,
	CLI_CHECK_FAILED = 1, /* what the command was to check is not so */
	CLI_USAGE = 2,
	CLI_DAMAGED = 3,       /* bytes of the recording were changed */
	CLI_INCOMPLETE = 4,    /* the asked snapshot is not whole; verify: anything */
	CLI_NOT_FOUND = 5,     /* no such snapshot, type, process */
	CLI_IO = 6,            /* the system refused to read or write */
	CLI_NOT_RECORDING = 7, /* another format, or another version of ours */
};

/* Options; a command's row says which of them it takes. */
#define CLI_BIT(n)    ((uint64_t)1 << (n))
#define CLI_JSON      CLI_BIT(0)
#define CLI_LIMIT     CLI_BIT(1)
#define CLI_SNAPSHOT  CLI_BIT(2)
#define CLI_BY        CLI_BIT(3)
#define CLI_ASSEMBLY  CLI_BIT(4)
#define CLI_FILTER    CLI_BIT(5)
#define CLI_OBJECTS   CLI_BIT(6)
#define CLI_MEMORY    CLI_BIT(7)
#define CLI_LABEL     CLI_BIT(8)
#define CLI_STATS     CLI_BIT(9)
#define CLI_MONO      CLI_BIT(10)
#define CLI_OUTPUT    CLI_BIT(11)
#define CLI_OPTIONS   CLI_BIT(12)
#define CLI_RECORD    CLI_BIT(13) /* also the module's options, as --NAME=VALUE */
#define CLI_JIT_SORT  CLI_BIT(14)
#define CLI_ADDRESS   CLI_BIT(15)
#define CLI_PERF_MAP  CLI_BIT(16)
#define CLI_MAP_FILE  CLI_BIT(17)
#define CLI_NEW_FILE  CLI_BIT(18)
#define CLI_OVERWRITE CLI_BIT(19)
#define CLI_DIFF_SORT CLI_BIT(20)
#define CLI_FAIL_IF   CLI_BIT(21)
#define CLI_TYPE      CLI_BIT(22)
#define CLI_PART      CLI_BIT(23)
#define CLI_SHARE     CLI_BIT(24)
#define CLI_RETAINED  CLI_BIT(25)
#define CLI_ALL       CLI_BIT(26)
#define CLI_EXCLUDE   CLI_BIT(27)
#define CLI_ALL_NAMES CLI_BIT(28)
#define CLI_HOLDERS   CLI_BIT(29)
#define CLI_FORMAT    CLI_BIT(30)
#define CLI_MIN_SIZE  CLI_BIT(31)
#define CLI_MAX_SIZE  CLI_BIT(32)
#define CLI_REFERS_TO CLI_BIT(33)
#define CLI_TARGET_OF CLI_BIT(34)
#define CLI_ROOT_KIND CLI_BIT(35)
#define CLI_LIVE      CLI_BIT(36)
#define CLI_DEAD      CLI_BIT(37)
#define CLI_STRING    CLI_BIT(38)
#define CLI_SERIES    CLI_BIT(39)
#define CLI_PAGE_SIZE CLI_BIT(40)
#define CLI_INTERVAL  CLI_BIT(41)
#define CLI_COUNT     CLI_BIT(42)
#define CLI_TABLE     CLI_BIT(43)

/* What the value of an option is, and where it goes in struct cli_arguments. */
enum cli_value {
	CLI_FLAG,      /* none; a bool */
	CLI_TEXT,      /* a const char * */
	CLI_TEXTS,     /* struct cli_texts, one more */
	CLI_WORD,      /* a const char *, one of the row's words */
	CLI_ROWS,      /* an uint64_t and a bool */
	CLI_PERCENT,   /* an uint64_t, 0 to 100, and a bool */
	CLI_BYTES,     /* an uint64_t and a bool */
	CLI_HEX,       /* an uint64_t and a bool */
	CLI_MEGABYTES, /* a size_t, at least 16M */
	CLI_DURATION,  /* an uint64_t, nanoseconds, at least 100 ms */
};

struct cli_option_row {
	uint64_t option;
	const char *name;
	char letter;          /* 0: none */
	const char *argument; /* NULL: it takes none */
	const char *words;    /* values to complete, or NULL */
	const char *help;
	enum cli_value value;
	size_t place, given; /* offsets in struct cli_arguments; given 0: nothing there */
};

extern const struct cli_option_row cli_options[];
extern const size_t cli_n_options;

/* Values of an option that may be given several times. */
#define CLI_TEXTS_MAX 64
struct cli_texts {
	const char *list[CLI_TEXTS_MAX];
	size_t n;
};

struct cli_arguments {
	bool is_json, has_limit, with_objects, is_stats, has_address, is_perf_map, is_overwrite;
	bool has_share, is_retained, has_all, is_all_names, is_all;
	uint64_t limit, address, share, all;
	bool with_holders;
	size_t memory_bytes;
	const char *snapshot, *by, *sort, *assembly, *filter, *label, *mono, *output, *options,
		*format;
	const char *root_kind, *string;
	uint64_t interval_ns, count; /* 0: not given */
	bool has_min_size, has_max_size, has_refers_to, has_referred_by, is_live, is_unreachable;
	uint64_t min_size, max_size, refers_to, referred_by;
	struct cli_texts fail_if;
	const char *type, *part, *exclude, *table;
	int n_operands;
	char **operands;
};

struct cli_command {
	const char *name;
	int (*run)(const struct cli_command *command, int argc, char **argv);
	uint64_t options;     /* CLI_JSON and so on, together */
	const char *operands; /* "FILE[@N]" */
	const char *help;     /* one line */
};

/* Ends with a row of NULLs. */
extern const struct cli_command cli_commands[];
const struct cli_command *cli_find_command(const char *name);
/* True when NAME, perhaps with @N behind it, is a file, and so no mistyped command. */
bool cli_is_recording(const char *name);
/* Says that there is no command NAME, and which is near; CLI_USAGE. */
int cli_no_command(const char *name);

int cli_list(const struct cli_command *command, int argc, char **argv);
int cli_top(const struct cli_command *command, int argc, char **argv);
int cli_retained(const struct cli_command *command, int argc, char **argv);
int cli_leaks(const struct cli_command *command, int argc, char **argv);
int cli_path(const struct cli_command *command, int argc, char **argv);
int cli_roots(const struct cli_command *command, int argc, char **argv);
int cli_handles(const struct cli_command *command, int argc, char **argv);
int cli_events(const struct cli_command *command, int argc, char **argv);
int cli_jit(const struct cli_command *command, int argc, char **argv);
int cli_dump(const struct cli_command *command, int argc, char **argv);
int cli_verify(const struct cli_command *command, int argc, char **argv);
int cli_doctor(const struct cli_command *command, int argc, char **argv);
int cli_record(const struct cli_command *command, int argc, char **argv);
int cli_take(const struct cli_command *command, int argc, char **argv);
int cli_tui(const struct cli_command *command, int argc, char **argv);
int cli_watch(const struct cli_command *command, int argc, char **argv);
int cli_flush(const struct cli_command *command, int argc, char **argv);
int cli_extract(const struct cli_command *command, int argc, char **argv);
/* The same with arguments that are parsed. */
int cli_extract_as(const struct cli_command *command, const struct cli_arguments *arguments);
int cli_anonymize(const struct cli_command *command, int argc, char **argv);
int cli_recompress(const struct cli_command *command, int argc, char **argv);
int cli_show(const struct cli_command *command, int argc, char **argv);
int cli_find(const struct cli_command *command, int argc, char **argv);
int cli_diff(const struct cli_command *command, int argc, char **argv);
int cli_report(const struct cli_command *command, int argc, char **argv);
int cli_export(const struct cli_command *command, int argc, char **argv);
int cli_help(const struct cli_command *command, int argc, char **argv);

/*
 * Parses the options of COMMAND and checks the number of operands.  Returns
 * CLI_OK, CLI_USAGE (said already), or -1 when help was asked for and printed.
 */
int cli_parse(const struct cli_command *command, int argc, char **argv, int min_operands,
	      int max_operands, struct cli_arguments *arguments);
void cli_print_help(const struct cli_command *command, FILE *out);
void cli_print_completion(void);

/*
 * Rows to show of a list: --limit, or without it FOR_TABLE, with --json FOR_JSON.
 * SIZE_MAX: all.
 */
size_t cli_limit(const struct cli_arguments *arguments, size_t for_table, size_t for_json);

/* A number of bytes with a unit, "64M"; false when it is none. */
bool cli_parse_size(const char *text, uint64_t *bytes);

/* An address in hexadecimal, with or without 0x. */
bool cli_parse_address(const char *text, uint64_t *address);

/*
 * Called before a message is written, by commands that have taken the terminal's
 * screen: they give it back.  NULL: nothing is to be done.
 */
extern void (*cli_before_message)(void);

/* "heapshot: ..." on stderr; what is formatted is masked. */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says that memory is short.  Returns CLI_IO. */
int cli_no_memory(void);
/* cli_message for a wrong command line; adds where help is.  Returns CLI_USAGE. */
int cli_usage(const struct cli_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Flushes stdout.  Returns STATUS, or CLI_IO with a message when the output
 * could not be written.
 */
int cli_finish(int status);

/* True when stdout is a terminal that may be coloured. */
bool cli_has_colour(void);

#endif
