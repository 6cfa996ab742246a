/* SPDX-License-Identifier: MIT */
/*
 * Texts of a snapshot's string objects.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "contrib/export/records.h"
#include "contrib/export/strings.h"
#include "contrib/reader/utf16.h"
#include "schema/heapshot.pb-c.h"

struct pass {
	const struct export *export;
	export_string_take *take;
	void *user_data;
	bool has_memory;
};

/* Texts end with a NUL, so none may stand in them. */
static void replace_nul(ProtobufCBinaryData *text)
{
	size_t i;

	for (i = 0; i + 1 < text->len; i += 2)
		if (text->data[i] == 0 && text->data[i + 1] == 0) {
			text->data[i] = 0xFD; /* U+FFFD */
			text->data[i + 1] = 0xFF;
		}
}

/* Whether OBJECT is a string, as damaged files may not say. */
static bool is_string(const struct export *export, uint32_t object)
{
	size_t n;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(export->graph, &n);
	const uint32_t class = heapshot_graph_class_of(export->graph, object);
	const struct heapshot_type *type =
		heapshot_reader_type(export->reader, classes[class].type);

	return type != NULL && type->kind == HEAPSHOT__TYPE_KIND__TYPE_KIND_STRING;
}

static bool take_content(const struct pass *pass, Heapshot__StringContent *content)
{
	const uint32_t object = heapshot_graph_find(pass->export->graph, content->object);
	char *text;
	bool has_memory;

	if (object == HEAPSHOT_GRAPH_NONE || !is_string(pass->export, object))
		return true;
	text = malloc(content->text.len / 2 * 3 + 1);
	if (text == NULL)
		return false;
	replace_nul(&content->text);
	hs_utf16_to_utf8(content->text.data, content->text.len, text);
	has_memory = pass->take(pass->user_data,
				&(struct export_string){
					.object = object,
					.length = content->length,
					.text = text,
					.is_cut = content->length > content->text.len / 2,
				});
	free(text);
	return has_memory;
}

static bool take_record(void *user_data, const struct heapshot_record *record)
{
	struct pass *pass = user_data;
	Heapshot__StringBatch *batch;
	size_t i;

	if (record->field != HEAPSHOT__RECORD__BODY_STRING_BATCH)
		return true;
	batch = heapshot__string_batch__unpack(NULL, record->body_bytes, record->body);
	for (i = 0; batch != NULL && i < batch->n_string && pass->has_memory; i++)
		pass->has_memory = take_content(pass, batch->string[i]);
	heapshot__string_batch__free_unpacked(batch, NULL);
	return pass->has_memory;
}

bool export_each_string(const struct export *export, export_string_take *take, void *user_data)
{
	struct pass pass = {export, take, user_data, true};

	export_each_in_snapshot(export->reader, export->snapshot, take_record, &pass);
	return pass.has_memory;
}

/* ---- As names ---- */

struct named {
	struct export_names *names;
	uint64_t n_objects;
	uint32_t *texts;
};

/* The number of the name for STRING; NO_NAME without memory. */
static uint32_t name_string(struct export_names *names, const struct export_string *string)
{
	uint32_t name;
	char *text;

	if (!string->is_cut)
		return export_name(names, string->text);
	if (asprintf(&text, "%s... (of %" PRIu64 ")", string->text, string->length) < 0)
		return EXPORT_NO_NAME;
	name = export_name(names, text);
	free(text);
	return name;
}

static bool take_name(void *user_data, const struct export_string *string)
{
	struct named *named = user_data;

	if (named->texts == NULL) {
		named->texts = calloc((size_t)named->n_objects, sizeof(*named->texts));
		if (named->texts == NULL)
			return false;
		memset(named->texts, 0xFF, (size_t)named->n_objects * sizeof(*named->texts));
	}
	named->texts[string->object] = name_string(named->names, string);
	return named->texts[string->object] != EXPORT_NO_NAME;
}

bool export_strings_read(const struct export *export, struct export_names *names, uint32_t **texts)
{
	struct named named = {.names = names};
	struct heapshot_graph_counts counts;
	bool has_memory;

	heapshot_graph_counts(export->graph, &counts);
	named.n_objects = counts.objects;
	has_memory = export_each_string(export, take_name, &named);
	*texts = named.texts; /* the caller's to free in any case */
	return has_memory;
}
