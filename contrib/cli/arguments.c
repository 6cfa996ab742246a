/* SPDX-License-Identifier: MIT */
/*
 * The table of options, from which parser, help and completion are made.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/cli.h"
#include "profiler/options_parse.h"

const struct cli_option_row cli_options[] = {
	{CLI_SNAPSHOT, "snapshot", 's', "N", "last",
	 "snapshot by its number, 'last' (complete) or -2 for the second last"},
	{CLI_BY, "by", 'b', "WHAT", "bytes count", "sort by 'bytes' (default) or 'count'"},
	{CLI_SORT, "sort", 's', "WHAT", "size time",
	 "sort by 'size' of code (default) or 'time' to compile"},
	{CLI_ADDRESS, "address", 'A', "HEX", NULL, "name what lies at this address"},
	{CLI_PERF_MAP, "perf-map", 'p', NULL, NULL,
	 "write a map for perf, as in /tmp/perf-PID.map"},
	{CLI_MAP_FILE, "output", 'o', "FILE", NULL,
	 "where the map goes (default: standard output)"},
	{CLI_ASSEMBLY, "assembly", 'a', "NAME", NULL, "only types, or methods, of this assembly"},
	{CLI_FILTER, "filter", 'f', "TEXT", NULL,
	 "only names that contain TEXT, or match it where it has * or ?"},
	{CLI_LIMIT, "limit", 'n', "N", NULL, "at most N rows, 0 for all"},
	{CLI_OBJECTS, "objects", 'o', NULL, NULL, "write batches row by row"},
	{CLI_MEMORY, "memory", 'm', "SIZE", NULL, "let the reader use up to SIZE of memory"},
	{CLI_LABEL, "label", 'l', "TEXT", NULL, "label of the snapshot"},
	{CLI_STATS, "stats", 0, NULL, NULL, "types and counts only, without the graph"},
	{CLI_MONO, "mono", 0, "PATH", NULL, "the mono to examine (default: mono of the PATH)"},
	{CLI_OUTPUT, "output", 'o', "FILE", NULL, "where to record (default: PID.hs)"},
	{CLI_OPTIONS, "options", 'p', "LIST", NULL,
	 "options of the module, as in --profile=heapshot:LIST"},
	{CLI_NEW_FILE, "output", 'o', "FILE", NULL, "the file to write, - for standard output"},
	{CLI_OVERWRITE, "overwrite", 0, NULL, NULL, "replace the file if there is one"},
	{CLI_JSON, "json", 'j', NULL, NULL, "write JSON"},
};
const size_t cli_n_options = sizeof(cli_options) / sizeof(*cli_options);

bool cli_parse_size(const char *text, uint64_t *bytes)
{
	unsigned long long number;
	unsigned shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0)
		return false;
	switch (*end) {
	case 'K':
	case 'k':
		shift = 10;
		break;
	case 'M':
	case 'm':
		shift = 20;
		break;
	case 'G':
	case 'g':
		shift = 30;
		break;
	default:
		break;
	}
	if (shift != 0)
		end++;
	if (shift != 0 && *end == 'B')
		end++;
	*bytes = (uint64_t)number << shift;
	return *end == '\0' && *bytes >> shift == number;
}

/* Sets what option ROW says; NULL, or what is wrong with its value. */
static const char *set(struct cli_arguments *arguments, const struct cli_option_row *row,
		       const char *value)
{
	uint64_t number;
	char *end;

	switch (row->option) {
	case CLI_JSON:
		arguments->is_json = true;
		break;
	case CLI_OBJECTS:
		arguments->with_objects = true;
		break;
	case CLI_STATS:
		arguments->is_stats = true;
		break;
	case CLI_SNAPSHOT:
		arguments->snapshot = value;
		break;
	case CLI_ASSEMBLY:
		arguments->assembly = value;
		break;
	case CLI_FILTER:
		arguments->filter = value;
		break;
	case CLI_LABEL:
		arguments->label = value;
		break;
	case CLI_MONO:
		arguments->mono = value;
		break;
	case CLI_OUTPUT:
	case CLI_MAP_FILE:
	case CLI_NEW_FILE:
		arguments->output = value;
		break;
	case CLI_OPTIONS:
		arguments->options = value;
		break;
	case CLI_BY:
		if (strcmp(value, "bytes") != 0 && strcmp(value, "count") != 0)
			return "it is 'bytes' or 'count'";
		arguments->by = value;
		break;
	case CLI_SORT:
		if (strcmp(value, "size") != 0 && strcmp(value, "time") != 0)
			return "it is 'size' or 'time'";
		arguments->sort = value;
		break;
	case CLI_PERF_MAP:
		arguments->is_perf_map = true;
		break;
	case CLI_ADDRESS:
		errno = 0;
		arguments->address = strtoull(value, &end, 16);
		if (!isxdigit((unsigned char)*value) || *end != '\0' || errno != 0)
			return "it is an address in hexadecimal, such as 0x41d364e0";
		arguments->has_address = true;
		break;
	case CLI_LIMIT:
		errno = 0;
		arguments->limit = strtoull(value, &end, 10);
		if (*value < '0' || *value > '9' || *end != '\0' || errno != 0)
			return "it is a number of rows, 0 for all";
		arguments->has_limit = true;
		break;
	case CLI_MEMORY:
		if (!cli_parse_size(value, &number) || number < 16u << 20 || number > SIZE_MAX)
			return "it is a size of at least 16M, such as 512M or 4G";
		arguments->memory_bytes = (size_t)number;
		break;
	case CLI_OVERWRITE:
		arguments->is_overwrite = true;
		break;
	case CLI_RECORD:
		break;
	}
	return NULL;
}

