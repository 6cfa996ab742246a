/* SPDX-License-Identifier: MIT */
/*
 * Values of options: numbers, sizes, lists of words, signals.
 */
#include "config.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "profiler/options_parse.h"

struct word {
	const char *name;
	uint32_t bit;
};

static const struct word when_words[] = {
	{"shutdown", HS_WHEN_SHUTDOWN}, {"term", HS_WHEN_TERM}, {"gc", HS_WHEN_GC},
	{"oom", HS_WHEN_OOM},           {"none", HS_WHEN_NONE}, {NULL, 0},
};

static const struct word event_words[] = {
	{"gc", HS_EVENTS_GC},
	{"types", HS_EVENTS_TYPES},
	{"jit", HS_EVENTS_JIT},
	{"methods", HS_EVENTS_METHODS},
	{"moves", HS_EVENTS_MOVES},
	{"handles", HS_EVENTS_HANDLES},
	{"counters", HS_EVENTS_COUNTERS},
	{"threads", HS_EVENTS_THREADS},
	{"none", 0},
	{NULL, 0},
};

static const struct word signal_words[] = {
	{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},   {"USR1", SIGUSR1},
	{"USR2", SIGUSR2}, {"ALRM", SIGALRM}, {"WINCH", SIGWINCH}, {NULL, 0},
};

static bool fail(char *message, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool fail(char *message, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, size, format, arguments);
	va_end(arguments);
	return false;
}

/* Decimal digits; *end behind them.  False for none, or a value over 64 bits. */
static bool parse_digits(const char *text, uint64_t *number, const char **end)
{
	const char *at = text;
	uint64_t value = 0;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return false;
	*number = value;
	*end = at;
	return at != text;
}

/* 4096, 64k, 3MB, 1GiB: binary units. */
static bool parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "kmgt";
	const char *end, *unit;
	uint64_t number;
	unsigned shift = 0;

	if (!parse_digits(text, &number, &end))
		return false;
	if (*end && (unit = strchr(units, *end | 0x20)) && *unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
		if (strcasecmp(end, "ib") == 0)
			end += 2;
	}
	if (shift && (*end | 0x20) == 'b')
		end++;
	if (*end || (shift && number >> (64 - shift)))
		return false;
	*bytes = number << shift;
	return true;
}

int hs_signal_number(const char *name)
{
	const struct word *word;
	const char *end;
	uint64_t number;

	if (strncasecmp(name, "SIG", 3) == 0)
		name += 3;
	for (word = signal_words; word->name; word++)
		if (strcasecmp(name, word->name) == 0)
			return (int)word->bit;
	if (strncasecmp(name, "RTMIN+", 6) == 0 && parse_digits(name + 6, &number, &end) && !*end &&
	    number <= (uint64_t)(SIGRTMAX - SIGRTMIN))
		return SIGRTMIN + (int)number;
	return 0;
}

static const char *find_word(const struct word *words, const char *name, uint32_t *bit)
{
	for (; words->name; words++)
		if (strcmp(words->name, name) == 0) {
			*bit = words->bit;
			return words->name;
		}
	return NULL;
}

/* 10gc, 500ms, 30s. */
static bool parse_every(struct hs_options *options, const char *item)
{
	const char *unit;
	uint64_t number;

	if (!parse_digits(item, &number, &unit) || number == 0)
		return false;
	if (strcmp(unit, "gc") == 0) {
		options->every_gcs = number;
		options->when |= HS_WHEN_EVERY_GCS;
		return true;
	}
	if (strcmp(unit, "s") == 0) {
		if (__builtin_mul_overflow(number, 1000, &number))
			return false;
	} else if (strcmp(unit, "ms") != 0) {
		return false;
	}
	if (number > UINT32_MAX)
		return false;
	options->every_ms = number;
	options->when |= HS_WHEN_EVERY_TIME;
	return true;
}

