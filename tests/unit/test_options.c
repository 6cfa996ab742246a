/* SPDX-License-Identifier: MIT */
/*
 * The option language: every option with good and bad values, the grammar, the
 * nearest names, and text -> struct -> text -> struct on random sets.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "profiler/options.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/random.h"

TestSuite(options, .fini = leak_check);

#define N_OF(array) (sizeof(array) / sizeof(*(array)))

static bool parse(struct hs_options *options, const char *text, char message[512])
{
	hs_options_init(options);
	memset(message, 'x', 512);
	message[0] = 0;
	return hs_options_parse(options, text, message, 512);
}

/* One line, ended within its buffer. */
static void check_message(const char message[512], const char *text)
{
	cr_assert(memchr(message, 0, 512) != NULL, "%.60s", text);
	cr_assert(*message, "no message for %.60s", text);
	cr_assert(!strpbrk(message, "\n\r"), "%.60s: %s", text, message);
}

static const struct hs_option *row_of(const char *name)
{
	const struct hs_option *option;

	for (option = hs_option_table; option->name; option++)
		if (strcmp(option->name, name) == 0)
			return option;
	return NULL;
}

Test(options, defaults)
{
	struct hs_options options;

	memset(&options, 0xff, sizeof options);
	hs_options_init(&options);
	cr_assert_str_eq(options.output, "%p.hs");
	cr_assert_str_eq(options.control, "auto");
	cr_assert_eq(options.when, HS_WHEN_SHUTDOWN | HS_WHEN_TERM);
	cr_assert_eq(options.events, HS_EVENTS_GC | HS_EVENTS_TYPES | HS_EVENTS_JIT |
					     HS_EVENTS_COUNTERS | HS_EVENTS_THREADS);
	cr_assert_eq(options.memory_bytes, 3u << 20);
	cr_assert(!options.every_gcs && !options.every_ms && !options.at_bytes && !options.signal);
	cr_assert(!options.max_snapshots && !options.max_size_bytes && !options.strings);
	cr_assert(!options.strict && !options.quiet && !options.overwrite && !options.help);
}

/* clang-format off */
#define NUMBER(text, member, value) {text, offsetof(struct hs_options, member), sizeof(((struct hs_options *)0)->member), value}
/* clang-format on */

Test(options, good_numbers)
{
	static const struct {
		const char *text;
		size_t offset, size;
		uint64_t value;
	} cases[] = {
		NUMBER("snapshot=shutdown", when, HS_WHEN_SHUTDOWN),
		NUMBER("snapshot=term", when, HS_WHEN_TERM),
		NUMBER("snapshot=gc+oom", when, HS_WHEN_GC | HS_WHEN_OOM),
		NUMBER("snapshot=none", when, HS_WHEN_NONE),
		NUMBER("snapshot=gc+gc", when, HS_WHEN_GC),
		NUMBER("snapshot=7gc", every_gcs, 7),
		NUMBER("snapshot=7gc", when, HS_WHEN_EVERY_GCS),
		NUMBER("snapshot=250ms", every_ms, 250),
		NUMBER("snapshot=gc+3s", every_ms, 3000),
		NUMBER("snapshot=gc+3s", when, HS_WHEN_GC | HS_WHEN_EVERY_TIME),
		NUMBER("snapshot=18446744073709551615gc", every_gcs, UINT64_MAX),
		NUMBER("snapshot=4294967s", every_ms, UINT64_C(4294967000)),
		NUMBER("events=none", events, 0),
		NUMBER("events=moves+handles", events, HS_EVENTS_MOVES | HS_EVENTS_HANDLES),
		NUMBER("events=methods", events, HS_EVENTS_METHODS),
		NUMBER("events=gc+types+jit+counters+threads+moves+handles", events,
		       HS_EVENTS_GC | HS_EVENTS_TYPES | HS_EVENTS_JIT | HS_EVENTS_COUNTERS |
			       HS_EVENTS_THREADS | HS_EVENTS_MOVES | HS_EVENTS_HANDLES),
		NUMBER("at=500m", at_bytes, UINT64_C(500) << 20),
		NUMBER("at=1", at_bytes, 1),
		NUMBER("at=7KB", at_bytes, 7168),
		NUMBER("at=7kib", at_bytes, 7168),
		NUMBER("at=2T", at_bytes, UINT64_C(2) << 40),
		NUMBER("at=18446744073709551615", at_bytes, UINT64_MAX),
		NUMBER("at=16777215t", at_bytes, UINT64_C(16777215) << 40),
		NUMBER("signal=USR2", signal, SIGUSR2),
		NUMBER("signal=SIGUSR1", signal, SIGUSR1),
		NUMBER("signal=sighup", signal, SIGHUP),
		NUMBER("memory=2m", memory_bytes, 2u << 20),
		NUMBER("memory=1g", memory_bytes, 1u << 30),
		NUMBER("memory=4000000", memory_bytes, 4000000),
		NUMBER("max-snapshots=1", max_snapshots, 1),
		NUMBER("max-snapshots=4294967295", max_snapshots, UINT32_MAX),
		NUMBER("max-size=10g", max_size_bytes, UINT64_C(10) << 30),
		NUMBER("strings=0000000000000000000040", strings, 40),
		NUMBER("strings=4096", strings, 4096),
		NUMBER("strict", strict, 1),
		NUMBER("quiet", quiet, 1),
		NUMBER("overwrite", overwrite, 1),
		NUMBER("help", help, 1),
		NUMBER("quiet,quiet", quiet, 1),
		/* The last mention wins, and replaces a list as a whole. */
		NUMBER("strings=5,strings=6", strings, 6),
		NUMBER("snapshot=gc,snapshot=oom", when, HS_WHEN_OOM),
		NUMBER("events=none,quiet,events=jit", events, HS_EVENTS_JIT),
	};
	struct hs_options options;
	char message[512];
	size_t i;

	for (i = 0; i < N_OF(cases); i++) {
		const unsigned char *member = (const unsigned char *)&options + cases[i].offset;
		uint64_t value = 0;
		cr_assert(parse(&options, cases[i].text, message), "%s: %s", cases[i].text,
			  message);
		memcpy(&value, member, cases[i].size);
		cr_assert_eq(value, cases[i].value, "%s: %llu", cases[i].text,
			     (unsigned long long)value);
	}
	cr_assert(parse(&options, "signal=RTMIN+3", message) && options.signal == SIGRTMIN + 3);
	cr_assert(parse(&options, "", message));
}

