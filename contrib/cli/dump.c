/* SPDX-License-Identifier: MIT */
/*
 * heapshot dump: every record as a line of JSON.  Batches of objects, roots,
 * ephemeron edges and handles are summed up, or written row by row.
 */
#include <string.h>

#include "contrib/cli/message_json.h"
#include "contrib/cli/recording.h"
#include "schema/handle_table.h"
#include "schema/heapshot.pb-c.h"

struct dump {
	struct recording *recording;
	const struct cli_arguments *arguments;
	uint64_t n_lines;
	uint64_t time_ns;
	uint64_t snapshot;
	const Heapshot__RootBatch *roots;
	struct json json;
};

static bool is_full(const struct dump *dump)
{
	return (dump->arguments->has_limit && dump->arguments->limit != 0 &&
		dump->n_lines >= dump->arguments->limit) ||
	       ferror(stdout);
}

static void begin_line(struct dump *dump, const char *record)
{
	dump->json = (struct json){0};
	json_begin(&dump->json, '{');
	json_put_text(&dump->json, "record", record);
	json_put_unsigned(&dump->json, "time_ns", dump->time_ns);
}

static void end_line(struct dump *dump)
{
	json_end(&dump->json, '}');
	json_line(&dump->json);
	dump->n_lines++;
}

static void put_object(struct dump *dump, const struct heapshot_batch *batch,
		       const struct heapshot_object *object)
{
	struct json *json = &dump->json;
	char unnamed[32];
	uint64_t i;

	begin_line(dump, "object");
	json_put_unsigned(json, "snapshot", batch->snapshot);
	json_put_unsigned(json, "generation", batch->generation);
	json_put_unsigned(json, "address", object->address);
	json_put_text(json, "type", recording_type_name(dump->recording, object->type, unnamed));
	json_put_unsigned(json, "type_id", object->type);
	json_put_unsigned(json, "domain", object->domain);
	json_put_unsigned(json, "bytes", object->size);
	json_put_unsigned(json, "slot_bytes", object->slot_size);
	json_put_bool(json, "continuation", object->is_continuation);
	json_key(json, "references");
	json_begin(json, '[');
	for (i = 0; i < object->n_references; i++) {
		json_begin(json, '{');
		json_put_unsigned(json, "offset", object->offsets[i]);
		json_put_unsigned(json, "target", object->references[i]);
		json_end(json, '}');
	}
	json_end(json, ']');
	end_line(dump);
}

static enum heapshot_read_result dump_objects(struct dump *dump,
					      const struct heapshot_record *record)
{
	struct heapshot_reader *reader = dump->recording->reader;
	bool with_rows = dump->arguments->with_objects;
	struct heapshot_object object;
	struct heapshot_batch batch;
	uint64_t objects = 0, continuations = 0, bytes = 0, references = 0;
	enum heapshot_read_result result =
		heapshot_reader_begin_objects(reader, record, with_rows, &batch);

	if (result != HEAPSHOT_READ_OK)
		return result;
	while ((result = heapshot_reader_next_object(reader, &object)) == HEAPSHOT_READ_OK) {
		if (with_rows) {
			if (is_full(dump))
				return HEAPSHOT_READ_END;
			put_object(dump, &batch, &object);
		}
		objects += !object.is_continuation;
		continuations += object.is_continuation;
		bytes += object.size;
		references += object.n_references;
	}
	if (with_rows)
		return result;
	begin_line(dump, "object_batch");
	json_put_unsigned(&dump->json, "snapshot", batch.snapshot);
	json_put_unsigned(&dump->json, "generation", batch.generation);
	json_put_unsigned(&dump->json, "rows", batch.rows);
	json_put_unsigned(&dump->json, "objects", objects);
	json_put_unsigned(&dump->json, "continuations", continuations);
	json_put_unsigned(&dump->json, "bytes", bytes);
	json_put_unsigned(&dump->json, "references", references);
	end_line(dump);
	return result;
}

