/* SPDX-License-Identifier: MIT */
/*
 * heapshot anonymize: the same recording with other names, to be shown to others.
 * Frames are made anew of the records that this version knows; what becomes longer
 * than a frame may be goes on in another one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/anonymize.h"
#include "contrib/cli/rewrite.h"
#include "contrib/cli/text.h"
#include "schema/heapshot_named.pb-c.h"
#include "schema/tag.h"
#include "schema/wire.h"

/* The tables of names, unless --memory says otherwise. */
#define NAMES_BYTES (16u << 20)
/* A record's keys, lengths and time, around its body. */
#define AROUND_BYTES 64u

struct job {
	struct rewrite rewrite;
	struct anonymize anonymize;
	struct anonymize_out body;   /* of the record under way */
	struct anonymize_out raw;    /* of the frame under way */
	struct heapshot_frame frame; /* that is written */
	uint64_t time_ns;            /* of the last record in it */
	uint64_t n_added;            /* frames that the recording did not have */
	uint64_t n_too_long;         /* records that became too long */
};

/* Bytes of a Record with the body that was made. */
static size_t record_bytes(const struct job *job, uint32_t field, int64_t delta_ns)
{
	const size_t n = job->body.size;

	return (delta_ns != 0 ? 1 + hs_varint_size(hs_zigzag(delta_ns)) : 0) +
	       hs_varint_size((uint64_t)field << 3) + hs_varint_size(n) + n;
}

static void put_record(struct job *job, uint32_t field, int64_t delta_ns)
{
	const size_t n = job->body.size;

	anonymize_add_varint(&job->raw, 1 << 3 | HS_WIRE_BYTES);
	anonymize_add_varint(&job->raw, record_bytes(job, field, delta_ns));
	if (delta_ns != 0) {
		anonymize_add_varint(&job->raw, 2 << 3 | HS_WIRE_VARINT);
		anonymize_add_varint(&job->raw, hs_zigzag(delta_ns));
	}
	anonymize_add_varint(&job->raw, (uint64_t)field << 3 | HS_WIRE_BYTES);
	anonymize_add_varint(&job->raw, n);
	anonymize_add(&job->raw, job->body.data, n);
}

static void begin_frame(struct job *job, const struct heapshot_frame *frame)
{
	uint8_t *at = job->body.data;

	job->frame = *frame;
	job->frame.seq += job->n_added;
	job->time_ns = frame->time_ns;
	job->raw.size = 0;
	at = hs_put_uint(at, 1, heapshot_reader_summary(job->rewrite.recording.reader)->stream);
	at = hs_put_uint(at, 2, job->frame.seq);
	at = hs_put_uint(at, 3, job->frame.time_ns);
	job->body.size = (size_t)(at - job->body.data);
	put_record(job, HEAPSHOT_NAMED__RECORD__BODY_FRAME_START, 0);
}

static int end_frame(struct job *job)
{
	return rewrite_put(&job->rewrite, &job->frame, job->raw.data, job->raw.size);
}

/* The body that was made goes into the frame, or into one more. */
static int add_record(struct job *job, const struct heapshot_record *record)
{
	const int64_t delta_ns = (int64_t)(record->time_ns - job->time_ns);

	if (record_bytes(job, record->field, delta_ns) + 4 > HS_RECORD_MAX) {
		job->n_too_long++;
		return CLI_OK;
	}
	if (job->body.size + AROUND_BYTES > job->raw.room - job->raw.size) {
		struct heapshot_frame next = job->frame;
		const size_t size = job->body.size;
		int status = end_frame(job);

		if (status != CLI_OK)
			return status;
		/* Its start is made where the body stands. */
		memmove(job->body.data + AROUND_BYTES, job->body.data, size);
		next.seq -= job->n_added++;
		next.time_ns = record->time_ns;
		begin_frame(job, &next);
		memmove(job->body.data, job->body.data + AROUND_BYTES, size);
		job->body.size = size;
	}
	put_record(job, record->field, (int64_t)(record->time_ns - job->time_ns));
	job->time_ns = record->time_ns;
	return CLI_OK;
}

static int take_record(struct job *job, const struct heapshot_record *record)
{
	struct recording *recording = &job->rewrite.recording;
	const ProtobufCFieldDescriptor *body = protobuf_c_message_descriptor_get_field(
		&heapshot_named__record__descriptor, record->field);
	const struct hs_slice message = {record->body, record->body + record->body_bytes};

	job->anonymize.n_unknown_fields += record->n_unknown;
	if (body == NULL || body->type != PROTOBUF_C_TYPE_MESSAGE) {
		job->rewrite.unknown.records += record->field != 0;
		return CLI_OK;
	}
	job->body.size = 0;
	job->body.is_over = false;
	if (!anonymize_message(&job->anonymize, body->descriptor, message, &job->body)) {
		recording_say_bad_record(recording, &job->frame, body->name, " and is left out");
		return CLI_OK;
	}
	if (job->anonymize.names.is_full) {
		cli_message("%s: the names need more memory than %zu MiB; give more by --memory",
			    recording->path, job->anonymize.names.memory_limit >> 20);
		return CLI_IO;
	}
	if (job->body.is_over) {
		job->n_too_long++;
		return CLI_OK;
	}
	return add_record(job, record);
}

