/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the decoders of packed columns.  The first byte says what the rest is:
 * an encoded batch of objects, roots or ephemerons, or rows for columns_rows.c.
 */
#include "schema/columns.h"
#include "schema/tag.h"
#include "tests/fuzz/columns.h"
#include "tests/fuzz/fuzz.h"

void *columns_decoder_memory(void)
{
	static void *memory;

	if (!memory)
		memory = malloc(hs_batch_decoder_bytes());
	FUZZ_CHECK(memory);
	/* It need not be zeroed. */
	memset(memory, 0xa5, 4096);
	return memory;
}

/* So that what is read is read. */
static volatile uint64_t seen;

/* ---- batches of objects, as a file may hold them ---- */

struct sums {
	uint64_t rows, objects, bytes, slot_bytes, references;
};

/* Reads all rows; false when the batch is refused. */
static bool sum_rows(unsigned word_bytes, const uint8_t *data, size_t size, enum hs_batch_want want,
		     struct sums *sums)
{
	struct hs_batch_decoder *decoder =
		hs_batch_decoder_init(columns_decoder_memory(), word_bytes);
	struct hs_decoded_row row;
	const char *error = NULL;
	uint64_t folded = 0;
	int n;

	*sums = (struct sums){0};
	if (hs_batch_decode(decoder, data, size, want, &error) != 0) {
		FUZZ_CHECK(error && *error && hs_batch_decoder_rows(decoder) == 0);
		return false;
	}
	FUZZ_CHECK(hs_batch_decoder_rows(decoder) <= HS_BATCH_ROWS_MAX);
	while ((n = hs_batch_next(decoder, &row, &error)) > 0) {
		FUZZ_CHECK(row.n_refs <= HS_ROW_REFS_MAX);
		FUZZ_CHECK(!!row.offsets == !!(want & HS_WANT_REFERENCES) &&
			   !row.offsets == !row.refs);
		for (uint64_t i = 0; row.refs && i < row.n_refs; i++)
			folded += row.offsets[i] ^ row.refs[i];
		sums->rows++;
		sums->objects += !row.is_continuation;
		sums->bytes += row.size;
		sums->slot_bytes += row.slot_size;
		sums->references += row.n_refs;
	}
	FUZZ_CHECK(n == 0 ? sums->rows == hs_batch_decoder_rows(decoder) : error && *error);
	seen = folded;
	return n == 0;
}

void columns_decode_objects(unsigned word_bytes, const uint8_t *data, size_t size)
{
	static struct hs_shape_total totals[HS_BATCH_SHAPES_MAX];
	struct hs_batch_decoder *decoder;
	struct sums with, without, of_totals = {0};
	const char *error = NULL;
	int n;

	const bool is_whole = sum_rows(word_bytes, data, size, HS_WANT_REFERENCES, &with);
	const bool has_rows = sum_rows(word_bytes, data, size, HS_WANT_ROWS, &without);

	/* What is good with references is good without, and comes to the same. */
	FUZZ_CHECK(!is_whole || (has_rows && memcmp(&with, &without, sizeof with) == 0));
	decoder = hs_batch_decoder_init(columns_decoder_memory(), word_bytes);
	if (hs_batch_decode(decoder, data, size, HS_WANT_ROWS, &error) != 0)
		return;
	n = hs_batch_totals(decoder, totals, &error);
	FUZZ_CHECK(n >= 0 || (error && *error && !has_rows));
	for (int i = 0; i < n; i++) {
		of_totals.objects += totals[i].objects;
		of_totals.bytes += totals[i].bytes;
		of_totals.slot_bytes += totals[i].slot_bytes;
		of_totals.references += totals[i].references;
	}
	of_totals.rows = without.rows;
	FUZZ_CHECK(n < 0 || !has_rows || memcmp(&of_totals, &without, sizeof without) == 0);
}

/* ---- roots ---- */

static void decode_roots(unsigned word, const uint8_t *data, size_t size)
{
	struct hs_slice cursor = {NULL, NULL}, source;
	struct hs_root_decoder decoder;
	struct hs_decoded_root root;
	const char *error = NULL;
	uint32_t n_sources = 0;
	uint64_t n_roots = 0;
	int n;

	if (hs_root_decode(&decoder, data, size, word, &error) != 0) {
		FUZZ_CHECK(error && *error);
		return;
	}
	while (hs_root_next_source(&decoder, &cursor, &source) > 0) {
		FUZZ_CHECK(source.data >= data && source.data <= source.end &&
			   source.end <= data + size);
		n_sources++;
	}
	FUZZ_CHECK(n_sources == decoder.n_sources);
	while ((n = hs_root_next(&decoder, &root, &error)) > 0) {
		FUZZ_CHECK(root.source >= 1 && root.source <= n_sources);
		n_roots++;
	}
	FUZZ_CHECK(n_roots <= size && (n == 0 || (error && *error)));
}

/* ---- ephemerons ---- */

static void decode_ephemerons(unsigned word, const uint8_t *data, size_t size)
{
	struct hs_ephemeron_decoder decoder;
	struct hs_decoded_ephemeron edge;
	const char *error = NULL;
	uint64_t n_edges = 0;
	int n;

	if (hs_ephemeron_decode(&decoder, data, size, word, &error) != 0) {
		FUZZ_CHECK(error && *error);
		return;
	}
	while ((n = hs_ephemeron_next(&decoder, &edge, &error)) > 0)
		n_edges++;
	FUZZ_CHECK(n_edges <= size && (n == 0 || (error && *error)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	const unsigned mode = (unsigned)fuzz_number(&input, 1);
	const unsigned word = mode & COLUMNS_WORDS_OF_4 ? 4 : 8;
	uint8_t *copy = fuzz_copy(input.data, input.size);

	switch (mode & ~COLUMNS_WORDS_OF_4) {
	case COLUMNS_OBJECTS:
		columns_decode_objects(word, copy, input.size);
		break;
	case COLUMNS_ROOTS:
		decode_roots(word, copy, input.size);
		break;
	case COLUMNS_EPHEMERONS:
		decode_ephemerons(word, copy, input.size);
		break;
	case COLUMNS_OBJECT_ROWS:
		columns_encode_objects(word, input);
		break;
	case COLUMNS_ROOT_ROWS:
		columns_encode_roots(word, input);
		break;
	case COLUMNS_EPHEMERON_ROWS:
		columns_encode_ephemerons(word, input);
		break;
	default:
		break;
	}
	free(copy);
	return 0;
}
