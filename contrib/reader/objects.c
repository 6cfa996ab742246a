/* SPDX-License-Identifier: MIT */
/*
 * Rows of batches: objects, roots, ephemeron edges.
 */
#include <stdlib.h>

#include "contrib/reader/reader.h"

static bool prepare(struct heapshot_reader *reader)
{
	size_t bytes = hs_batch_decoder_bytes();

	if (reader->batch != NULL)
		return true;
	reader->batch_memory = hs_memory_grow(&reader->memory, NULL, 0, bytes);
	if (reader->batch_memory == NULL)
		return false;
	reader->batch = hs_batch_decoder_init(reader->batch_memory, reader->header.word_bytes);
	return true;
}

enum heapshot_read_result heapshot_reader_begin_objects(struct heapshot_reader *reader,
							const struct heapshot_record *record,
							bool with_references,
							struct heapshot_batch *batch)
{
	const char *error = NULL;

	if (record->field != HEAPSHOT__RECORD__BODY_OBJECT_BATCH)
		return hs_fail(reader, HEAPSHOT_READ_MISUSE, "not an object batch");
	if (!prepare(reader))
		return hs_fail_memory(reader);
	if (hs_batch_decode(reader->batch, record->body, record->body_bytes,
			    with_references ? HS_WANT_REFERENCES : HS_WANT_ROWS, &error) != 0)
		return hs_bad_record(reader, error);
	if (batch != NULL)
		*batch = (struct heapshot_batch){
			.snapshot = hs_batch_decoder_snapshot(reader->batch),
			.generation = hs_batch_decoder_generation(reader->batch),
			.rows = hs_batch_decoder_rows(reader->batch),
			.n_unknown = hs_batch_decoder_unknown(reader->batch),
		};
	return HEAPSHOT_READ_OK;
}

enum heapshot_read_result heapshot_reader_next_object(struct heapshot_reader *reader,
						      struct heapshot_object *object)
{
	struct hs_decoded_row row;
	const char *error = NULL;
	int n;

	if (reader->batch == NULL)
		return hs_fail(reader, HEAPSHOT_READ_MISUSE, "no object batch is begun");
	n = hs_batch_next(reader->batch, &row, &error);
	if (n <= 0)
		return n == 0 ? HEAPSHOT_READ_END : hs_bad_record(reader, error);
	*object = (struct heapshot_object){
		.address = row.address,
		.size = row.size,
		.slot_size = row.slot_size,
		.type = row.type,
		.domain = row.domain,
		.n_references = row.n_refs,
		.is_continuation = row.is_continuation,
		.offsets = row.offsets,
		.references = row.refs,
	};
	return HEAPSHOT_READ_OK;
}

enum heapshot_read_result heapshot_reader_each_ephemeron(struct heapshot_reader *reader,
							 const struct heapshot_record *record,
							 heapshot_ephemeron_callback *callback,
							 void *user_data)
{
	struct hs_ephemeron_decoder decoder;
	struct hs_decoded_ephemeron row;
	const char *error = NULL;
	int n;

	if (record->field != HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH)
		return hs_fail(reader, HEAPSHOT_READ_MISUSE, "not an ephemeron batch");
	if (hs_ephemeron_decode(&decoder, record->body, record->body_bytes,
				reader->header.word_bytes, &error) != 0)
		return hs_bad_record(reader, error);
	while ((n = hs_ephemeron_next(&decoder, &row, &error)) > 0) {
		struct heapshot_ephemeron edge = {row.table, row.key, row.value};

		if (!callback(user_data, &edge))
			return HEAPSHOT_READ_OK;
	}
	return n == 0 ? HEAPSHOT_READ_OK : hs_bad_record(reader, error);
}

enum heapshot_read_result heapshot_reader_each_root(struct heapshot_reader *reader,
						    const struct heapshot_record *record,
						    heapshot_root_callback *callback,
						    void *user_data)
{
	struct hs_root_decoder decoder;
	struct hs_decoded_root row;
	const char *error = NULL;
	int n;

	if (record->field != HEAPSHOT__RECORD__BODY_ROOT_BATCH)
		return hs_fail(reader, HEAPSHOT_READ_MISUSE, "not a root batch");
	if (hs_root_decode(&decoder, record->body, record->body_bytes, reader->header.word_bytes,
			   &error) != 0)
		return hs_bad_record(reader, error);
	while ((n = hs_root_next(&decoder, &row, &error)) > 0) {
		struct heapshot_root root = {row.address, row.object, row.source - 1, 0};

		if (!callback(user_data, &root))
			return HEAPSHOT_READ_OK;
	}
	return n == 0 ? HEAPSHOT_READ_OK : hs_bad_record(reader, error);
}
