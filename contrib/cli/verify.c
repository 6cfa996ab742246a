/* SPDX-License-Identifier: MIT */
/*
 * heapshot verify: everything that can be checked without the program that was
 * recorded, each finding with its numbers.
 */
#include <inttypes.h>
#include <string.h>

#include "contrib/cli/message_json.h"
#include "contrib/cli/text.h"
#include "contrib/cli/verify.h"
#include "schema/heapshot.pb-c.h"

/* Memory for the addresses of objects: this, or in proportion to the file. */
#define ADDRESS_BYTES_MIN  (40u << 20)
#define ADDRESS_BYTES_FILE 8u

struct findings {
	struct recording *recording;
	struct json json;
	bool is_json;
	uint64_t snapshot;
	uint64_t n_problems;
	const struct verify_snapshot *checked;
};

static void put_problem(void *user_data, const char *check, uint64_t expected, uint64_t found)
{
	struct findings *findings = user_data;
	char numbers[2][TEXT_NUMBER_BYTES];

	findings->n_problems++;
	if (findings->is_json) {
		json_begin(&findings->json, '{');
		json_put_text(&findings->json, "check", check);
		json_put_unsigned(&findings->json, "expected", expected);
		json_put_unsigned(&findings->json, "found", found);
		json_end(&findings->json, '}');
		return;
	}
	printf("  %s: %s, expected %s", check, text_number(numbers[0], found),
	       text_number(numbers[1], expected));
	if (strcmp(check, "undefined_types") == 0)
		printf(" (first: type %" PRIu32 ")", findings->checked->first_undefined_type);
	else if (strcmp(check, "duplicate_objects") == 0)
		printf(" (first: 0x%" PRIx64 ")", findings->checked->first_duplicate);
	else if (strcmp(check, "dangling_references") == 0)
		printf(" (first: 0x%" PRIx64 ")", findings->checked->first_dangling);
	putchar('\n');
}

int verify_read_records(struct recording *recording, struct verify_unknown *unknown)
{
	struct heapshot_reader *reader = recording->reader;
	enum heapshot_read_result result;
	struct heapshot_record record;
	struct heapshot_frame frame;
	int status;

	*unknown = (struct verify_unknown){
		.frames = heapshot_reader_summary(reader)->n_unknown_frames};
	heapshot_reader_rewind(reader, NULL);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		result = heapshot_reader_load_frame(reader, &frame);
		while (result == HEAPSHOT_READ_OK &&
		       (result = heapshot_reader_next_record(reader, &record)) ==
			       HEAPSHOT_READ_OK) {
			const ProtobufCFieldDescriptor *field;
			ProtobufCMessage *message = message_unpack(&record, &field);

			unknown->fields += record.n_unknown;
			if (message != NULL) {
				unknown->fields += message_count_unknown(message);
				if (record.field == HEAPSHOT__RECORD__BODY_LOSS)
					unknown->lost += ((const Heapshot__Loss *)message)->count;
				protobuf_c_message_free_unpacked(message, NULL);
			} else if (field == NULL) {
				unknown->records++;
			} else {
				recording_say_bad_record(recording, &frame, field->name, "");
			}
		}
		status = recording_check(recording, result);
		if (status != CLI_OK)
			return status;
	}
	return recording_check(recording, result);
}

/* The more serious of two statuses. */
static int worse(int a, int b)
{
	static const int order[] = {CLI_OK, CLI_CHECK_FAILED, CLI_INCOMPLETE, CLI_DAMAGED};
	size_t i, at_a = 0, at_b = 0;

	for (i = 0; i < sizeof(order) / sizeof(*order); i++) {
		at_a = order[i] == a ? i : at_a;
		at_b = order[i] == b ? i : at_b;
	}
	return at_a > at_b ? a : b;
}

static int judge_issue(const struct heapshot_issue *issue)
{
	if (recording_is_damage(issue))
		return CLI_DAMAGED;
	switch (issue->kind) {
	case HEAPSHOT_ISSUE_DROPPED:
		return CLI_OK;
	case HEAPSHOT_ISSUE_TRUNCATED:
	case HEAPSHOT_ISSUE_NO_END:
	case HEAPSHOT_ISSUE_GAP:
		return CLI_INCOMPLETE;
	default:
		return CLI_CHECK_FAILED;
	}
}

static const char *issue_name(enum heapshot_issue_kind kind)
{
	static const char *const names[] = {
		"unknown",    "truncated", "no_end",   "damaged",          "bad_frame", "refused",
		"bad_record", "gap",       "trailing", "second_recording", "no_header", "dropped"};

	return (size_t)kind < sizeof(names) / sizeof(*names) ? names[kind] : names[0];
}

static int put_issues(struct findings *findings)
{
	struct json *json = &findings->json;
	const struct heapshot_issue *issues;
	int status = CLI_OK;
	uint64_t met;
	size_t n, i;

	issues = heapshot_reader_issues(findings->recording->reader, &n, &met);
	if (findings->is_json) {
		json_key(json, "issues");
		json_begin_rows(json);
	}
	for (i = 0; i < n; i++) {
		char text[512];

		status = worse(status, judge_issue(&issues[i]));
		recording_describe(&issues[i], text, sizeof(text));
		if (!findings->is_json) {
			printf("  %s\n", text);
			continue;
		}
		json_begin(json, '{');
		json_put_text(json, "kind", issue_name(issues[i].kind));
		json_put_unsigned(json, "offset", issues[i].offset);
		json_put_unsigned(json, "bytes", issues[i].bytes);
		json_put_unsigned(json, "frames", issues[i].frames);
		json_put_unsigned(json, "snapshot", issues[i].snapshot);
		json_put_text(json, "text", text);
		json_end(json, '}');
	}
	if (findings->is_json) {
		json_end(json, ']');
		json_put_unsigned(json, "issues_met", met);
	} else if (met > n) {
		printf("  and %" PRIu64 " more\n", met - n);
	}
	findings->recording->n_said = n;
	return status;
}