static bool put_root(void *user_data, const struct heapshot_root *root)
{
	struct dump *dump = user_data;
	const Heapshot__RootSource *source =
		root->source < dump->roots->n_source ? dump->roots->source[root->source] : NULL;

	if (is_full(dump))
		return false;
	begin_line(dump, "root");
	json_put_unsigned(&dump->json, "snapshot", dump->snapshot);
	json_put_unsigned(&dump->json, "address", root->address);
	json_put_unsigned(&dump->json, "object", root->object);
	if (source != NULL) {
		json_put_text(&dump->json, "kind",
			      *source->kind_text ? source->kind_text
						 : heapshot_root_kind_name((uint32_t)source->kind));
		json_put_text(&dump->json, "name", source->name);
		json_put_unsigned(&dump->json, "domain", source->domain);
		json_put_unsigned(&dump->json, "thread", source->thread);
		json_put_text(&dump->json, "handle_type", source->handle_type);
	}
	end_line(dump);
	return true;
}

static bool put_ephemeron(void *user_data, const struct heapshot_ephemeron *edge)
{
	struct dump *dump = user_data;

	if (is_full(dump))
		return false;
	begin_line(dump, "ephemeron");
	json_put_unsigned(&dump->json, "snapshot", dump->snapshot);
	json_put_unsigned(&dump->json, "table", edge->table);
	json_put_unsigned(&dump->json, "key", edge->key);
	json_put_unsigned(&dump->json, "value", edge->value);
	end_line(dump);
	return true;
}

static bool count_root(void *user_data, const struct heapshot_root *root)
{
	(void)root;
	++*(uint64_t *)user_data;
	return true;
}

static bool count_ephemeron(void *user_data, const struct heapshot_ephemeron *edge)
{
	(void)edge;
	++*(uint64_t *)user_data;
	return true;
}

static enum heapshot_read_result dump_roots(struct dump *dump, const struct heapshot_record *record)
{
	struct heapshot_reader *reader = dump->recording->reader;
	Heapshot__RootBatch *batch =
		heapshot__root_batch__unpack(NULL, record->body_bytes, record->body);
	enum heapshot_read_result result;
	uint64_t n = 0;

	if (batch == NULL)
		return HEAPSHOT_READ_DAMAGED;
	dump->roots = batch;
	if (dump->arguments->with_objects) {
		result = heapshot_reader_each_root(reader, record, put_root, dump);
	} else {
		result = heapshot_reader_each_root(reader, record, count_root, &n);
		begin_line(dump, "root_batch");
		json_put_unsigned(&dump->json, "snapshot", dump->snapshot);
		json_put_unsigned(&dump->json, "sources", batch->n_source);
		json_put_unsigned(&dump->json, "roots", n);
		end_line(dump);
	}
	dump->roots = NULL;
	heapshot__root_batch__free_unpacked(batch, NULL);
	return result;
}

static enum heapshot_read_result dump_ephemerons(struct dump *dump,
						 const struct heapshot_record *record)
{
	struct heapshot_reader *reader = dump->recording->reader;
	enum heapshot_read_result result;
	uint64_t n = 0;

	if (dump->arguments->with_objects)
		return heapshot_reader_each_ephemeron(reader, record, put_ephemeron, dump);
	result = heapshot_reader_each_ephemeron(reader, record, count_ephemeron, &n);
	begin_line(dump, "ephemeron_batch");
	json_put_unsigned(&dump->json, "snapshot", dump->snapshot);
	json_put_unsigned(&dump->json, "edges", n);
	end_line(dump);
	return result;
}

static void put_slice(struct json *json, const char *key, const struct hs_slice *text)
{
	json_key(json, key);
	json_text_bytes(json, (const char *)text->data, (size_t)(text->end - text->data));
}

/* Text number I of the record, from 1; an empty one for 0. */
static struct hs_slice text_at(const struct hs_handle_decoder *decoder, uint32_t i)
{
	static const uint8_t none[1];
	struct hs_slice cursor = {NULL, NULL}, text = {none, none};

	while (i > 0 && hs_handle_next_text(decoder, &cursor, &text) > 0)
		i--;
	return text;
}

