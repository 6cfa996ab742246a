/* SPDX-License-Identifier: MIT */
/*
 * Masking, numbers and tables.
 */
#include <fnmatch.h>
#include <string.h>
#include <time.h>

#include "contrib/cli/cli.h"
#include "contrib/cli/text.h"
#include "contrib/reader/utf8.h"

int32_t text_next(const char **text)
{
	return hs_utf8_next(text);
}

bool text_is_unsafe(int32_t point)
{
	return point < 0x20 || (point >= 0x7F && point < 0xA0) ||
	       (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
	       (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF || point == 0x61C ||
	       (point & 0xFFFE) == 0xFFFE;
}

static size_t mask(FILE *out, const char *text)
{
	size_t columns = 0;

	while (*text != '\0') {
		const char *from = text;

		if (text_is_unsafe(text_next(&text))) {
			if (out != NULL)
				fputc('?', out);
		} else if (out != NULL) {
			fwrite(from, 1, (size_t)(text - from), out);
		}
		columns++;
	}
	return columns;
}

size_t text_put_masked(FILE *out, const char *text)
{
	return mask(out, text);
}

size_t text_columns(const char *text)
{
	return mask(NULL, text);
}

bool text_matches(const char *name, const char *filter)
{
	char pattern[1024];
	size_t n = 0;

	if (filter == NULL)
		return true;
	if (strpbrk(filter, "*?") == NULL)
		return strstr(name, filter) != NULL;
	/* Brackets are common in names of types, so they are no patterns. */
	for (; *filter != '\0' && n < sizeof(pattern) - 2; filter++) {
		if (*filter == '[' || *filter == '\\')
			pattern[n++] = '\\';
		pattern[n++] = *filter;
	}
	pattern[n] = '\0';
	return fnmatch(pattern, name, 0) == 0;
}

const char *text_case_hint(const char *filter)
{
	bool has_letter = false;

	for (; filter != NULL && *filter != '\0'; filter++) {
		if (*filter >= 'A' && *filter <= 'Z')
			return "";
		has_letter |= *filter >= 'a' && *filter <= 'z';
	}
	return has_letter ? " (upper and lower case count)" : "";
}

const char *text_number(char buffer[TEXT_NUMBER_BYTES], uint64_t number)
{
	char *p = buffer + TEXT_NUMBER_BYTES - 1;
	int digits = 0;

	*p = '\0';
	do {
		if (digits > 0 && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + number % 10);
		number /= 10;
		digits++;
	} while (number > 0);
	return p;
}

const char *text_change(char buffer[TEXT_NUMBER_BYTES], int64_t change)
{
	/* INT64_MIN has no negative; there is room for a sign before all digits. */
	char *text = (char *)(uintptr_t)text_number(buffer, change < 0 ? 0 - (uint64_t)change
								       : (uint64_t)change);

	if (change != 0)
		*--text = change < 0 ? '-' : '+';
	return text;
}

const char *text_share(char buffer[TEXT_SHARE_BYTES], uint64_t part, uint64_t all)
{
	snprintf(buffer, TEXT_SHARE_BYTES, "%.1f %%",
		 all != 0 ? 100.0 * (double)part / (double)all : 0.0);
	return buffer;
}

const char *text_duration(char buffer[TEXT_NUMBER_BYTES], uint64_t ns)
{
	if (ns >= 1000000000)
		snprintf(buffer, TEXT_NUMBER_BYTES, "%.3f s", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(buffer, TEXT_NUMBER_BYTES, "%.3f ms", (double)ns / 1e6);
	else
		snprintf(buffer, TEXT_NUMBER_BYTES, "%.3f us", (double)ns / 1e3);
	return buffer;
}

const char *text_wall_time(char buffer[TEXT_NUMBER_BYTES], uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	struct tm tm;

	if (unix_ns == 0 || localtime_r(&seconds, &tm) == NULL ||
	    strftime(buffer, TEXT_NUMBER_BYTES, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		snprintf(buffer, TEXT_NUMBER_BYTES, "unknown time");
	return buffer;
}

void text_table_measure(struct text_table *table, const char *const *cells)
{
	size_t i;

	/* What stands last needs no width; it may be long. */
	for (i = 0; table->align[i + 1] != '\0'; i++) {
		size_t columns = text_columns(cells[i]);

		if (table->align[i] == 'l' && columns > TEXT_COLUMN_WIDEST)
			columns = TEXT_COLUMN_WIDEST;
		if (columns > table->width[i])
			table->width[i] = columns;
	}
}

static void pad(size_t columns, size_t width)
{
	for (; columns < width; columns++)
		putchar(' ');
}

void text_table_print(const struct text_table *table, const char *const *cells, bool is_title)
{
	bool is_bold = is_title && cli_has_colour();
	size_t i;

	if (is_bold)
		fputs("\033[1m", stdout);
	for (i = 0; table->align[i] != '\0'; i++) {
		if (i > 0)
			fputs("  ", stdout);
		if (table->align[i] == 'r')
			pad(text_columns(cells[i]), table->width[i]);
		text_put_masked(stdout, cells[i]);
		if (table->align[i] == 'l' && table->align[i + 1] != '\0')
			pad(text_columns(cells[i]), table->width[i]);
	}
	if (is_bold)
		fputs("\033[0m", stdout);
	putchar('\n');
}