static const struct cli_option_row *find_row(const struct cli_command *command, int value)
{
	size_t i;

	for (i = 0; i < cli_n_options; i++)
		if ((command->options & cli_options[i].option) != 0 &&
		    (value >= 256 ? (size_t)value - 256 == i : cli_options[i].letter == value))
			return &cli_options[i];
	return NULL;
}

/* A long option that is none of OPTIONS, or an ambiguous beginning of several. */
static int unknown(const struct cli_command *command, const char *word,
		   const struct option *options)
{
	char names[512] = "", name[64], nearest[64];

	for (; options->name != NULL; options++) {
		strncat(names, options->name, sizeof(names) - strlen(names) - 1);
		strncat(names, " ", sizeof(names) - strlen(names) - 1);
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	hs_nearest_word(name, names, nearest, sizeof(nearest));
	if (*nearest == '\0')
		return cli_usage(command, "unknown option '%s'", word);
	return cli_usage(command, "unknown option '%s', did you mean '--%s'?", word, nearest);
}

int cli_parse(const struct cli_command *command, int argc, char **argv, int min_operands,
	      int max_operands, struct cli_arguments *arguments)
{
	struct option options[sizeof(cli_options) / sizeof(*cli_options) + 2] = {{0}};
	char letters[2 * sizeof(cli_options) / sizeof(*cli_options) + 8] = "+:h", *letter;
	size_t i, n = 0;
	int value;

	*arguments = (struct cli_arguments){0};
	letter = letters + strlen(letters);
	options[n++] = (struct option){"help", no_argument, NULL, 'h'};
	for (i = 0; i < cli_n_options; i++) {
		const struct cli_option_row *row = &cli_options[i];

		if ((command->options & row->option) == 0)
			continue;
		options[n++] =
			(struct option){row->name, row->argument ? required_argument : no_argument,
					NULL, (int)(256 + i)};
		if (row->letter != 0)
			*letter++ = row->letter;
		if (row->letter != 0 && row->argument != NULL)
			*letter++ = ':';
	}
	*letter = '\0';

	optind = 0;
	for (;;) {
		const struct cli_option_row *row;
		const char *wrong;

		/* Operands may stand before options too, but not for record. */
		value = getopt_long(argc, argv,
				    command->options & CLI_RECORD ? letters : letters + 1, options,
				    NULL);
		if (value < 0)
			break;
		if (value == 'h') {
			cli_print_help(command, stdout);
			return -1;
		}
		if (value == ':')
			return cli_usage(command, "option '%s' needs a value", argv[optind - 1]);
		row = value == '?' ? NULL : find_row(command, value);
		if (row == NULL && optopt >= 256)
			return cli_usage(command, "option '%s' takes no value", argv[optind - 1]);
		if (row == NULL && optopt != 0)
			return cli_usage(command, "unknown option '-%c'", optopt);
		if (row == NULL)
			return unknown(command, argv[optind - 1], options);
		wrong = set(arguments, row, optarg);
		if (wrong != NULL)
			return cli_usage(command, "wrong value '%s' of --%s: %s", optarg, row->name,
					 wrong);
	}
	arguments->n_operands = argc - optind;
	arguments->operands = argv + optind;
	if (arguments->n_operands < min_operands)
		return cli_usage(command, "%s is missing", command->operands);
	if (max_operands >= 0 && arguments->n_operands > max_operands)
		return cli_usage(command, "'%s' is too much", argv[optind + max_operands]);
	return CLI_OK;
}