/* A list of words separated by `+`. */
static bool parse_list(struct hs_options *options, const struct hs_option *option,
		       const char *value, char *message, size_t size)
{
	const bool is_when = option->type == HS_OPTION_WHEN;
	const struct hs_options before = *options;
	uint32_t bits = 0, bit;
	char item[64], nearest[64];

	if (is_when)
		options->when = 0;
	for (;;) {
		size_t length = strcspn(value, "+");
		if (length >= sizeof item)
			length = sizeof item - 1;
		memcpy(item, value, length);
		item[length] = 0;
		if (find_word(is_when ? when_words : event_words, item, &bit)) {
			bits |= bit;
		} else if (!is_when || !parse_every(options, item)) {
			*options = before;
			hs_nearest_word(item, option->words, nearest, sizeof nearest);
			return fail(message, size,
				    "'%s' is no value of option '%s'%s%s%s; it takes %s%s", item,
				    option->name, *nearest ? " (did you mean '" : "", nearest,
				    *nearest ? "'?)" : "", option->words,
				    is_when ? ", Ngc, Nms and Ns, joined by +" : ", joined by +");
		}
		value += strcspn(value, "+");
		if (!*value)
			break;
		value++;
	}
	if (is_when) {
		options->when |= bits;
		if ((options->when & HS_WHEN_NONE) && options->when != HS_WHEN_NONE) {
			*options = before;
			return fail(message, size, "option 'snapshot' takes 'none' only alone");
		}
	} else {
		options->events = bits;
	}
	return true;
}

static bool parse_at(struct hs_options *options, const char *value, char *message, size_t size)
{
	const char *end;
	uint64_t number;

	if (parse_digits(value, &number, &end) && strcmp(end, "%") == 0 && number >= 1 &&
	    number <= 99) {
#ifdef __EMSCRIPTEN__
		options->at_percent = (uint32_t)number;
		return true;
#else
		return fail(
			message, size,
			"at=%s is for the browser, where memory has a maximum; give a size, as in at=500m",
			value);
#endif
	}
	if (!parse_size(value, &number) || number == 0)
		return fail(message, size,
			    "'%s' is no size for option 'at'; write it as in at=500m", value);
	options->at_bytes = number;
	return true;
}

/* The position of VALUE among the option's words, or -1. */
static int choice_of(const struct hs_option *option, const char *value)
{
	const size_t length = strlen(value);
	const char *word = option->words;
	int n;

	for (n = 0; *word; n++) {
		if (strcspn(word, " ") == length && memcmp(word, value, length) == 0)
			return n;
		word += strcspn(word, " ");
		word += strspn(word, " ");
	}
	return -1;
}

static bool parse_choice(struct hs_options *options, const struct hs_option *option,
			 const char *value, char *message, size_t size)
{
	const int choice = choice_of(option, value);
	char nearest[64];

	if (choice < 0) {
		hs_nearest_word(value, option->words, nearest, sizeof nearest);
		return fail(message, size, "'%.64s' is no value of option '%s'%s%s%s; it takes %s",
			    value, option->name, *nearest ? ", did you mean '" : "", nearest,
			    *nearest ? "'?" : "", option->value);
	}
	*(uint32_t *)(void *)((char *)options + option->offset) = (uint32_t)choice;
	return true;
}

static void get_choice(const struct hs_option *option, uint32_t choice, char *value, size_t size)
{
	const char *word = option->words;

	for (; choice; choice--) {
		word += strcspn(word, " ");
		word += strspn(word, " ");
	}
	snprintf(value, size, "%.*s", (int)strcspn(word, " "), word);
}

