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

#define PLACE(member) offsetof(struct cli_arguments, member)

const struct cli_option_row cli_options[] = {
	{CLI_SNAPSHOT, "snapshot", 's', "N", "last",
	 "snapshot by its number, 'last' (complete) or -2 for the second last", CLI_TEXT,
	 PLACE(snapshot)},
	{CLI_BY, "by", 'b', "WHAT", "bytes count", "sort by 'bytes' (default) or 'count'", CLI_WORD,
	 PLACE(by)},
	{CLI_BY, "sort", 0, "WHAT", "bytes count", "the same, as other commands call it", CLI_WORD,
	 PLACE(by)},
	{CLI_JIT_SORT, "sort", 's', "WHAT", "size time",
	 "sort by 'size' of code (default) or 'time' to compile", CLI_WORD, PLACE(sort)},
	{CLI_DIFF_SORT, "sort", 's', "WHAT", "bytes count retained",
	 "sort by growth of 'bytes' (default), 'count' or 'retained'", CLI_WORD, PLACE(sort)},
	{CLI_FAIL_IF, "fail-if", 'F', "CHECK", NULL,
	 "exit with status 1 if CHECK holds, as in 'T.Leak.count > 0'; may be repeated", CLI_TEXTS,
	 PLACE(fail_if)},
	{CLI_ADDRESS, "address", 'A', "HEX", NULL, "name what lies at this address", CLI_HEX,
	 PLACE(address), PLACE(has_address)},
	{CLI_PERF_MAP, "perf-map", 'p', NULL, NULL, "write a map for perf, as in /tmp/perf-PID.map",
	 CLI_FLAG, PLACE(is_perf_map)},
	{CLI_MAP_FILE, "output", 'o', "FILE", NULL, "where the map goes (default: standard output)",
	 CLI_TEXT, PLACE(output)},
	{CLI_ASSEMBLY, "assembly", 'a', "NAME", NULL, "only types, or methods, of this assembly",
	 CLI_TEXT, PLACE(assembly)},
	{CLI_FILTER, "filter", 'f', "TEXT", NULL,
	 "only names that contain TEXT, or match it where it has * or ?", CLI_TEXT, PLACE(filter)},
	{CLI_LIMIT, "limit", 'n', "N", NULL, "at most N rows, 0 for all", CLI_ROWS, PLACE(limit),
	 PLACE(has_limit)},
	{CLI_OBJECTS, "objects", 'o', NULL, NULL,
	 "each object, root or handle by itself, not summed up", CLI_FLAG, PLACE(with_objects)},
	{CLI_MEMORY, "memory", 'm', "SIZE", NULL, "let the reader use up to SIZE of memory",
	 CLI_MEGABYTES, PLACE(memory_bytes)},
	{CLI_LABEL, "label", 'l', "TEXT", NULL, "label of the snapshot", CLI_TEXT, PLACE(label)},
	{CLI_STATS, "stats", 0, NULL, NULL, "types and counts only, without the graph", CLI_FLAG,
	 PLACE(is_stats)},
	{CLI_MONO, "mono", 0, "PATH", NULL, "the mono to examine (default: mono of the PATH)",
	 CLI_TEXT, PLACE(mono)},
	{CLI_OUTPUT, "output", 'o', "FILE", NULL, "where to record (default: PID.hs)", CLI_TEXT,
	 PLACE(output)},
	{CLI_OPTIONS, "options", 'p', "LIST", NULL,
	 "options of the module, as in --profile=heapshot:LIST", CLI_TEXT, PLACE(options)},
	{CLI_FORMAT, "format", 'f', "NAME",
	 "sqlite gcdump heapsnapshot mono-heap folded speedscope pprof csv ndjson",
	 "the format to write", CLI_TEXT, PLACE(format)},
	{CLI_TABLE, "table", 0, "NAME",
	 "recording snapshots types domains type_totals objects refs fields ephemerons strings "
	 "root_sources roots dominators events counters counter_samples",
	 "csv, ndjson: only this table, to a file or standard output", CLI_WORD, PLACE(table)},
	{CLI_NEW_FILE, "output", 'o', "FILE", NULL, "the file to write, - for standard output",
	 CLI_TEXT, PLACE(output)},
	{CLI_OVERWRITE, "overwrite", 0, NULL, NULL, "replace the file if there is one", CLI_FLAG,
	 PLACE(is_overwrite)},
	{CLI_RETAINED, "retained", 'r', NULL, NULL, "add what would go with each type", CLI_FLAG,
	 PLACE(is_retained)},
	{CLI_TYPE, "type", 't', "TEXT", NULL,
	 "only types whose name contains TEXT, or matches it where it has * or ?", CLI_TEXT,
	 PLACE(type)},
	{CLI_PART, "part", 'p', "WHAT", "types objects tree kinds roots assemblies domains",
	 "only this table: types, objects, tree, kinds (of roots), roots, assemblies, domains",
	 CLI_WORD, PLACE(part)},
	{CLI_SHARE, "share", 0, "PERCENT", NULL,
	 "leave out of the tree what retains less of all (default: 1)", CLI_PERCENT, PLACE(share),
	 PLACE(has_share)},
	{CLI_ALL_NAMES, "all", 0, NULL, NULL, "replace the names of the framework too", CLI_FLAG,
	 PLACE(is_all_names)},
	{CLI_HOLDERS, "holders", 'H', NULL, NULL, "add new objects by what holds them", CLI_FLAG,
	 PLACE(with_holders)},
	{CLI_ALL, "all", 'A', "N", NULL,
	 "N distinct paths, the shortest first; 0 for all there are", CLI_ROWS, PLACE(all),
	 PLACE(has_all)},
	{CLI_EXCLUDE, "exclude", 'x', "LIST", "weak finalizer stack",
	 "kinds of roots that shall not count; weak: ConditionalWeakTables too", CLI_TEXT,
	 PLACE(exclude)},
	{CLI_MIN_SIZE, "min-size", 0, "SIZE", NULL, "only objects of at least SIZE bytes, as 64k",
	 CLI_BYTES, PLACE(min_size), PLACE(has_min_size)},
	{CLI_MAX_SIZE, "max-size", 0, "SIZE", NULL, "only objects of at most SIZE bytes", CLI_BYTES,
	 PLACE(max_size), PLACE(has_max_size)},
	{CLI_REFERS_TO, "refers-to", 0, "HEX", NULL,
	 "only objects that refer to the one at this address", CLI_HEX, PLACE(refers_to),
	 PLACE(has_refers_to)},
	{CLI_TARGET_OF, "referred-by", 0, "HEX", NULL,
	 "only objects that the one at this address refers to", CLI_HEX, PLACE(referred_by),
	 PLACE(has_referred_by)},
	{CLI_ROOT_KIND, "root-kind", 0, "KIND", NULL,
	 "only objects that a root of this kind leads to, as static or gc_handle", CLI_TEXT,
	 PLACE(root_kind)},
	{CLI_LIVE, "live", 0, NULL, NULL, "only objects that a root leads to", CLI_FLAG,
	 PLACE(is_live)},
	{CLI_DEAD, "unreachable", 0, NULL, NULL, "only objects that no root leads to", CLI_FLAG,
	 PLACE(is_unreachable)},
	{CLI_STRING, "string", 0, "TEXT", NULL,
	 "only strings that contain TEXT, or match it where it has * or ?", CLI_TEXT,
	 PLACE(string)},
	{CLI_SERIES, "all", 0, NULL, NULL,
	 "all complete snapshots, where else there are 12 of a longer series", CLI_FLAG,
	 PLACE(is_all)},
	{CLI_PAGE_SIZE, "max-size", 0, "SIZE", NULL,
	 "the page takes at most SIZE bytes (default: 5M); what is small is cut", CLI_BYTES,
	 PLACE(max_size), PLACE(has_max_size)},
	{CLI_INTERVAL, "interval", 'i', "TIME", NULL,
	 "from one refresh to the next, as 500ms, 1s (default) or 2m", CLI_DURATION,
	 PLACE(interval_ns)},
	{CLI_COUNT, "count", 'c', "N", NULL, "end after N refreshes", CLI_ROWS, PLACE(count)},
	{CLI_JSON, "json", 'j', NULL, NULL, "write JSON", CLI_FLAG, PLACE(is_json)},
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

/* A number and its unit, "500ms", "1s", "2m"; without one it is seconds. */
static bool parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"ms", 1000000}, {"s", 1000000000}, {"", 1000000000}, {"m", 60000000000}};
	unsigned long long number;
	char *end;
	size_t i;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	for (i = 0; errno == 0 && i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(end, units[i].unit) == 0)
			return !__builtin_mul_overflow((uint64_t)number, units[i].ns, ns);
	return false;
}

