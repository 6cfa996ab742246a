/* SPDX-License-Identifier: MIT */
/*
 * heapshot record: runs a program with the module switched on, hands its exit
 * status through, and says what to type next.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contrib/cli/cli.h"
#include "contrib/cli/json.h"
#include "profiler/options.h"

static volatile sig_atomic_t child_pid;

static void pass_on(int number)
{
	if (child_pid > 0)
		kill((pid_t)child_pid, number);
}

/* Appends TEXT to *list with a comma before it; false without memory. */
static bool append(char **list, const char *name, const char *text, bool is_escaped)
{
	size_t n = *list != NULL ? strlen(*list) : 0;
	char *more = realloc(*list, n + strlen(name) + 2 * strlen(text) + 3), *out;

	if (more == NULL)
		return false;
	*list = more;
	out = more + n;
	if (n > 0)
		*out++ = ',';
	out = stpcpy(out, name);
	for (; *text != '\0'; text++) {
		if (is_escaped && (*text == ',' || *text == '\\'))
			*out++ = '\\';
		*out++ = *text;
	}
	*out = '\0';
	return true;
}

struct record {
	char *options;
	const char *output;
	bool is_json;
	bool is_quiet;
	char **program;
};

/* What the module would refuse, and then let the program run unrecorded. */
static int check_options(const struct cli_command *command, struct record *record)
{
	struct hs_options *parsed;
	char message[512];
	bool is_good;

	if (record->options == NULL)
		return CLI_OK;
	parsed = malloc(sizeof(*parsed));
	if (parsed == NULL)
		return CLI_OK; /* the module will say it */
	hs_options_init(parsed);
	is_good = hs_options_parse(parsed, record->options, message, sizeof(message));
	record->is_quiet = parsed->quiet;
	free(parsed);
	return is_good ? CLI_OK : cli_usage(command, "%s", message);
}

/* Options up to "--" or the first operand; the module's own are passed on. */
static int parse(const struct cli_command *command, int argc, char **argv, struct record *record)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
		const char *word = argv[i], *value = NULL;
		bool is_output = strncmp(word, "-o", 2) == 0, is_list = strncmp(word, "-p", 2) == 0;
		bool has_memory = true;

		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
			cli_print_help(command, stdout);
			return -1;
		}
		if (strcmp(word, "--json") == 0 || strcmp(word, "-j") == 0) {
			record->is_json = true;
			continue;
		}
		if (is_output || is_list)
			value = word[2] != '\0' ? word + 2 : NULL;
		is_output = is_output || strcmp(word, "--output") == 0;
		is_list = is_list || strcmp(word, "--options") == 0;
		if ((is_output || is_list) && value == NULL) {
			if (++i == argc || strcmp(argv[i], "--") == 0)
				return cli_usage(command, "option '%s' needs a value", word);
			value = argv[i];
		} else if (strncmp(word, "--output=", 9) == 0) {
			is_output = true;
			value = word + 9;
		} else if (strncmp(word, "--options=", 10) == 0) {
			is_list = true;
			value = word + 10;
		} else if (value == NULL && strncmp(word, "--", 2) != 0) {
			return cli_usage(command, "unknown option '%s'", word);
		}
		if (is_output && (*value == '\0' || *value == '|' || *value == '#'))
			return cli_usage(command, "'%s' is no file to record to", value);
		if (is_output)
			record->output = value;
		else if (is_list)
			has_memory = append(&record->options, "", value, false);
		else
			has_memory = append(&record->options, "", word + 2, false);
		if (!has_memory)
			return cli_no_memory();
	}
	if (i < argc && strcmp(argv[i], "--") == 0)
		i++;
	if (i == argc)
		return cli_usage(command, "the program to record is missing");
	record->program = argv + i;
	if (record->output != NULL && !append(&record->options, "output=", record->output, true))
		return cli_no_memory();
	return check_options(command, record);
}

static bool is_mono(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;

	return strcmp(name, "mono") == 0 || strncmp(name, "mono-sgen", 9) == 0 ||
	       strcmp(name, "mono64") == 0 || strcmp(name, "mono32") == 0;
}

static bool is_assembly(const char *path)
{
	FILE *file = fopen(path, "re");
	bool is_pe = file != NULL && fgetc(file) == 'M' && fgetc(file) == 'Z';

	if (file != NULL)
		fclose(file);
	return is_pe;
}

/* The words to execute; those of another program than mono come by environment. */
static char **make_words(const struct record *record)
{
	const char *options = record->options != NULL ? record->options : "";
	size_t n = 0, i;
	char **words, *profile = NULL;

	while (record->program[n] != NULL)
		n++;
	words = calloc(n + 2, sizeof(*words));
	if (words == NULL ||
	    asprintf(&profile, "--profile=heapshot%s%s", *options ? ":" : "", options) < 0) {
		free(words);
		return NULL;
	}
	words[0] = record->program[0];
	if (is_mono(words[0])) {
		words[1] = profile;
		for (i = 1; i < n; i++)
			words[i + 1] = record->program[i];
		return words;
	}
	for (i = 1; i < n; i++)
		words[i] = record->program[i];
	/* Programs that start mono themselves: the options need no quoting there. */
	if (*options != '\0')
		setenv("HEAPSHOT_OPTIONS", options, 1);
	if (getenv("MONO_ENV_OPTIONS") != NULL) {
		char *joined;

		if (asprintf(&joined, "%s --profile=heapshot", getenv("MONO_ENV_OPTIONS")) >= 0)
			setenv("MONO_ENV_OPTIONS", joined, 1);
		free(joined);
	} else {
		setenv("MONO_ENV_OPTIONS", "--profile=heapshot", 1);
	}
	free(profile);
	return words;
}