static int verify_one(struct findings *findings, const struct heapshot_snapshot *snapshot,
		      size_t limit_bytes, int *found)
{
	struct verify_snapshot checked = {.snapshot = snapshot};
	struct json *json = &findings->json;
	char numbers[2][TEXT_NUMBER_BYTES];
	int status = verify_read_snapshot(findings->recording, &checked, limit_bytes);

	if (status != CLI_OK) {
		verify_free_snapshot(&checked);
		return status;
	}
	findings->snapshot = snapshot->id;
	findings->checked = &checked;
	if (findings->is_json) {
		json_begin(json, '{');
		json_put_unsigned(json, "id", snapshot->id);
		json_put_unsigned(json, "objects", checked.objects.value);
		json_put_unsigned(json, "references", checked.references.value);
		json_put_unsigned(json, "bytes", checked.bytes.value);
		json_put_unsigned(json, "roots", checked.roots);
		json_put_bool(json, "complete", snapshot->is_complete);
		json_put_bool(json, "references_checked", !checked.addresses.is_over);
		json_key(json, "problems");
		json_begin(json, '[');
	} else {
		printf("snapshot %" PRIu64 ": %s objects, %s references\n", snapshot->id,
		       text_number(numbers[0], checked.objects.value),
		       text_number(numbers[1], checked.references.value));
	}
	status = verify_compare(&checked, put_problem, findings);
	if (checked.is_damaged)
		status = CLI_DAMAGED;
	if (findings->is_json) {
		json_end(json, ']');
		json_end(json, '}');
	} else if (checked.addresses.is_over) {
		printf("  references not checked: the addresses of the objects need more than "
		       "%s bytes; give --memory\n",
		       text_number(numbers[0], checked.addresses.limit_bytes));
	}
	*found = worse(*found, status);
	verify_free_snapshot(&checked);
	return CLI_OK;
}

static void put_counts(uint64_t n_frames, const struct verify_unknown *unknown)
{
	char number[TEXT_NUMBER_BYTES];

	printf("frames: %" PRIu64 "; unknown: %" PRIu64 " frames, %" PRIu64 " records, %" PRIu64
	       " fields\n",
	       n_frames, unknown->frames, unknown->records, unknown->fields);
	if (unknown->lost != 0)
		printf("lost: %s records, for which the recorder had no room\n",
		       text_number(number, unknown->lost));
}

static int verify_all(struct findings *findings, const struct cli_arguments *arguments)
{
	struct recording *recording = findings->recording;
	const struct heapshot_snapshot *snapshots;
	struct verify_unknown unknown;
	struct json *json = &findings->json;
	uint64_t size = heapshot_reader_size_bytes(recording->reader);
	size_t n, i, limit_bytes = ADDRESS_BYTES_MIN;
	int found = CLI_OK, status = verify_read_records(recording, &unknown);

	if (size > ADDRESS_BYTES_MIN / ADDRESS_BYTES_FILE)
		limit_bytes = (size_t)size * ADDRESS_BYTES_FILE;
	if (arguments->memory_bytes != 0)
		limit_bytes = arguments->memory_bytes;
	if (findings->is_json) {
		json_begin(json, '{');
		json_key(json, "snapshots");
		json_begin_rows(json);
	}
	snapshots = heapshot_reader_snapshots(recording->reader, &n);
	for (i = 0; status == CLI_OK && i < n; i++)
		status = verify_one(findings, &snapshots[i], limit_bytes, &found);
	if (findings->is_json)
		json_end(json, ']');
	else
		put_counts(heapshot_reader_summary(recording->reader)->n_frames, &unknown);
	found = worse(found, put_issues(findings));
	found = worse(found, recording->status);
	if (status == CLI_OK)
		status = found;
	if (findings->is_json) {
		json_put_unsigned(json, "frames",
				  heapshot_reader_summary(recording->reader)->n_frames);
		json_put_unsigned(json, "dropped_frames",
				  heapshot_reader_summary(recording->reader)->n_dropped);
		json_put_unsigned(json, "unknown_frames", unknown.frames);
		json_put_unsigned(json, "unknown_records", unknown.records);
		json_put_unsigned(json, "unknown_fields", unknown.fields);
		json_put_unsigned(json, "lost", unknown.lost);
		json_put_unsigned(json, "status", (uint64_t)status);
		json_put_bool(json, "ok", status == CLI_OK);
		json_end(json, '}');
		json_line(json);
	} else {
		puts(status == CLI_OK           ? "ok"
		     : status == CLI_DAMAGED    ? "DAMAGED"
		     : status == CLI_INCOMPLETE ? "INCOMPLETE"
						: "NOT CONSISTENT");
	}
	return status;
}

int cli_verify(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct findings findings = {.recording = &recording};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments, RECORDING_ALL);
	if (status != CLI_OK)
		return status;
	findings.is_json = arguments.is_json;
	status = recording_check(&recording, heapshot_reader_load_names(recording.reader));
	if (status == CLI_OK)
		status = verify_all(&findings, &arguments);
	return recording_close(&recording, status);
}