/* Puts into TEXT what WORDS, apart by blanks, are: "it is 'bytes' or 'count'". */
static const char *say_words(const char *words, char *text, size_t size)
{
	const char *between = "it is";
	size_t n = 0;

	while (*words != '\0' && n < size) {
		const size_t length = strcspn(words, " ");

		n += (size_t)snprintf(text + n, size - n, "%s '%.*s'", between, (int)length, words);
		words += length + (words[length] == ' ');
		between = strchr(words, ' ') != NULL ? "," : " or";
	}
	return text;
}

static bool is_word(const char *words, const char *value)
{
	const size_t length = strlen(value);

	while (*words != '\0') {
		const size_t n = strcspn(words, " ");

		if (n == length && memcmp(words, value, n) == 0)
			return true;
		words += n + (words[n] == ' ');
	}
	return false;
}

static bool parse_number(const char *text, int base, uint64_t *number)
{
	char *end;

	/* strtoull takes blanks and signs too. */
	if (base == 16 ? !isxdigit((unsigned char)*text) : !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, &end, base);
	return *end == '\0' && errno == 0;
}

bool cli_parse_address(const char *text, uint64_t *address)
{
	return parse_number(text, 16, address);
}

size_t cli_limit(const struct cli_arguments *arguments, size_t for_table, size_t for_json)
{
	if (!arguments->has_limit)
		return arguments->is_json ? for_json : for_table;
	return arguments->limit != 0 && arguments->limit < SIZE_MAX ? (size_t)arguments->limit
								    : SIZE_MAX;
}

