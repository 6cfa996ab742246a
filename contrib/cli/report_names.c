/* SPDX-License-Identifier: MIT */
/*
 * Names of a report: each once, numbered as they are first used.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/report_json.h"

void report_put_cut(const struct report_writer *writer, const char *text)
{
	const size_t n = strlen(text), most = writer->limits->names_bytes;
	size_t head = most * 2 / 3, tail = most / 3;
	char *cut;

	if (n <= most) {
		json_text(writer->json, text);
		return;
	}
	/* Not inside of a character. */
	while (head > 0 && ((unsigned char)text[head] & 0xC0) == 0x80)
		head--;
	while (tail > 0 && ((unsigned char)text[n - tail] & 0xC0) == 0x80)
		tail--;
	cut = malloc(head + tail + 4);
	if (cut == NULL) {
		json_text(writer->json, "...");
		return;
	}
	memcpy(cut, text, head);
	memcpy(cut + head, "...", 3);
	memcpy(cut + head + 3, text + n - tail, tail + 1);
	json_text(writer->json, cut);
	free(cut);
}

void report_put_cut_key(const struct report_writer *writer, const char *key, const char *text)
{
	json_key(writer->json, key);
	report_put_cut(writer, text);
}

void report_put_name(struct report_writer *writer, uint32_t name)
{
	if (name == UINT32_MAX) {
		json_null(writer->json);
		return;
	}
	if (writer->number_of[name] == 0) {
		writer->used[writer->n_used++] = name;
		writer->number_of[name] = (uint32_t)writer->n_used;
	}
	json_unsigned(writer->json, writer->number_of[name] - 1);
}

void report_put_names(const struct report_writer *writer)
{
	size_t i;

	json_key(writer->json, "names");
	json_begin_rows(writer->json);
	for (i = 0; i < writer->n_used; i++)
		report_put_cut(writer, writer->report->names.texts[writer->used[i]]);
	json_end(writer->json, ']');
}

void report_begin_column(struct json *json, const char *key)
{
	json_key(json, key);
	json_begin(json, '[');
}
