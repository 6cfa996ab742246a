/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the encoders of packed columns: rows made of the input, as the runtime
 * may walk them, must come back from the decoder as they were.
 */
#include "schema/columns.h"
#include "schema/tag.h"
#include "tests/fuzz/columns.h"
#include "tests/fuzz/fuzz.h"

#define N_TYPES   24u
#define N_DOMAINS 2u

struct made_row {
	struct hs_row row;
	uintptr_t offsets[HS_ROW_REFS_MAX];
	void *refs[HS_ROW_REFS_MAX];
};

/* A row that the encoder's contract allows, whatever the input. */
static void make_row(struct fuzz_input *input, unsigned word, uint64_t *address,
		     struct made_row *made)
{
	struct hs_row *row = &made->row;
	const unsigned flags = (unsigned)fuzz_number(input, 1);
	const unsigned type = flags % N_TYPES, family = type % 3;
	uint64_t target, base = (family == 1 ? 4 : 2) * word;

	*row = (struct hs_row){
		.type = type + 1,
		.domain = 1 + (flags >> 7) % N_DOMAINS,
		/* Instances, arrays and strings never share a type. */
		.size_varies = family != 0,
		.is_array = family == 1,
		.offsets = made->offsets,
		.refs = made->refs,
	};
	if (fuzz_number(input, 1) >= 0xf0)
		row->is_continuation = true;
	*address += fuzz_number(input, flags & 0x40 ? 6 : 1) * word;
	row->address = word == 4 ? *address & 0xfffffffc : *address;
	if (!row->is_continuation) {
		row->size = fuzz_number(input, 1) + (flags & 0x20 ? fuzz_number(input, 7) : 0);
		row->slot_size = (row->size + word - 1) / word * word +
				 word * (flags & 0x10 ? fuzz_number(input, 2) : 0);
	} else {
		base = 0;
	}
	row->n_refs = family == 2 ? 0 : (uint32_t)fuzz_number(input, 1) % (HS_ROW_REFS_MAX + 1);
	for (uint32_t i = 0; i < row->n_refs; i++) {
		base += word * (fuzz_number(input, 1) & 3);
		made->offsets[i] = (uintptr_t)base;
		base += word;
		target = fuzz_number(input, flags & 0x08 ? 8 : 1) * word;
		if (!(flags & 0x08))
			target += row->address;
		made->refs[i] = (void *)(uintptr_t)(word == 4 ? target & 0xfffffffc : target);
	}
}

/* An encoder, and the hints of its rows. */
struct encoder {
	struct hs_batch_encoder *encoder;
	struct hs_shape_hint hints[N_TYPES][N_DOMAINS];
};

/* The one for words of WORD bytes: what earlier inputs left in it must not matter. */
static struct encoder *get_encoder(unsigned word)
{
	static struct encoder encoders[2];
	struct encoder *encoder = &encoders[word == 4];
	const size_t bytes = (hs_batch_encoder_bytes() + 63) / 64 * 64;
	void *memory;

	if (!encoder->encoder) {
		memory = aligned_alloc(64, bytes);
		FUZZ_CHECK(memory);
		memset(memory, 0, bytes);
		encoder->encoder = hs_batch_encoder_init(memory, word);
	}
	return encoder;
}

static void check_row(const struct made_row *made, const struct hs_decoded_row *row)
{
	const struct hs_row *from = &made->row;

	FUZZ_CHECK(row->address == from->address);
	FUZZ_CHECK(row->type == from->type && row->domain == from->domain);
	FUZZ_CHECK(row->is_continuation == from->is_continuation && row->n_refs == from->n_refs);
	FUZZ_CHECK(row->size == from->size && row->slot_size == from->slot_size);
	for (uint32_t i = 0; i < from->n_refs; i++) {
		FUZZ_CHECK(row->offsets[i] == from->offsets[i]);
		FUZZ_CHECK(row->refs[i] == (uintptr_t)from->refs[i]);
	}
}

/* Finishes the batch of the first N rows of MADE, and reads it back. */
static void check_batch(struct hs_batch_encoder *encoder, const struct made_row *made, size_t n,
			unsigned word)
{
	const size_t bytes = hs_batch_bytes(encoder);
	uint8_t *out = malloc(bytes ? bytes : 1);
	struct hs_batch_decoder *decoder = hs_batch_decoder_init(columns_decoder_memory(), word);
	struct hs_decoded_row row;
	const char *error = NULL;

	FUZZ_CHECK(out && bytes <= HS_RECORD_MAX - 64 && hs_batch_rows(encoder) == n);
	FUZZ_CHECK(hs_batch_finish(encoder, out) == bytes);
	FUZZ_CHECK(hs_batch_decode(decoder, out, bytes, HS_WANT_REFERENCES, &error) == 0);
	FUZZ_CHECK(hs_batch_decoder_snapshot(decoder) == 3 &&
		   hs_batch_decoder_generation(decoder) == 1);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(hs_batch_next(decoder, &row, &error) == 1);
		check_row(&made[i], &row);
	}
	FUZZ_CHECK(hs_batch_next(decoder, &row, &error) == 0);
	columns_decode_objects(word, out, bytes);
	free(out);
}