Test(options, good_texts)
{
	static const struct {
		const char *text, *output;
	} cases[] = {
		{"output=a.hs", "a.hs"},
		{"quiet,output=a.hs,strict", "a.hs"},
		{"output=a\\,b.hs", "a,b.hs"},
		{"output=a\\\\b.hs", "a\\b.hs"},
		{"output=a\\\\,quiet", "a\\"},
		{"output=a\\nb\\", "a\\nb\\"},
		{"output=\\\\\\,", "\\,"},
		{"output=a=b=c", "a=b=c"},
		{"output=\"a b\"'c'", "\"a b\"'c'"},
		{"output= a ", " a "},
		{"output=\xc3\xa4\xe6\x97\xa5\xf0\x9f\x92\xa9",
		 "\xc3\xa4\xe6\x97\xa5\xf0\x9f\x92\xa9"},
		{"output=\xff\xfe", "\xff\xfe"},
		{"output=|lz4 -d > \"x\\,y\"", "|lz4 -d > \"x,y\""},
		{"output=#3", "#3"},
		{"output=a+b", "a+b"},
		{"output=%p-%t-%%.hs", "%p-%t-%%.hs"},
		{"output=a,output=b", "b"},
	};
	struct hs_options options;
	char message[512];
	size_t i;

	for (i = 0; i < N_OF(cases); i++) {
		cr_assert(parse(&options, cases[i].text, message), "%s: %s", cases[i].text,
			  message);
		cr_assert_str_eq(options.output, cases[i].output);
	}
	cr_assert(parse(&options, "control=off", message));
	cr_assert_str_eq(options.control, "off");
	cr_assert(parse(&options, "control=/run/x.sock", message));
	cr_assert_str_eq(options.control, "/run/x.sock");
}

