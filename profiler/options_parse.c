/* SPDX-License-Identifier: MIT */
/*
 * The parser of an option text, and the nearest name for a misspelt one.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "profiler/options_parse.h"

#define WORD_MAX 32

/* Levenshtein distance of two short words. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[WORD_MAX + 1], i, j;
	const size_t length = strlen(b);

	if (strlen(a) > WORD_MAX || length > WORD_MAX)
		return WORD_MAX;
	for (j = 0; j <= length; j++)
		row[j] = j;
	for (i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= length; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[length];
}

void hs_nearest_word(const char *text, const char *words, char *nearest, size_t size)
{
	unsigned best = 3;

	*nearest = 0;
	while (words && *words) {
		char word[WORD_MAX + 1];
		size_t length = strcspn(words, " ");
		unsigned d;
		if (length < sizeof word) {
			memcpy(word, words, length);
			word[length] = 0;
			d = distance(text, word);
			/* A word that shares nothing is not near, however short it is. */
			if (d < best && d < length) {
				best = d;
				snprintf(nearest, size, "%s", word);
			}
		}
		words += length;
		words += strspn(words, " ");
	}
}

static bool parse_item(struct hs_options *options, char *item, char *message, size_t size)
{
	const struct hs_option *option;
	char *value = strchr(item, '=');
	char names[512] = "", nearest[WORD_MAX + 1];

	if (value)
		*value++ = 0;
	if (!*item) {
		snprintf(message, size, "empty option; options are separated by single commas");
		return false;
	}
	for (option = hs_option_table; option->name; option++) {
		if (strcmp(option->name, item) == 0)
			return hs_option_set(options, option, value, message, size);
		strncat(names, option->name, sizeof names - strlen(names) - 1);
		strncat(names, " ", sizeof names - strlen(names) - 1);
	}
	hs_nearest_word(item, names, nearest, sizeof nearest);
	if (*nearest)
		snprintf(message, size, "unknown option '%.64s' (did you mean '%s'?)", item,
			 nearest);
	else
		snprintf(message, size, "unknown option '%.64s'; option 'help' lists all", item);
	return false;
}

void hs_options_one_line(char *message)
{
	for (; *message; message++)
		if ((unsigned char)*message < ' ' || *message == 127)
			*message = '?';
}

bool hs_options_parse(struct hs_options *options, const char *text, char *message,
		      size_t message_bytes)
{
	char item[HS_OPTIONS_VALUE_MAX + 64], later[256];
	bool is_good = true;

	if (strlen(text) > HS_OPTIONS_TEXT_MAX) {
		snprintf(message, message_bytes, "the option text is longer than %u bytes",
			 HS_OPTIONS_TEXT_MAX);
		return false;
	}
	if (!*text)
		return true;
	for (;;) {
		size_t length = 0;
		bool is_long = false;
		for (; *text && *text != ','; text++) {
			if (*text == '\\' && (text[1] == ',' || text[1] == '\\'))
				text++;
			if (length + 1 < sizeof item)
				item[length++] = *text;
			else
				is_long = true;
		}
		item[length] = 0;
		if (is_long) {
			if (is_good)
				snprintf(message, message_bytes,
					 "option '%.20s...' is longer than %u bytes", item,
					 HS_OPTIONS_VALUE_MAX - 1);
			is_good = false;
		} else if (!parse_item(options, item, is_good ? message : later,
				       is_good ? message_bytes : sizeof later)) {
			is_good = false;
		}
		if (!*text)
			break;
		text++;
	}
	if (!is_good && message_bytes)
		hs_options_one_line(message);
	return is_good;
}
