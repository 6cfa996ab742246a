/* SPDX-License-Identifier: MIT */
/*
 * Making, opening and freeing readers, and what they tell of the recording.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/reader/reader.h"

static const struct heapshot_header no_header = {
	.writer = "",
	.runtime = "",
	.architecture = "",
	.system = "",
	.options = "",
	.host_name = "",
	.command_line = "",
};

struct heapshot_reader *heapshot_reader_new(const struct heapshot_reader_options *options)
{
	struct heapshot_reader *reader = calloc(1, sizeof(*reader));

	if (reader == NULL)
		return NULL;
	reader->memory.limit = HS_DEFAULT_MEMORY;
	if (options != NULL && options->size >= sizeof(options->size) + sizeof(size_t) &&
	    options->memory_bytes != 0)
		reader->memory.limit = options->memory_bytes;
	reader->source.fd = -1;
	reader->header = no_header;
	reader->summary.end_note = "";
	return reader;
}

void heapshot_reader_free(struct heapshot_reader *reader)
{
	if (reader == NULL)
		return;
	hs_names_free(reader);
	hs_totals_free(reader);
	hs_roots_free(reader);
	hs_handles_free(reader);
	hs_code_free(reader);
	hs_fields_free(reader);
	hs_idmap_free(&reader->memory, &reader->snapshots.index);
	free(reader->snapshots.list);
	free(reader->snapshots.n_issues);
	hs_arena_free(&reader->memory, &reader->snapshots.arena);
	hs_arena_free(&reader->memory, &reader->arena);
	free(reader->compressed.data);
	free(reader->raw.data);
	free(reader->tag.data);
	free(reader->batch_memory);
	LZ4F_freeDecompressionContext(reader->lz4);
	hs_ring_close(reader);
	hs_source_close(&reader->source);
	free(reader);
}

void heapshot_reader_set_memory(struct heapshot_reader *reader, size_t bytes)
{
	reader->memory.limit = bytes != 0 ? bytes : HS_DEFAULT_MEMORY;
}

void heapshot_reader_set_progress(struct heapshot_reader *reader, heapshot_progress *progress,
				  void *user_data)
{
	reader->progress = progress;
	reader->progress_data = user_data;
}

static enum heapshot_read_result scan(struct heapshot_reader *reader)
{
	enum heapshot_read_result result;

	result = hs_ring_open(reader);
	if (result != HEAPSHOT_READ_OK)
		return result;
	reader->is_open = true;
	result = hs_scan(reader);
	heapshot_reader_rewind(reader, NULL);
	if (result != HEAPSHOT_READ_OK)
		reader->is_open = false;
	return result;
}

static enum heapshot_read_result refuse_second(struct heapshot_reader *reader)
{
	return hs_fail(reader, HEAPSHOT_READ_MISUSE, "a reader opens one recording only");
}

enum heapshot_read_result heapshot_reader_open_file(struct heapshot_reader *reader,
						    const char *path)
{
	int error;

	if (reader->source.read_at != NULL)
		return refuse_second(reader);
	error = hs_source_open_file(&reader->source, path);
	if (error != 0)
		return hs_fail_io(reader, -error);
	return scan(reader);
}

enum heapshot_read_result heapshot_reader_open_memory(struct heapshot_reader *reader,
						      const void *data, size_t size)
{
	if (reader->source.read_at != NULL)
		return refuse_second(reader);
	hs_source_open_memory(&reader->source, data, size);
	return scan(reader);
}

enum heapshot_read_result heapshot_reader_open_callback(struct heapshot_reader *reader,
							heapshot_read_at *read_at, void *user_data,
							uint64_t size)
{
	if (reader->source.read_at != NULL)
		return refuse_second(reader);
	hs_source_open_callback(&reader->source, read_at, user_data, size);
	return scan(reader);
}

uint64_t heapshot_reader_size_bytes(const struct heapshot_reader *reader)
{
	return reader->ring.is_on ? reader->ring.file.size : reader->source.size;
}

const struct heapshot_header *heapshot_reader_header(const struct heapshot_reader *reader)
{
	return &reader->header;
}

const struct heapshot_summary *heapshot_reader_summary(const struct heapshot_reader *reader)
{
	return &reader->summary;
}

const struct heapshot_snapshot *heapshot_reader_snapshots(const struct heapshot_reader *reader,
							  size_t *n_snapshots)
{
	*n_snapshots = reader->snapshots.n;
	return reader->snapshots.list;
}

const struct heapshot_snapshot *heapshot_reader_snapshot(const struct heapshot_reader *reader,
							 uint64_t id)
{
	const uint32_t *index = hs_idmap_find(&reader->snapshots.index, id);

	return index == NULL ? NULL : &reader->snapshots.list[*index];
}

const struct heapshot_snapshot *heapshot_reader_last_snapshot(const struct heapshot_reader *reader,
							      uint64_t back)
{
	size_t i;

	for (i = reader->snapshots.n; i > 0 && back > 0; i--)
		if (reader->snapshots.list[i - 1].is_complete && --back == 0)
			return &reader->snapshots.list[i - 1];
	return NULL;
}