Test(options, mistakes)
{
	static const struct {
		const char *text, *says, *says_too;
	} cases[] = {
		{"outptu=x", "'outptu'", "'output'"},
		{"Output=x", "'Output'", "'output'"},
		{"snapshots=gc", "'snapshots'", "'snapshot'"},
		{"snapshot=gcc", "'gcc'", "'gc'"},
		{"snapshot=shutdwn", "'shutdwn'", "'shutdown'"},
		{"events=gc+tpyes", "'tpyes'", "'types'"},
		{"strct", "'strct'", "'strict'"},
		{"max-snapshot=1", "'max-snapshot'", "'max-snapshots'"},
		{"fantasy=1", "'fantasy'", "help"},
		{"=1", "empty", ""},
		{",", "empty", ""},
		{"quiet,", "empty", ""},
		{",quiet", "empty", ""},
		{"quiet,,strict", "empty", ""},
		{" quiet", "' quiet'", "'quiet'"},
		{"output", "'output'", "output=PATH"},
		{"output=", "'output'", "output=PATH"},
		{"snapshot", "'snapshot'", "snapshot=WHEN"},
		{"snapshot=", "'snapshot'", "snapshot=WHEN"},
		{"snapshot=+", "'snapshot'", "shutdown"},
		{"snapshot=gc+", "'snapshot'", "shutdown"},
		{"snapshot=gc++oom", "'snapshot'", "shutdown"},
		{"snapshot=none+gc", "none", "alone"},
		{"snapshot=none+5s", "none", "alone"},
		{"snapshot=0gc", "'0gc'", "Ngc"},
		{"snapshot=0s", "'0s'", "Ns"},
		{"snapshot=-1s", "'-1s'", "Ns"},
		{"snapshot=5", "'5'", "Ns"},
		{"snapshot=5m", "'5m'", "Ns"},
		{"snapshot=5 s", "'5 s'", "Ns"},
		{"snapshot=99999999999999999999s", "'99999999999999999999s'", "Ns"},
		{"snapshot=18446744073709551615s", "'18446744073709551615s'", "Ns"},
		{"snapshot=4294967296ms", "'4294967296ms'", "Nms"},
		{"methods=", "'methods'", "methods=code"},
		{"methods=none", "'none'", "takes code"},
		{"events=", "'events'", "events=LIST"},
		{"events=all", "'all'", "takes gc"},
		{"at=0", "'0'", "at=500m"},
		{"at=", "'at'", "at=SIZE"},
		{"at=5x", "'5x'", "at=500m"},
		{"at=-1", "'-1'", "at=500m"},
		{"at=80%", "at=80%", "browser"},
		{"at=0%", "'0%'", "at=500m"},
		{"at=5kk", "'5kk'", "at=500m"},
		{"at=5ib", "'5ib'", "at=500m"},
		{"at=5b", "'5b'", "at=500m"},
		{"at=18446744073709551616", "'18446744073709551616'", "at=500m"},
		{"at=16777216t", "'16777216t'", "at=500m"},
		{"signal=KILL", "'KILL'", "USR1"},
		{"signal=12", "'12'", "USR1"},
		{"signal=", "'signal'", "signal=NAME"},
		{"signal=RTMIN+", "'RTMIN+'", "RTMIN+N"},
		{"signal=RTMIN+999", "'RTMIN+999'", "RTMIN+N"},
		{"memory=1", "memory=1", "out of range"},
		{"memory=2g", "memory=2g", "out of range"},
		{"memory=99999999999g", "'99999999999g'", "64k"},
		{"memory=3mm", "'3mm'", "64k"},
		{"memory=m", "'m'", "64k"},
		{"max-snapshots=0", "max-snapshots=0", "out of range"},
		{"max-snapshots=-1", "'-1'", "number"},
		{"max-snapshots=4294967296", "4294967296", "out of range"},
		{"max-snapshots=12345678901234567890", "12345678901234567890", "out of range"},
		{"max-snapshots=99999999999999999999", "'99999999999999999999'", "number"},
		{"max-snapshots=5x", "'5x'", "number"},
		{"max-snapshots=1k", "'1k'", "number"},
		{"max-size=0", "max-size=0", "out of range"},
		{"max-size=5x", "'5x'", "size"},
		{"strings=4097", "strings=4097", "out of range"},
		{"strings=0x10", "'0x10'", "number"},
		{"fork=alway", "'alway'", "'always'"},
		{"fork=", "'fork'", "auto, never or always"},
		{"fork=auto+never", "'auto+never'", "auto, never or always"},
		{"ring=8", "ring=8", "out of range"},
		{"ring=1023k", "ring=1023k", "1048576"},
		{"ring=2g", "ring=2g", "1073741824"},
		{"ring=big", "'big'", "64k"},
		{"ring", "'ring'", "needs a value"},
		{"quiet=yes", "'quiet'", "no value"},
		{"strict=", "'strict'", "no value"},
		/* The first mistake is the one that is told. */
		{"outptu=x,memory=1", "'outptu'", "'output'"},
	};
	struct hs_options options;
	char message[512];
	size_t i;

	for (i = 0; i < N_OF(cases); i++) {
		cr_assert(!parse(&options, cases[i].text, message), "%s is accepted",
			  cases[i].text);
		check_message(message, cases[i].text);
		cr_assert(strstr(message, cases[i].says) && strstr(message, cases[i].says_too),
			  "%s: %s", cases[i].text, message);
	}
}

