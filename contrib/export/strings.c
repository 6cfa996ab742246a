/* SPDX-License-Identifier: MIT */
/*
 * Texts of a snapshot's string objects, as names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "contrib/export/records.h"
#include "contrib/export/strings.h"
#include "contrib/reader/utf16.h"
#include "schema/heapshot.pb-c.h"

/* "... (of 18446744073709551615)" */
#define TAIL_BYTES 32

struct strings {
	const struct export *export;
	struct export_names *names;
	uint32_t *texts;
	bool has_memory;
};

/* Names end with a NUL, so none may stand in them. */
static void replace_nul(ProtobufCBinaryData *text)
{
	size_t i;

	for (i = 0; i + 1 < text->len; i += 2)
		if (text->data[i] == 0 && text->data[i + 1] == 0) {
			text->data[i] = 0xFD; /* U+FFFD */
			text->data[i + 1] = 0xFF;
		}
}

/* The number of the name for STRING; NO_NAME without memory. */
static uint32_t name_text(struct strings *strings, Heapshot__StringContent *string)
{
	char *text = malloc(string->text.len / 2 * 3 + 1 + TAIL_BYTES);
	uint32_t name;
	size_t n;

	if (text == NULL)
		return EXPORT_NO_NAME;
	replace_nul(&string->text);
	n = hs_utf16_to_utf8(string->text.data, string->text.len, text);
	if (string->length > string->text.len / 2)
		snprintf(text + n, TAIL_BYTES, "... (of %" PRIu64 ")", string->length);
	name = export_name(strings->names, text);
	free(text);
	return name;
}

/* Whether OBJECT is a string, as damaged files may not say. */
static bool is_string(const struct strings *strings, uint32_t object)
{
	size_t n;
	const struct heapshot_graph_class *classes =
		heapshot_graph_classes(strings->export->graph, &n);
	const uint32_t class = heapshot_graph_class_of(strings->export->graph, object);
	const struct heapshot_type *type =
		heapshot_reader_type(strings->export->reader, classes[class].type);

	return type != NULL && type->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_STRING;
}

static void take_text(struct strings *strings, Heapshot__StringContent *string)
{
	const uint32_t object = heapshot_graph_find(strings->export->graph, string->object);

	if (object == HEAPSHOT_GRAPH_NONE || !is_string(strings, object))
		return;
	if (strings->texts == NULL) {
		struct heapshot_graph_counts counts;

		heapshot_graph_counts(strings->export->graph, &counts);
		strings->texts = malloc(counts.objects * sizeof(*strings->texts));
		if (strings->texts != NULL)
			memset(strings->texts, 0xFF, counts.objects * sizeof(*strings->texts));
	}
	strings->has_memory = strings->texts != NULL;
	if (!strings->has_memory)
		return;
	strings->texts[object] = name_text(strings, string);
	strings->has_memory = strings->texts[object] != EXPORT_NO_NAME;
}

static bool take(void *user_data, const struct heapshot_record *record)
{
	struct strings *strings = user_data;
	Heapshot__StringBatch *batch;
	size_t i;

	if (record->field != HEAPSHOT__RECORD__BODY_STRING_BATCH)
		return true;
	batch = heapshot__string_batch__unpack(NULL, record->body_bytes, record->body);
	for (i = 0; batch != NULL && i < batch->n_string && strings->has_memory; i++)
		take_text(strings, batch->string[i]);
	heapshot__string_batch__free_unpacked(batch, NULL);
	return strings->has_memory;
}

bool export_strings_read(const struct export *export, struct export_names *names, uint32_t **texts)
{
	struct strings strings = {.export = export, .names = names, .has_memory = true};

	export_each_in_snapshot(export->reader, export->snapshot, take, &strings);
	*texts = strings.texts; /* the caller's to free in any case */
	return strings.has_memory;
}