void columns_encode_objects(unsigned word, struct fuzz_input input)
{
	static struct made_row made[HS_BATCH_ROWS_MAX];
	struct encoder *encoder = get_encoder(word);
	uint64_t address = 0x10000;
	size_t n = 0;

	hs_batch_begin(encoder->encoder, 3, 1);
	while (input.size) {
		struct hs_row *row = &made[n].row;

		make_row(&input, word, &address, &made[n]);
		if (hs_batch_add(encoder->encoder, row,
				 &encoder->hints[row->type - 1][row->domain - 1]) &&
		    ++n < HS_BATCH_ROWS_MAX)
			continue;
		/* Full, with the row or without it. */
		check_batch(encoder->encoder, made, n, word);
		hs_batch_begin(encoder->encoder, 3, 1);
		if (n < HS_BATCH_ROWS_MAX) {
			made[0].row = *row;
			memcpy(made[0].offsets, row->offsets, sizeof made[0].offsets);
			memcpy(made[0].refs, row->refs, sizeof made[0].refs);
			made[0].row.offsets = made[0].offsets;
			made[0].row.refs = made[0].refs;
			row = &made[0].row;
			FUZZ_CHECK(hs_batch_add(encoder->encoder, row,
						&encoder->hints[row->type - 1][row->domain - 1]));
			n = 1;
		} else {
			n = 0;
		}
	}
	check_batch(encoder->encoder, made, n, word);
}

void columns_encode_roots(unsigned word, struct fuzz_input input)
{
	static uint8_t memory[16 << 10], out[sizeof memory + 256];
	static struct hs_decoded_root made[sizeof memory];
	struct hs_root_encoder encoder;
	struct hs_root_decoder decoder;
	struct hs_decoded_root root;
	const char *error = NULL;
	uint32_t n_sources = 0;
	size_t n = 0, bytes, i;

	hs_root_encoder_init(&encoder, memory, sizeof memory, word);
	hs_root_begin(&encoder, 3);
	while (input.size) {
		const unsigned flags = (unsigned)fuzz_number(&input, 1);
		if (flags >= 0xc0 || !n_sources) {
			const size_t most = flags & 0x3f;
			const size_t size = most < input.size ? most : input.size;
			const uint32_t index = hs_root_add_source(&encoder, input.data, size);
			FUZZ_CHECK(index == 0 || index == n_sources + 1);
			n_sources += index != 0;
			input.data += size;
			input.size -= size;
			if (!n_sources)
				break;
			continue;
		}
		made[n].source = 1 + flags % n_sources;
		made[n].address = fuzz_number(&input, flags & 0x40 ? 8 : 2);
		made[n].object = fuzz_number(&input, flags & 0x20 ? 8 : 2) / word * word;
		if (!hs_root_add(&encoder, made[n].source, made[n].address, made[n].object))
			break;
		n++;
	}
	bytes = hs_root_bytes(&encoder);
	FUZZ_CHECK(bytes <= sizeof out && hs_root_finish(&encoder, out) == bytes);
	FUZZ_CHECK(hs_root_decode(&decoder, out, bytes, word, &error) == 0);
	FUZZ_CHECK(decoder.n_sources == n_sources && decoder.snapshot == 3 && !decoder.n_unknown);
	for (i = 0; i < n; i++) {
		FUZZ_CHECK(hs_root_next(&decoder, &root, &error) == 1);
		FUZZ_CHECK(root.source == made[i].source && root.address == made[i].address &&
			   root.object == made[i].object);
	}
	FUZZ_CHECK(hs_root_next(&decoder, &root, &error) == 0);
}

void columns_encode_ephemerons(unsigned word, struct fuzz_input input)
{
	static uint8_t memory[12 << 10], out[sizeof memory + 256];
	static struct hs_decoded_ephemeron made[sizeof memory];
	struct hs_ephemeron_encoder encoder;
	struct hs_ephemeron_decoder decoder;
	struct hs_decoded_ephemeron edge;
	const char *error = NULL;
	size_t n = 0, bytes, i;

	hs_ephemeron_encoder_init(&encoder, memory, sizeof memory, word);
	hs_ephemeron_begin(&encoder, 3);
	while (input.size) {
		const size_t width = 1 + fuzz_number(&input, 1) % 8;
		made[n].table = fuzz_number(&input, width) / word * word;
		made[n].key = fuzz_number(&input, width) / word * word;
		made[n].value = fuzz_number(&input, width) / word * word;
		if (!hs_ephemeron_add(&encoder, made[n].table, made[n].key, made[n].value))
			break;
		n++;
	}
	bytes = hs_ephemeron_bytes(&encoder);
	FUZZ_CHECK(bytes <= sizeof out && hs_ephemeron_finish(&encoder, out) == bytes);
	FUZZ_CHECK(hs_ephemeron_decode(&decoder, out, bytes, word, &error) == 0);
	FUZZ_CHECK(decoder.snapshot == 3 && !decoder.n_unknown);
	for (i = 0; i < n; i++) {
		FUZZ_CHECK(hs_ephemeron_next(&decoder, &edge, &error) == 1);
		FUZZ_CHECK(edge.table == made[i].table && edge.key == made[i].key &&
			   edge.value == made[i].value);
	}
	FUZZ_CHECK(hs_ephemeron_next(&decoder, &edge, &error) == 0);
}