/* What stands around a mistake counts, a refused value changes nothing. */
Test(options, a_mistake_spoils_only_its_option)
{
	struct hs_options options;
	char message[512], small[24];

	cr_assert(!parse(&options, "output=a.hs,snapshot=gc+gcc,strict,events=none+x,quiet",
			 message));
	cr_assert(strstr(message, "'gcc'") != NULL);
	cr_assert(options.strict && options.quiet);
	cr_assert_str_eq(options.output, "a.hs");
	cr_assert_eq(options.when, HS_WHEN_SHUTDOWN | HS_WHEN_TERM);
	cr_assert_eq(options.every_gcs, 0);
	cr_assert(options.events & HS_EVENTS_GC);
	cr_assert(!parse(&options, "snapshot=5gc+none", message));
	cr_assert_eq(options.every_gcs, 0);

	/* A message is bounded by its buffer. */
	memset(small, 'x', sizeof small);
	hs_options_init(&options);
	cr_assert(!hs_options_parse(&options, "outptu=x", small, 16));
	cr_assert_eq(small[15], 0);
	cr_assert_eq(small[16], 'x');
}

Test(options, the_command_line_wins_over_the_environment)
{
	struct hs_options options;
	char message[512];

	hs_options_init(&options);
	cr_assert(hs_options_parse(&options, "output=env.hs,snapshot=gc+5s,strings=7,quiet",
				   message, sizeof message));
	cr_assert(
		hs_options_parse(&options, "output=line.hs,snapshot=oom", message, sizeof message));
	cr_assert_str_eq(options.output, "line.hs");
	cr_assert_eq(options.when, HS_WHEN_OOM);
	cr_assert_eq(options.strings, 7);
	cr_assert(options.quiet);
}

Test(options, long_texts)
{
	static char text[100 * 1024 + 1];
	struct hs_options options;
	char message[512];
	size_t i;

	/* The longest value that fits, and one more. */
	memset(text, 'y', sizeof text - 1);
	memcpy(text, "output=", 7);
	text[7 + HS_OPTIONS_VALUE_MAX - 1] = 0;
	cr_assert(parse(&options, text, message), "%s", message);
	cr_assert_eq(strlen(options.output), HS_OPTIONS_VALUE_MAX - 1);
	text[7 + HS_OPTIONS_VALUE_MAX - 1] = 'y';
	for (i = 7 + HS_OPTIONS_VALUE_MAX; i < sizeof text; i += i < 5000 ? 1 : 9973) {
		text[i] = 0;
		cr_assert(!parse(&options, text, message), "%zu bytes", i);
		check_message(message, "output=yyy");
		cr_assert_str_eq(options.output, "%p.hs");
		text[i] = 'y';
	}
	/* Long names, and long lists. */
	memset(text, 'z', sizeof text - 1);
	text[3000] = 0;
	cr_assert(!parse(&options, text, message));
	check_message(message, "zzz");
	memcpy(text, "snapshot=", 9);
	for (i = 9; i + 3 < sizeof text; i += 3)
		memcpy(text + i, "gc+", 3);
	text[4000] = 0;
	parse(&options, text, message);
	text[4000] = 'g';
	text[sizeof text - 2] = 0;
	cr_assert(!parse(&options, text, message));
	check_message(message, "snapshot=gc+gc+");
	/* Many options are as good as few. */
	for (i = 0; i + 6 < HS_OPTIONS_TEXT_MAX; i += 6)
		memcpy(text + i, "quiet,", 6);
	memcpy(text + i - 6, "strict", 7);
	cr_assert(parse(&options, text, message), "%s", message);
	cr_assert(options.strict && options.quiet);
}

static void random_options(struct hs_options *options, char *text, size_t size)
{
	static const char *const pieces[] = {
		/* clang-format off */
		"output=a.hs", "output=|cat \\\\\\,>x", "output=\xc3\xa4=\\,", "output=#3", "output=\\\\",
		"snapshot=none", "snapshot=gc+oom", "snapshot=shutdown+term+99gc+5s",
		"snapshot=1ms", "snapshot=18446744073709551615gc", "at=1", "at=5t", "at=500m",
		"signal=HUP", "signal=RTMIN+0", "signal=RTMIN+5", "signal=WINCH", "control=off",
		"control=/a\\,b", "events=none", "events=moves+handles", "events=gc", "memory=2m",
		"memory=1g", "max-snapshots=1", "max-snapshots=4294967295", "max-size=1",
		"max-size=18446744073709551615", "strings=1", "strings=4096", "strict", "quiet",
		"overwrite", "help",
		/* clang-format on */
	};
	char message[512];
	size_t i, n = random_below(8), length = 0;

	text[0] = 0;
	for (i = 0; i < n; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i ? "," : "",
					   pieces[random_below(N_OF(pieces))]);
	hs_options_init(options);
	cr_assert(hs_options_parse(options, text, message, sizeof message), "%s: %s", text,
		  message);
}