/* Starts the program with the signals of MASK; its pid, or a negative errno. */
static pid_t start(char **words, const sigset_t *mask)
{
	int ends[2], error = 0;
	ssize_t n;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child == 0) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		/* Not execvp: without binfmt_misc it has a shell read the assembly. */
		if (strchr(words[0], '/') != NULL && is_assembly(words[0]))
			execv(words[0], words);
		else
			execvp(words[0], words);
		error = errno;
		n = write(ends[1], &error, sizeof(error));
		_exit(n == sizeof(error) ? 127 : 126);
	}
	if (child < 0)
		error = errno;
	close(ends[1]);
	if (child > 0) {
		do
			n = read(ends[0], &error, sizeof(error));
		while (n < 0 && errno == EINTR);
		if (n == sizeof(error))
			waitpid(child, NULL, 0);
	}
	close(ends[0]);
	return error != 0 ? -error : child;
}

/* The file's name with what the module puts for %p; the time is not known here. */
static char *expand(const char *pattern, pid_t pid)
{
	char *out = malloc(strlen(pattern) * 12 + 1), *p = out;

	if (out == NULL)
		return NULL;
	for (; *pattern != '\0'; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p') {
			p += sprintf(p, "%ld", (long)pid);
			pattern++;
		} else if (pattern[0] == '%' && pattern[1] == '%') {
			*p++ = '%';
			pattern++;
		} else {
			*p++ = *pattern;
		}
	}
	*p = '\0';
	return out;
}

static bool has_snapshot(const char *path)
{
	struct heapshot_reader *reader = heapshot_reader_new(NULL);
	bool is_there = reader != NULL &&
			heapshot_reader_open_file(reader, path) == HEAPSHOT_READ_OK &&
			heapshot_reader_last_snapshot(reader, 1) != NULL;

	heapshot_reader_free(reader);
	return is_there;
}

static void say_next(const struct record *record, pid_t pid, int status)
{
	const char *pattern = record->output != NULL ? record->output : "%p.hs";
	char *name = expand(pattern, pid);
	bool is_there = name != NULL && access(name, R_OK) == 0;
	struct json json = {0};

	if (record->is_json) {
		json_begin(&json, '{');
		json_put_text(&json, "output", is_there ? name : NULL);
		json_put_unsigned(&json, "pid", (uint64_t)pid);
		json_put_unsigned(&json, "status", (uint64_t)status);
		json_end(&json, '}');
		json_line(&json);
	}
	if (is_there && record->is_quiet)
		; /* all is well */
	else if (is_there)
		cli_message("next: heapshot %s%s", has_snapshot(name) ? "" : "list ", name);
	else if (record->options != NULL && strstr(record->options, "help") != NULL)
		; /* the module printed its options */
	else if (is_mono(record->program[0]) && strstr(pattern, "%t") == NULL)
		cli_message(
			"%s was not written; 'heapshot doctor' tells whether mono finds the module",
			name != NULL ? name : pattern);
	free(name);
}

int cli_record(const struct cli_command *command, int argc, char **argv)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, pass = {.sa_handler = pass_on};
	struct record record = {0};
	int status = parse(command, argc, argv, &record), wait_status;
	sigset_t signals, before;
	char **words;
	pid_t child;

	if (status != CLI_OK) {
		free(record.options);
		return status < 0 ? cli_finish(CLI_OK) : status;
	}
	words = make_words(&record);
	if (words == NULL) {
		free(record.options);
		return cli_no_memory();
	}
	/* Signals wait until we know whom to pass them on to. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &before);
	child = start(words, &before);
	if (child < 0) {
		cli_message("cannot run %s: %s%s%s", words[0], strerror(-child),
			    is_assembly(words[0]) ? "; try: heapshot record -- mono " : "",
			    is_assembly(words[0]) ? words[0] : "");
		status = child == -ENOENT ? 127 : 126;
	} else {
		child_pid = child;
		/* The terminal's signals reach the program anyway; it decides. */
		sigaction(SIGINT, &ignore, NULL);
		sigaction(SIGQUIT, &ignore, NULL);
		sigaction(SIGTERM, &pass, NULL);
		sigaction(SIGHUP, &pass, NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
			;
		child_pid = 0;
		status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
						: 128 + WTERMSIG(wait_status);
		say_next(&record, child, status);
	}
	if (is_mono(words[0]))
		free(words[1]);
	free(words);
	free(record.options);
	fflush(stdout);
	return status;
}