static int take_frame(struct job *job, const struct heapshot_frame *frame)
{
	struct recording *recording = &job->rewrite.recording;
	enum heapshot_read_result result;
	struct heapshot_record record;
	bool is_whole;
	int status;

	if (frame->kind < HEAPSHOT_FRAME_METADATA || frame->kind > HEAPSHOT_FRAME_END) {
		job->rewrite.unknown.frames++;
		return CLI_OK;
	}
	status = rewrite_load(&job->rewrite, frame, &is_whole);
	if (status != CLI_OK || !is_whole)
		return status;
	begin_frame(job, frame);
	while ((result = heapshot_reader_next_record(recording->reader, &record)) ==
	       HEAPSHOT_READ_OK) {
		status = take_record(job, &record);
		if (status != CLI_OK)
			return status;
	}
	status = recording_check(recording, result);
	return status == CLI_OK ? end_frame(job) : status;
}

static int run(struct job *job)
{
	struct recording *recording = &job->rewrite.recording;
	struct heapshot_frame frame;
	bool has_frame = true;
	/* Whose a name is may be told behind it. */
	int status = recording_check(recording, heapshot_reader_load_names(recording->reader));

	if (status == CLI_OK && !job->anonymize.is_all)
		anonymize_names_learn(&job->anonymize.names, recording->reader);
	heapshot_reader_rewind(recording->reader, NULL);
	while (status == CLI_OK && has_frame) {
		status = rewrite_next(&job->rewrite, &frame, &has_frame);
		if (status == CLI_OK && has_frame)
			status = take_frame(job, &frame);
	}
	if (job->n_too_long != 0)
		cli_message("%s: %" PRIu64 " records became longer than a record may be, and are "
			    "left out",
			    recording->path, job->n_too_long);
	job->rewrite.unknown.fields = job->anonymize.n_unknown_fields;
	return status;
}

static int prepare(struct job *job)
{
	const struct cli_arguments *arguments = job->rewrite.arguments;
	const size_t limit = arguments->memory_bytes != 0 ? arguments->memory_bytes : NAMES_BYTES;

	job->anonymize.reader = job->rewrite.recording.reader;
	job->anonymize.is_all = arguments->is_all_names;
	job->body = (struct anonymize_out){.data = malloc(HS_RECORD_MAX + AROUND_BYTES),
					   .room = HS_RECORD_MAX};
	job->raw =
		(struct anonymize_out){.data = malloc(HS_FRAME_RAW_MAX), .room = HS_FRAME_RAW_MAX};
	if (job->body.data != NULL && job->raw.data != NULL &&
	    anonymize_names_init(&job->anonymize.names, limit))
		return CLI_OK;
	cli_message("out of memory, or of random numbers");
	return CLI_IO;
}

static void report(const struct job *job)
{
	const struct rewrite *rewrite = &job->rewrite;
	char numbers[3][TEXT_NUMBER_BYTES];
	struct json json = {0};

	if (rewrite->arguments->is_json) {
		json_begin(&json, '{');
		rewrite_put_json(rewrite, &json);
		json_put_unsigned(&json, "names", job->anonymize.names.given.n);
		json_put_unsigned(&json, "records_too_long", job->n_too_long);
		json_end(&json, '}');
		json_line(&json);
		return;
	}
	text_put_masked(stdout, rewrite->file.path);
	printf(": %s frames, %s bytes, %s names replaced",
	       text_number(numbers[0], rewrite->n_frames),
	       text_number(numbers[1], rewrite->file.bytes),
	       text_number(numbers[2], job->anonymize.names.given.n));
	rewrite_put_unknown(rewrite, "left out");
	putchar('\n');
}

int cli_anonymize(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct job job = {.n_added = 0};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = rewrite_open(&job.rewrite, command, &arguments, RECORDING_ALL);
	if (status != CLI_OK)
		return status;
	status = prepare(&job);
	if (status == CLI_OK)
		status = run(&job);
	status = rewrite_finish(&job.rewrite, status);
	if (status == CLI_OK && !job.rewrite.file.is_standard_output)
		report(&job);
	anonymize_names_free(&job.anonymize.names);
	free(job.body.data);
	free(job.raw.data);
	return rewrite_close(&job.rewrite, status);
}
