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

unsigned text_width(int32_t point)
{
	/* Blocks that are whole or nearly so; a terminal may know more of them. */
	static const struct {
		int32_t first, last;
		unsigned width;
	} blocks[] = {
		{0x300, 0x36F, 0},     {0x483, 0x489, 0},     {0x591, 0x5BD, 0},
		{0x610, 0x61A, 0},     {0x64B, 0x65F, 0},     {0x1100, 0x115F, 2},
		{0x1AB0, 0x1AFF, 0},   {0x1DC0, 0x1DFF, 0},   {0x20D0, 0x20FF, 0},
		{0x2E80, 0x303E, 2},   {0x3041, 0xA4CF, 2},   {0xA960, 0xA97C, 2},
		{0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},
		{0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},   {0xFF01, 0xFF60, 2},
		{0xFFE0, 0xFFE6, 2},   {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2},
		{0x1F900, 0x1F9FF, 2}, {0x20000, 0x3FFFD, 2},
	};
	size_t i;

	for (i = 0; point >= 0x300 && i < sizeof(blocks) / sizeof(*blocks); i++)
		if (point >= blocks[i].first && point <= blocks[i].last)
			return blocks[i].width;
	return 1;
}

static size_t mask(FILE *out, const char *text, size_t most)
{
	size_t columns = 0, width;

	while (*text != '\0') {
		const char *from = text;
		const int32_t point = text_next(&text);
		const bool is_unsafe = text_is_unsafe(point);

		width = is_unsafe ? 1 : text_width(point);
		if (columns + width > most)
			break;
		if (out != NULL && is_unsafe)
			fputc('?', out);
		else if (out != NULL)
			fwrite(from, 1, (size_t)(text - from), out);
		columns += width;
	}
	return columns;
}

size_t text_put_masked(FILE *out, const char *text)
{
	return mask(out, text, SIZE_MAX);
}

size_t text_put_cut(FILE *out, const char *text, size_t columns)
{
	return mask(out, text, columns);
}

size_t text_columns(const char *text)
{
	return mask(NULL, text, SIZE_MAX);
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

/* What is left of LEFT columns behind the blanks from COLUMNS to WIDTH. */
static size_t pad(size_t columns, size_t width, size_t left)
{
	for (; columns < width && left > 0; columns++, left--)
		putchar(' ');
	return left;
}

void text_table_print(const struct text_table *table, const char *const *cells, bool is_title)
{
	bool is_bold = is_title && cli_has_colour();
	size_t left = table->most != 0 ? table->most : SIZE_MAX, i;

	if (is_bold)
		fputs("\033[1m", stdout);
	for (i = 0; table->align[i] != '\0'; i++) {
		if (i > 0)
			left = pad(0, 2, left);
		if (table->align[i] == 'r')
			left = pad(text_columns(cells[i]), table->width[i], left);
		left -= text_put_cut(stdout, cells[i], left);
		if (table->align[i] == 'l' && table->align[i + 1] != '\0')
			left = pad(text_columns(cells[i]), table->width[i], left);
	}
	if (is_bold)
		fputs("\033[0m", stdout);
	putchar('\n');
}