bool hs_option_set(struct hs_options *options, const struct hs_option *option, const char *value,
		   char *message, size_t size)
{
	char *member = (char *)options + option->offset;
	const char *end;
	uint64_t number;
	bool is_number;

	if (option->type == HS_OPTION_FLAG) {
		if (value)
			return fail(message, size, "option '%s' takes no value", option->name);
		*(bool *)(void *)member = true;
		return true;
	}
	if (!value || !*value)
		return fail(message, size, "option '%s' needs a value: %s=%s", option->name,
			    option->name, option->value);
	switch (option->type) {
	case HS_OPTION_TEXT:
		if (strlen(value) >= HS_OPTIONS_VALUE_MAX)
			return fail(message, size,
				    "the value of option '%s' is longer than %u bytes",
				    option->name, HS_OPTIONS_VALUE_MAX - 1);
		strcpy(member, value);
		return true;
	case HS_OPTION_WHEN:
	case HS_OPTION_EVENTS:
		return parse_list(options, option, value, message, size);
	case HS_OPTION_AT:
		return parse_at(options, value, message, size);
	case HS_OPTION_METHODS:
		*(bool *)(void *)member = strcmp(value, "code") == 0;
		return *(bool *)(void *)member ||
		       fail(message, size, "'%s' is no value of option '%s'; it takes code", value,
			    option->name);
	case HS_OPTION_CHOICE:
		return parse_choice(options, option, value, message, size);
	case HS_OPTION_SIGNAL:
		options->signal = hs_signal_number(value);
		return options->signal ||
		       fail(message, size,
			    "'%s' is no signal for option 'signal'; it takes HUP, INT, QUIT, USR1, USR2, "
			    "ALRM, WINCH or RTMIN+N",
			    value);
	default:
		is_number = option->type == HS_OPTION_SIZE
				    ? parse_size(value, &number)
				    : parse_digits(value, &number, &end) && !*end;
		if (!is_number)
			return fail(
				message, size, "'%s' is no %s for option '%s'%s", value,
				option->type == HS_OPTION_SIZE ? "size" : "number", option->name,
				option->type == HS_OPTION_SIZE ? "; write it as in 64k, 3m or 1g"
							       : "");
		if (number < option->low || number > option->high)
			return fail(message, size, "%s=%s is out of range: it takes %llu to %llu",
				    option->name, value, (unsigned long long)option->low,
				    (unsigned long long)option->high);
		*(uint64_t *)(void *)member = number;
		return true;
	}
}

static void get_list(const struct hs_options *options, const struct hs_option *option, char *value,
		     size_t size)
{
	const bool is_when = option->type == HS_OPTION_WHEN;
	const struct word *word = is_when ? when_words : event_words;
	uint32_t bits = is_when ? options->when : options->events;
	size_t length = 0;

	if (!is_when && !bits)
		snprintf(value, size, "none");
	for (; word->name; word++)
		if (bits & word->bit)
			length += (size_t)snprintf(value + length, size - length, "%s%s",
						   length ? "+" : "", word->name);
	if (is_when && (bits & HS_WHEN_EVERY_GCS))
		length +=
			(size_t)snprintf(value + length, size - length, "%s%llugc",
					 length ? "+" : "", (unsigned long long)options->every_gcs);
	if (is_when && (bits & HS_WHEN_EVERY_TIME))
		snprintf(value + length, size - length, "%s%llums", length ? "+" : "",
			 (unsigned long long)options->every_ms);
}

void hs_option_get(const struct hs_options *options, const struct hs_option *option, char *value,
		   size_t size)
{
	const char *member = (const char *)options + option->offset;
	uint64_t number;

	*value = 0;
	switch (option->type) {
	case HS_OPTION_TEXT:
		snprintf(value, size, "%s", member);
		break;
	case HS_OPTION_WHEN:
	case HS_OPTION_EVENTS:
		get_list(options, option, value, size);
		break;
	case HS_OPTION_AT:
		if (options->at_percent)
			snprintf(value, size, "%u%%", options->at_percent);
		else if (options->at_bytes)
			snprintf(value, size, "%llu", (unsigned long long)options->at_bytes);
		break;
	case HS_OPTION_SIGNAL:
		if (options->signal >= SIGRTMIN)
			snprintf(value, size, "RTMIN+%d", options->signal - SIGRTMIN);
		for (const struct word *word = signal_words; word->name; word++)
			if ((int)word->bit == options->signal)
				snprintf(value, size, "%s", word->name);
		break;
	case HS_OPTION_SIZE:
	case HS_OPTION_NUMBER:
		memcpy(&number, member, sizeof number);
		if (number)
			snprintf(value, size, "%llu", (unsigned long long)number);
		break;
	case HS_OPTION_CHOICE:
		get_choice(option, *(const uint32_t *)(const void *)member, value, size);
		break;
	case HS_OPTION_FLAG:
		snprintf(value, size, "%s", *(const bool *)(const void *)member ? "yes" : "");
		break;
	case HS_OPTION_METHODS:
		snprintf(value, size, "%s", *(const bool *)(const void *)member ? "code" : "");
		break;
	}
}