static enum heapshot_read_result dump_handles(struct dump *dump,
					      const struct heapshot_record *record)
{
	const uint32_t word_bytes = heapshot_reader_header(dump->recording->reader)->word_bytes;
	struct hs_handle_decoder decoder;
	struct hs_handle_row row;
	const char *error;
	int n = -1;

	if (hs_handle_decode(&decoder, record->body, record->body_bytes, word_bytes, &error) != 0)
		return HEAPSHOT_READ_DAMAGED;
	while (!is_full(dump) && (n = hs_handle_next(&decoder, &row, &error)) > 0) {
		const struct hs_slice type = text_at(&decoder, row.js_type);
		const struct hs_slice name = text_at(&decoder, row.js_name);

		begin_line(dump, "handle");
		json_put_unsigned(&dump->json, "snapshot", decoder.snapshot);
		put_slice(&dump->json, "table", &decoder.name);
		json_key(&dump->json, "handle");
		json_signed(&dump->json, row.handle);
		put_slice(&dump->json, "js_type", &type);
		put_slice(&dump->json, "js_name", &name);
		json_put_unsigned(&dump->json, "object", row.object);
		end_line(dump);
	}
	return n < 0 && !is_full(dump) ? HEAPSHOT_READ_DAMAGED : HEAPSHOT_READ_OK;
}

static enum heapshot_read_result dump_record(struct dump *dump, const struct heapshot_frame *frame,
					     const struct heapshot_record *record)
{
	const ProtobufCFieldDescriptor *field;
	ProtobufCMessage *message;

	dump->time_ns = record->time_ns;
	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_OBJECT_BATCH:
		return dump_objects(dump, record);
	case HEAPSHOT__RECORD__BODY_ROOT_BATCH:
		return dump_roots(dump, record);
	case HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH:
		return dump_ephemerons(dump, record);
	case HEAPSHOT__RECORD__BODY_HANDLE_TABLE:
		if (dump->arguments->with_objects)
			return dump_handles(dump, record);
		break;
	default:
		break;
	}
	message = message_unpack(record, &field);
	if (message == NULL && field != NULL) {
		recording_say_bad_record(dump->recording, frame, field->name, "");
		return HEAPSHOT_READ_OK;
	}
	begin_line(dump, field != NULL ? field->name : "unknown");
	if (message != NULL) {
		message_put_json(&dump->json, message);
		protobuf_c_message_free_unpacked(message, NULL);
	} else {
		json_put_unsigned(&dump->json, "field", record->field);
		json_put_unsigned(&dump->json, "bytes", record->body_bytes);
	}
	end_line(dump);
	return HEAPSHOT_READ_OK;
}

static int dump_all(struct dump *dump)
{
	struct recording *recording = dump->recording;
	struct heapshot_reader *reader = recording->reader;
	enum heapshot_read_result result = HEAPSHOT_READ_END;
	struct heapshot_record record;
	struct heapshot_frame frame;
	int status;

	heapshot_reader_rewind(reader, recording->snapshot);
	while (!is_full(dump) &&
	       (result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		if (recording->snapshot != NULL &&
		    frame.snapshot != (uint32_t)recording->snapshot->id)
			continue;
		dump->snapshot = frame.snapshot;
		result = heapshot_reader_load_frame(reader, &frame);
		while (result == HEAPSHOT_READ_OK && !is_full(dump) &&
		       (result = heapshot_reader_next_record(reader, &record)) ==
			       HEAPSHOT_READ_OK) {
			result = dump_record(dump, &frame, &record);
			if (result == HEAPSHOT_READ_DAMAGED)
				recording->status = CLI_DAMAGED;
			if (result == HEAPSHOT_READ_DAMAGED || result == HEAPSHOT_READ_END)
				result = HEAPSHOT_READ_OK;
		}
		status = recording_check(recording, result);
		if (status != CLI_OK)
			return status;
	}
	return is_full(dump) ? CLI_OK : recording_check(recording, result);
}

int cli_dump(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct dump dump = {.recording = &recording, .arguments = &arguments};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments, RECORDING_ANY);
	if (status != CLI_OK)
		return status;
	if (arguments.with_objects)
		status = recording_check(&recording, heapshot_reader_load_names(recording.reader));
	if (status == CLI_OK)
		status = dump_all(&dump);
	return recording_close(&recording, status);
}