/* Sets what option ROW says; NULL, or what is wrong with its value, in TEXT perhaps. */
static const char *set(struct cli_arguments *arguments, const struct cli_option_row *row,
		       const char *value, char *text, size_t size)
{
	char *place = (char *)arguments + row->place;
	struct cli_texts *texts;
	uint64_t number;
	size_t bytes;

	if (row->given != 0)
		*(bool *)((char *)arguments + row->given) = true;
	switch (row->value) {
	case CLI_FLAG:
		*(bool *)place = true;
		break;
	case CLI_WORD:
		if (!is_word(row->words, value))
			return say_words(row->words, text, size);
		memcpy(place, &value, sizeof(value));
		break;
	case CLI_TEXT:
		memcpy(place, &value, sizeof(value));
		break;
	case CLI_TEXTS:
		texts = (struct cli_texts *)(void *)place;
		if (texts->n == CLI_TEXTS_MAX)
			return "it is given too often";
		texts->list[texts->n++] = value;
		break;
	case CLI_ROWS:
		if (!parse_number(value, 10, &number))
			return "it is a number of rows, 0 for all";
		memcpy(place, &number, sizeof(number));
		break;
	case CLI_PERCENT:
		if (!parse_number(value, 10, &number) || number > 100)
			return "it is a number of per cent, 0 to 100";
		memcpy(place, &number, sizeof(number));
		break;
	case CLI_BYTES:
		if (!cli_parse_size(value, &number))
			return "it is a number of bytes, such as 100, 64k or 10M";
		memcpy(place, &number, sizeof(number));
		break;
	case CLI_DURATION:
		if (!parse_duration(value, &number) || number < 100000000)
			return "it is a time of at least 100ms, such as 500ms, 1s or 2m";
		memcpy(place, &number, sizeof(number));
		break;
	case CLI_HEX:
		if (!parse_number(value, 16, &number))
			return "it is an address in hexadecimal, such as 0x41d364e0";
		memcpy(place, &number, sizeof(number));
		break;
	case CLI_MEGABYTES:
		if (!cli_parse_size(value, &number) || number < 16u << 20 || number > SIZE_MAX)
			return "it is a size of at least 16M, such as 512M or 4G";
		bytes = (size_t)number;
		memcpy(place, &bytes, sizeof(bytes));
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

/* Says which of "FILE[@N] TYPE|ADDRESS" is not there behind the N that are. */
static int missing(const struct cli_command *command, int n, char **operands)
{
	const char *first = command->operands, *rest = first;
	const int name_bytes = n > 0 ? (int)strcspn(operands[0], "@") : 0;

	for (; n > 0 && strchr(rest, ' ') != NULL; n--)
		rest = strchr(rest, ' ') + 1;
	/* diff has two of one name. */
	if (rest != first && strncmp(first, rest, strlen(rest)) == 0)
		return cli_usage(command,
				 "a second %s is missing, as in: heapshot %s %.*s@1 %.*s@2", rest,
				 command->name, name_bytes, operands[0], name_bytes, operands[0]);
	return cli_usage(command, "%s is missing", rest);
}

/* What stands behind all that is wanted; of a command before the file is a habit. */
static int too_much(const struct cli_command *command, char **operands, const char *operand)
{
	const char *name = cli_find_command(operand) != NULL ? operand : NULL;

	if (name != NULL && strcmp(command->name, "overview") == 0)
		return cli_usage(command, "'%s' is too much; try: heapshot %s %s", operand, name,
				 operands[0]);
	return cli_usage(command, "'%s' is too much", operand);
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
		char text[256];
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
		wrong = set(arguments, row, optarg, text, sizeof(text));
		if (wrong != NULL)
			return cli_usage(command, "wrong value '%s' of --%s: %s", optarg, row->name,
					 wrong);
	}
	arguments->n_operands = argc - optind;
	arguments->operands = argv + optind;
	if (arguments->n_operands < min_operands)
		return missing(command, arguments->n_operands, arguments->operands);
	if (max_operands >= 0 && arguments->n_operands > max_operands)
		return too_much(command, arguments->operands, argv[optind + max_operands]);
	return CLI_OK;
}
