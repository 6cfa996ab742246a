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

static inline FILE *stream(const struct json *json)
{
	return json->out != NULL ? json->out : stdout;
}

/* Puts what belongs before a value or a key. */
static void before(struct json *json)
{
	if (json->is_named) {
		json->is_named = false;
		return;
	}
	if (json->has_items[json->depth])
		putc(',', stream(json));
	if (json->is_row_array[json->depth])
		putc('\n', stream(json));
	json->has_items[json->depth] = true;
}

void json_begin(struct json *json, char bracket)
{
	before(json);
	putc(bracket, stream(json));
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
		putc('\n', stream(json));
	putc(bracket, stream(json));
	if (json->depth > 0)
		json->depth--;
}

static void put_string(const struct json *json, const char *text, size_t bytes)
{
	/* An empty text may be nowhere. */
	const char *end = bytes != 0 ? text + bytes : text;
	FILE *out = stream(json);

	putc('"', out);
	while (text < end) {
		const char *from = text;
		int32_t point = text_next(&text);

		if (point < 0)
			fputs("\xEF\xBF\xBD", out);
		else if (point == '"' || point == '\\')
			fprintf(out, "\\%c", (char)point);
		else if ((text_is_unsafe(point) && point <= 0xFFFF) ||
			 (json->is_html && (point == '<' || point == '>' || point == '&')))
			fprintf(out, "\\u%04x", (unsigned)point);
		else
			fwrite(from, 1, (size_t)(text - from), out);
	}
	putc('"', out);
}

void json_key(struct json *json, const char *key)
{
	before(json);
	put_string(json, key, strlen(key));
	putc(':', stream(json));
	json->is_named = true;
}

void json_text_bytes(struct json *json, const char *text, size_t bytes)
{
	before(json);
	put_string(json, text, bytes);
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
	fprintf(stream(json), "%" PRIu64, number);
}

void json_signed(struct json *json, int64_t number)
{
	before(json);
	fprintf(stream(json), "%" PRId64, number);
}

void json_double(struct json *json, double number)
{
	before(json);
	if (isfinite(number))
		fprintf(stream(json), "%.17g", number);
	else
		fputs("null", stream(json));
}

void json_bool(struct json *json, bool value)
{
	before(json);
	fputs(value ? "true" : "false", stream(json));
}

void json_null(struct json *json)
{
	before(json);
	fputs("null", stream(json));
}

void json_written(struct json *json, const char *text, size_t bytes)
{
	before(json);
	fwrite(text, 1, bytes, stream(json));
}

void json_line(struct json *json)
{
	putc('\n', stream(json));
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
