/* SPDX-License-Identifier: MIT */
/*
 * What the graph does not keep: generations and texts, read from the frames.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/object.h"
#include "contrib/cli/text.h"
#include "contrib/reader/utf16.h"
#include "schema/heapshot.pb-c.h"

struct pass {
	struct recording *recording;
	bool (*take_text)(void *user_data, const struct object_text *text);
	void *user_data;
	uint64_t n_texts;
	/* The object whose generation is looked for; 0: none. */
	uint64_t address;
	struct object_details *details;
	bool is_short; /* of memory */
};

static void take_strings(struct pass *pass, const struct heapshot_record *record)
{
	Heapshot__StringBatch *batch =
		heapshot__string_batch__unpack(NULL, record->body_bytes, record->body);
	size_t i;

	for (i = 0; batch != NULL && i < batch->n_string && !pass->is_short; i++) {
		const Heapshot__StringContent *string = batch->string[i];
		char *text = malloc(string->text.len / 2 * 3 + 4);
		struct object_text out = {
			.object = string->object,
			.length = string->length,
			.text = text,
			.is_cut = string->length > string->text.len / 2,
		};

		if (text != NULL)
			out.bytes = hs_utf16_to_utf8(string->text.data, string->text.len, text);
		pass->n_texts++;
		pass->is_short = text == NULL || !pass->take_text(pass->user_data, &out);
		free(text);
	}
	if (batch != NULL)
		heapshot__string_batch__free_unpacked(batch, NULL);
}

static enum heapshot_read_result take_objects(struct pass *pass,
					      const struct heapshot_record *record)
{
	struct heapshot_reader *reader = pass->recording->reader;
	struct heapshot_batch batch;
	struct heapshot_object object;
	enum heapshot_read_result result;

	result = heapshot_reader_begin_objects(reader, record, false, &batch);
	while (result == HEAPSHOT_READ_OK &&
	       (result = heapshot_reader_next_object(reader, &object)) == HEAPSHOT_READ_OK)
		if (object.address == pass->address && !object.is_continuation) {
			pass->details->generation = batch.generation;
			pass->details->has_generation = true;
			pass->address = 0;
			return HEAPSHOT_READ_OK;
		}
	return result == HEAPSHOT_READ_END ? HEAPSHOT_READ_OK : result;
}

static enum heapshot_read_result take_frame(struct pass *pass, const struct heapshot_frame *frame)
{
	struct heapshot_reader *reader = pass->recording->reader;
	struct heapshot_record record;
	enum heapshot_read_result result = heapshot_reader_load_frame(reader, frame);

	while (result == HEAPSHOT_READ_OK && !pass->is_short &&
	       (result = heapshot_reader_next_record(reader, &record)) == HEAPSHOT_READ_OK) {
		if (record.field == HEAPSHOT__RECORD__BODY_STRING_BATCH)
			take_strings(pass, &record);
		else if (record.field == HEAPSHOT_FIELD_OBJECT_BATCH && pass->address != 0)
			result = take_objects(pass, &record);
		/* Damage was told when the graph was read. */
		if (result == HEAPSHOT_READ_DAMAGED)
			result = HEAPSHOT_READ_OK;
	}
	return result;
}

static int run(struct pass *pass)
{
	struct recording *recording = pass->recording;
	enum heapshot_read_result result;
	struct heapshot_frame frame;

	heapshot_reader_rewind(recording->reader, recording->snapshot);
	while ((result = heapshot_reader_next_frame(recording->reader, &frame)) ==
	       HEAPSHOT_READ_OK) {
		if (frame.kind != HEAPSHOT_FRAME_SNAPSHOT_BODY ||
		    frame.snapshot != (uint32_t)recording->snapshot->id)
			continue;
		result = take_frame(pass, &frame);
		if (pass->is_short)
			return cli_no_memory();
		if (result != HEAPSHOT_READ_OK && result != HEAPSHOT_READ_END &&
		    result != HEAPSHOT_READ_DAMAGED)
			break;
	}
	return recording_check(recording, result);
}

int object_texts(struct recording *recording,
		 bool (*take)(void *user_data, const struct object_text *text), void *user_data,
		 uint64_t *n_texts)
{
	struct pass pass = {.recording = recording, .take_text = take, .user_data = user_data};
	int status = run(&pass);

	if (n_texts != NULL)
		*n_texts = pass.n_texts;
	return status;
}

struct wanted {
	uint64_t address;
	struct object_details *details;
};

static bool take_wanted(void *user_data, const struct object_text *text)
{
	struct wanted *wanted = user_data;
	struct object_details *details = wanted->details;

	if (text->object != wanted->address || details->text != NULL)
		return true;
	details->text = malloc(text->bytes + 1);
	if (details->text == NULL)
		return false;
	memcpy(details->text, text->text, text->bytes + 1);
	details->text_bytes = text->bytes;
	details->length = text->length;
	details->is_cut = text->is_cut;
	return true;
}

int object_read_details(struct recording *recording, uint64_t address,
			struct object_details *details)
{
	struct wanted wanted = {address, details};
	struct pass pass = {
		.recording = recording,
		.take_text = take_wanted,
		.user_data = &wanted,
		.address = address,
		.details = details,
	};

	*details = (struct object_details){0};
	return run(&pass);
}

void object_quote(const char *text, size_t bytes, bool is_cut, size_t columns, char *out,
		  size_t size)
{
	const char *end = text + bytes, *stop = end;
	size_t n = 0;

	out[n++] = '"';
	while (text < end && columns > 0 && n + 12 < size) {
		const char *from = text;
		int32_t point = text_next(&text);

		/* A NUL may stand in the middle, and would end what is shown. */
		if (text_is_unsafe(point)) {
			out[n++] = '?';
		} else {
			memcpy(out + n, from, (size_t)(text - from));
			n += (size_t)(text - from);
		}
		columns--;
		stop = text;
	}
	snprintf(out + n, size - n, "\"%s", is_cut || stop < end ? "..." : "");
}
