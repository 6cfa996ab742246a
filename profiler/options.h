/* SPDX-License-Identifier: MIT */
/*
 * The option language, one grammar for the command line
 * (--profile=heapshot:OPTIONS), the environment (HEAPSHOT_OPTIONS), the API
 * and the browser: `,` separates options, `+` the items of a list, `\,` and
 * `\\` are literal, the last mention of an option wins.
 *
 * One table drives the parser, `help`, the manual page and the completion.
 */
#ifndef HEAPSHOT_PROFILER_OPTIONS_H
#define HEAPSHOT_PROFILER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest option text, and longest value. */
#define HS_OPTIONS_TEXT_MAX  (64u << 10)
#define HS_OPTIONS_VALUE_MAX 4096u

/* When a snapshot is taken; bits of hs_options.when. */
enum hs_when {
	HS_WHEN_SHUTDOWN = 1 << 0,
	HS_WHEN_TERM = 1 << 1,
	HS_WHEN_GC = 1 << 2,
	HS_WHEN_OOM = 1 << 3,
	HS_WHEN_NONE = 1 << 4,
	HS_WHEN_EVERY_GCS = 1 << 5,  /* every_gcs */
	HS_WHEN_EVERY_TIME = 1 << 6, /* every_ms */
};

/* What is recorded between snapshots; bits of hs_options.events. */
enum hs_events {
	HS_EVENTS_GC = 1 << 0,
	HS_EVENTS_TYPES = 1 << 1,
	HS_EVENTS_JIT = 1 << 2,
	HS_EVENTS_METHODS = 1 << 3,
	HS_EVENTS_MOVES = 1 << 4,
	HS_EVENTS_HANDLES = 1 << 5,
	HS_EVENTS_COUNTERS = 1 << 6,
	HS_EVENTS_THREADS = 1 << 7,
};

/* Whether a child writes snapshots; in the order of the option's words. */
enum hs_fork {
	HS_FORK_AUTO,
	HS_FORK_NEVER,
	HS_FORK_ALWAYS,
};

struct hs_options {
	char output[HS_OPTIONS_VALUE_MAX];  /* as given: PATH, |CMD, #FD */
	char control[HS_OPTIONS_VALUE_MAX]; /* "auto", "off" or a path */
	uint32_t when;
	uint32_t events;
	uint64_t every_gcs;
	uint64_t every_ms;
	uint64_t at_bytes;
	uint32_t at_percent;
	int signal; /* 0: off */
	uint64_t memory_bytes;
	uint64_t ring_bytes;     /* 0: no flight recorder */
	uint64_t max_snapshots;  /* 0: no limit */
	uint64_t max_size_bytes; /* 0: no limit */
	uint64_t strings;        /* characters; 0: off */
	bool methods_code;
	uint32_t fork; /* enum hs_fork */
	bool strict, quiet, overwrite, help;
};

enum hs_option_type {
	HS_OPTION_TEXT,
	HS_OPTION_WHEN,
	HS_OPTION_EVENTS,
	HS_OPTION_AT,
	HS_OPTION_SIGNAL,
	HS_OPTION_METHODS,
	HS_OPTION_SIZE,
	HS_OPTION_NUMBER,
	HS_OPTION_FLAG,
	HS_OPTION_CHOICE, /* one of its words: their number, from 0 */
};

struct hs_option {
	const char *name;
	enum hs_option_type type;
	size_t offset;       /* of its member in struct hs_options */
	uint64_t low, high;  /* bounds of a SIZE or NUMBER */
	const char *value;   /* for people: "PATH", "SIZE", NULL for a flag */
	const char *words;   /* values it knows, separated by blanks (completion) */
	const char *initial; /* default, as one would write it; NULL: off */
	const char *help;
};

/* The table; ends with a row whose name is NULL. */
extern const struct hs_option hs_option_table[];

/* Fills in the defaults. */
void hs_options_init(struct hs_options *options);

/*
 * Parses TEXT on top of what OPTIONS holds.  All of TEXT is read, so that
 * `strict`, `quiet` and `help` count wherever they stand; options before and
 * after a mistake are taken over.  Returns true, or false with one line (no
 * newline) about the first mistake in MESSAGE.
 */
bool hs_options_parse(struct hs_options *options, const char *text, char *message,
		      size_t message_bytes);

/* Makes a message that quotes somebody's text one line: control characters become '?'. */
void hs_options_one_line(char *message);

/*
 * Writes the options that differ from the defaults as one option text.
 * Returns its length; SIZE bounds it.
 */
size_t hs_options_format(const struct hs_options *options, char *text, size_t size);

/* Writes the table for people; returns the length of the whole text. */
size_t hs_options_help(char *text, size_t size);

/* Number of a signal by its name ("USR2", "SIGUSR2", "RTMIN+3"); 0: unknown. */
int hs_signal_number(const char *name);

#endif
