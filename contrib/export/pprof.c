/* SPDX-License-Identifier: MIT */
/*
 * The profile.proto of pprof, in gzip: the merged dominator tree as stacks, each
 * with the number and the bytes of the objects at its end.  What a function
 * cumulates is then what its type retains.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/export/flame.h"
#include "contrib/export/gzip.h"
#include "schema/varint.h"

/* Fields of Profile, and of the messages in it. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DEFAULT_TYPE = 14,

	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
};

/* The string table begins with these; the first must be empty. */
static const char *const words[] = {"", "objects", "count", "space", "bytes"};
enum { OBJECTS = 1, COUNT, SPACE, BYTES, N_WORDS };

/* A message with a stack of locations in it. */
#define MESSAGE_BYTES ((FLAME_DEPTH_MAX + 8) * HS_VARINT_MAX)
struct message {
	uint8_t *end, bytes[MESSAGE_BYTES];
};

static void add_number(struct message *message, unsigned field, uint64_t value)
{
	message->end = hs_varint_put(message->end, field << 3);
	message->end = hs_varint_put(message->end, value);
}

static void put_bytes(struct export_output *output, unsigned field, const void *bytes, size_t size)
{
	uint8_t head[2 * HS_VARINT_MAX], *end = hs_varint_put(head, field << 3 | 2);

	end = hs_varint_put(end, size);
	export_put(output, head, (size_t)(end - head));
	export_put(output, bytes, size);
}

static void put_message(struct export_output *output, unsigned field, const struct message *message)
{
	put_bytes(output, field, message->bytes, (size_t)(message->end - message->bytes));
}

static void put_number(struct export_output *output, unsigned field, uint64_t value)
{
	struct message number;

	number.end = number.bytes;
	add_number(&number, field, value);
	export_put(output, number.bytes, (size_t)(number.end - number.bytes));
}

static void put_text(struct export_output *output, const char *text)
{
	put_bytes(output, PROFILE_STRING, text, strlen(text));
}

static void put_sample_type(struct export_output *output, uint64_t type, uint64_t unit)
{
	struct message message;

	message.end = message.bytes;
	add_number(&message, VALUE_TYPE, type);
	add_number(&message, VALUE_UNIT, unit);
	put_message(output, PROFILE_SAMPLE_TYPE, &message);
}

/* N numbers in one field. */
static void add_packed(struct message *message, unsigned field, const uint64_t *values, size_t n)
{
	uint8_t scratch[HS_VARINT_MAX];
	size_t bytes = 0, i;

	for (i = 0; i < n; i++)
		bytes += (size_t)(hs_varint_put(scratch, values[i]) - scratch);
	message->end = hs_varint_put(message->end, field << 3 | 2);
	message->end = hs_varint_put(message->end, bytes);
	for (i = 0; i < n; i++)
		message->end = hs_varint_put(message->end, values[i]);
}

/*
 * Numbers of locations and functions are those of their names, from 1; IS_USED has
 * room for a name each, and tells afterwards which of them stacks have.
 */
static void put_samples(struct export_output *output, const struct flame *flame, bool *is_used)
{
	uint32_t path[FLAME_DEPTH_MAX + 1], i;

	for (i = 1; i < flame->n && !output->has_failed; i++) {
		const uint64_t values[] = {flame->nodes[i].objects, flame->nodes[i].bytes};
		uint64_t locations[FLAME_DEPTH_MAX + 1];
		struct message message;
		size_t n, k;

		if (flame->nodes[i].objects == 0)
			continue;
		n = flame_path(flame, i, path);
		for (k = 0; k < n; k++) { /* the innermost comes first */
			const uint32_t name = flame->nodes[path[k]].name;

			locations[n - 1 - k] = (uint64_t)name + 1;
			is_used[name] = true;
		}
		message.end = message.bytes;
		add_packed(&message, SAMPLE_LOCATIONS, locations, n);
		add_packed(&message, SAMPLE_VALUES, values, 2);
		put_message(output, PROFILE_SAMPLE, &message);
	}
}

/*
 * The name's own system name stays away: where both are the same, pprof takes
 * the name for one of C++ and cuts "<System.String>" out of it.
 */
static void put_function(struct export_output *output, uint32_t name, uint64_t text)
{
	struct message message, line;

	line.end = line.bytes;
	add_number(&line, LINE_FUNCTION, (uint64_t)name + 1);
	message.end = message.bytes;
	add_number(&message, LOCATION_ID, (uint64_t)name + 1);
	message.end = hs_varint_put(message.end, LOCATION_LINE << 3 | 2);
	message.end = hs_varint_put(message.end, (uint64_t)(line.end - line.bytes));
	memcpy(message.end, line.bytes, (size_t)(line.end - line.bytes));
	message.end += line.end - line.bytes;
	put_message(output, PROFILE_LOCATION, &message);
	message.end = message.bytes;
	add_number(&message, FUNCTION_ID, (uint64_t)name + 1);
	add_number(&message, FUNCTION_NAME, text);
	put_message(output, PROFILE_FUNCTION, &message);
}

/* Functions and the string table. */
static void put_names(struct export_output *output, const struct flame *flame, const bool *is_used)
{
	uint32_t i, text = N_WORDS;

	for (i = 0; i < flame->names.n; i++)
		if (is_used[i])
			put_function(output, i, text++);
	for (i = 0; i < N_WORDS; i++)
		put_text(output, words[i]);
	for (i = 0; i < flame->names.n; i++)
		if (is_used[i])
			put_text(output, flame->names.texts[i]);
}

static void put_profile(struct export_output *output, const struct export *export,
			const struct flame *flame, bool *is_used)
{
	const uint64_t start_ns = heapshot_reader_header(export->reader)->wall_start_unix_ns;

	put_sample_type(output, OBJECTS, COUNT);
	put_sample_type(output, SPACE, BYTES);
	put_samples(output, flame, is_used);
	put_names(output, flame, is_used);
	/* A time beyond 2^63 ns comes of a damaged file only. */
	if (start_ns != 0 && start_ns <= INT64_MAX &&
	    export->snapshot->time_ns <= INT64_MAX - start_ns)
		put_number(output, PROFILE_TIME_NS, start_ns + export->snapshot->time_ns);
	put_number(output, PROFILE_DEFAULT_TYPE, SPACE);
}

enum export_result export_write_pprof(struct export *export)
{
	enum export_result result = EXPORT_OK;
	struct heapshot_graph_counts counts;
	struct export_gzip *gzip;
	struct flame flame;
	bool *is_used = NULL;

	heapshot_graph_counts(export->graph, &counts);
	if (counts.live_bytes > INT64_MAX)
		return export_fail(export, EXPORT_REFUSED,
				   "its objects take %" PRIu64 " bytes; it may be 2^63 - 1",
				   counts.live_bytes);
	gzip = malloc(sizeof(*gzip));
	if (flame_make(&flame, export))
		is_used = calloc(flame.names.n, sizeof(*is_used));
	if (gzip != NULL && is_used != NULL) {
		export_gzip_begin(gzip, export->output);
		put_profile(&gzip->inner, export, &flame, is_used);
		export_gzip_end(gzip);
	} else {
		result = export_fail_memory(export);
	}
	flame_free(&flame);
	free(is_used);
	free(gzip);
	return result;
}