/* Members that are off in one may hold rests in the other: only what counts is compared. */
static bool is_same(const struct hs_options *a, const struct hs_options *b)
{
	return strcmp(a->output, b->output) == 0 && strcmp(a->control, b->control) == 0 &&
	       a->when == b->when && a->events == b->events &&
	       (!(a->when & HS_WHEN_EVERY_GCS) || a->every_gcs == b->every_gcs) &&
	       (!(a->when & HS_WHEN_EVERY_TIME) || a->every_ms == b->every_ms) &&
	       a->at_bytes == b->at_bytes && a->signal == b->signal &&
	       a->memory_bytes == b->memory_bytes && a->max_snapshots == b->max_snapshots &&
	       a->max_size_bytes == b->max_size_bytes && a->strings == b->strings &&
	       a->strict == b->strict && a->quiet == b->quiet && a->overwrite == b->overwrite &&
	       a->help == b->help;
}

Test(options, formatted_options_parse_to_the_same)
{
	static char given[4096], text[2 * HS_OPTIONS_VALUE_MAX], cut[2 * HS_OPTIONS_VALUE_MAX];
	struct hs_options options, again;
	char message[512];
	size_t length, size;
	int i;

	random_start("options");
	for (i = 0; i < 3000; i++) {
		random_options(&options, given, sizeof given);
		length = hs_options_format(&options, text, sizeof text);
		cr_assert_eq(length, strlen(text));
		hs_options_init(&again);
		cr_assert(hs_options_parse(&again, text, message, sizeof message), "%s -> %s: %s",
			  given, text, message);
		cr_assert(is_same(&options, &again), "%s -> %s", given, text);
		/* A short buffer gets the beginning, and the length stays that of the whole. */
		size = random_below(length + 2);
		memset(cut, '!', sizeof cut);
		cr_assert_eq(hs_options_format(&options, cut, size), length);
		cr_assert_eq(cut[size], '!');
		if (size) {
			cr_assert_eq(strlen(cut), size - 1 < length ? size - 1 : length);
			cr_assert_eq(strncmp(cut, text, strlen(cut)), 0);
		}
	}
	hs_options_init(&options);
	cr_assert_eq(hs_options_format(&options, text, sizeof text), 0);
	cr_assert_str_eq(text, "");
}

Test(options, help_lists_every_row)
{
	char text[8192], entry[64], small[100];
	const struct hs_option *option;
	const size_t length = hs_options_help(text, sizeof text);
	int n = 0;

	cr_assert_eq(length, strlen(text));
	cr_assert_eq(hs_options_help(small, sizeof small), length);
	cr_assert_eq(strlen(small), sizeof small - 1);
	for (option = hs_option_table; option->name; option++, n++) {
		snprintf(entry, sizeof entry, "\n  %s%s%s\n", option->name,
			 option->value ? "=" : "", option->value ? option->value : "");
		cr_assert(strstr(text, entry) != NULL, "%s", option->name);
		cr_assert(strstr(text, option->help) != NULL, "%s", option->name);
		cr_assert(row_of(option->name) == option, "%s stands twice", option->name);
	}
	cr_assert_geq(n, 17);
}

/* What completion offers must be accepted, alone. */
Test(options, every_word_of_the_table_is_accepted)
{
	const struct hs_option *option;
	struct hs_options options;
	char text[128], message[512];

	for (option = hs_option_table; option->name; option++) {
		const char *word = option->words;
		while (word && *word) {
			int length = (int)strcspn(word, " ");
			snprintf(text, sizeof text, "%s=%.*s", option->name, length, word);
			cr_assert(parse(&options, text, message), "%s: %s", text, message);
			word += length;
			word += strspn(word, " ");
		}
		if (option->initial) {
			snprintf(text, sizeof text, "%s=%s", option->name, option->initial);
			cr_assert(parse(&options, text, message), "%s: %s", text, message);
		}
	}
}

/* An embedder may write it to a log of lines. */
Test(options, a_message_is_one_line)
{
	static const char *const texts[] = {"out\nput=x",  "snapshot=g\rc", "signal=\x1b[2J\n",
					    "memory=1\n2", "max-size=x\n",  "at=\n",
					    "events=a\x7f"};
	struct hs_options options;
	char message[512];
	const char *c;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		cr_assert_not(parse(&options, texts[i], message), "%zu", i);
		for (c = message; *c; c++)
			cr_assert((unsigned char)*c >= ' ' && *c != 127, "%zu: %s", i, message);
	}
}
