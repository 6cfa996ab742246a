/* SPDX-License-Identifier: MIT */
/*
 * The JSON writer.  Text is made valid UTF-8 (U+FFFD for what is not), and what
 * could change a terminal is escaped.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contrib/cli/json.h"
#include "contrib/cli/text.h"

/* Puts what belongs before a value or a key. */
static void before(struct json *json)
{
	if (json->is_named) {
		json->is_named = false;
		return;
	}
	if (json->has_items[json->depth])
		putchar(',');
	if (json->is_row_array[json->depth])
		putchar('\n');
	json->has_items[json->depth] = true;
}

void json_begin(struct json *json, char bracket)
{
	before(json);
	putchar(bracket);
	if (json->depth < JSON_DEPTH_MAX)
		json->depth++;
	json->has_items[json->depth] = false;
	json->is_row_array[json->depth] = false;
}

void json_begin_rows(struct json *json)
{
	json_begin(json, '[');
	json->is_row_array[json->depth] = true;
}

void json_end(struct json *json, char bracket)
{
	if (json->is_row_array[json->depth] && json->has_items[json->depth])
		putchar('\n');
	putchar(bracket);
	if (json->depth > 0)
		json->depth--;
}

static void put_string(const char *text, size_t bytes)
{
	const char *end = text + bytes;

	putchar('"');
	while (text < end) {
		const char *from = text;
		int32_t point = text_next(&text);

		if (point < 0)
			fputs("\xEF\xBF\xBD", stdout);
		else if (point == '"' || point == '\\')
			printf("\\%c", (char)point);
		else if (text_is_unsafe(point) && point <= 0xFFFF)
			printf("\\u%04x", (unsigned)point);
		else
			fwrite(from, 1, (size_t)(text - from), stdout);
	}
	putchar('"');
}

void json_key(struct json *json, const char *key)
{
	before(json);
	put_string(key, strlen(key));
	putchar(':');
	json->is_named = true;
}

void json_text_bytes(struct json *json, const char *text, size_t bytes)
{
	before(json);
	put_string(text, bytes);
}

void json_text(struct json *json, const char *text)
{
	if (text == NULL)
		json_null(json);
	else
		json_text_bytes(json, text, strlen(text));
}

void json_unsigned(struct json *json, uint64_t number)
{
	before(json);
	printf("%" PRIu64, number);
}

void json_signed(struct json *json, int64_t number)
{
	before(json);
	printf("%" PRId64, number);
}

void json_double(struct json *json, double number)
{
	before(json);
	if (isfinite(number))
		printf("%.17g", number);
	else
		fputs("null", stdout);
}

void json_bool(struct json *json, bool value)
{
	before(json);
	fputs(value ? "true" : "false", stdout);
}

void json_null(struct json *json)
{
	before(json);
	fputs("null", stdout);
}

void json_line(struct json *json)
{
	putchar('\n');
	json->has_items[json->depth] = false;
}

void json_put_text(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_text(json, text);
}

void json_put_unsigned(struct json *json, const char *key, uint64_t number)
{
	json_key(json, key);
	json_unsigned(json, number);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

void json_put_known(struct json *json, const char *key, bool is_known, uint64_t number)
{
	json_key(json, key);
	if (is_known)
		json_unsigned(json, number);
	else
		json_null(json);
}
