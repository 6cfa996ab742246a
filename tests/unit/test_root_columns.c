/* SPDX-License-Identifier: MIT */
/*
 * Root and ephemeron batches: held against the generated code and against the
 * values that went in.
 */
#include <criterion/criterion.h>

#include "schema/heapshot.pb-c.h"
#include "tests/unit/columns_case.h"
#include "tests/unit/leak_check.h"

TestSuite(root_columns, .fini = leak_check);

#define MOST 30000u

static uint64_t in[3][MOST];
static uint8_t out[HS_RECORD_MAX], again[HS_RECORD_MAX];

static uint64_t word_address(unsigned word, unsigned wild_percent)
{
	uint64_t address =
		case_chance(wild_percent) ? case_random() : 0x7f0000000000u + case_draw(1u << 20);

	return (word == 4 ? address & 0xffffffffu : address) / word * word;
}

static size_t pack_source(unsigned i, uint8_t *message)
{
	static char name[70000];
	Heapshot__RootSource source = HEAPSHOT__ROOT_SOURCE__INIT;

	/* Some are empty: a kind not known, and nothing else. */
	if (i % 7) {
		memset(name, 'a' + i % 26, sizeof(name));
		name[i * 37 % 300] = 0;
		source.kind = (Heapshot__RootKind)(i % 19);
		source.name = name;
	}
	return heapshot__root_source__pack(&source, message);
}

static void check_roots(struct hs_root_encoder *encoder, unsigned n_roots, unsigned n_sources,
			unsigned word)
{
	size_t size = hs_root_bytes(encoder);
	Heapshot__RootBatch *batch;
	struct hs_root_decoder decoder;
	struct hs_slice cursor = {NULL, NULL}, source;
	struct hs_decoded_root root;
	static uint8_t message[1024];
	const char *error = "";

	cr_assert_leq(size, HS_RECORD_MAX - 64);
	cr_assert_eq(hs_root_finish(encoder, out), size);
	batch = heapshot__root_batch__unpack(NULL, size, out);
	cr_assert_not_null(batch);
	cr_assert_eq(batch->snapshot, 9);
	cr_assert_eq(batch->n_source, n_sources);
	cr_assert_eq(batch->n_source_index, n_roots);
	cr_assert_eq(batch->n_address, n_roots);
	cr_assert_eq(batch->n_object, n_roots);
	for (unsigned i = 0; i < n_roots; i++) {
		uint64_t before[2] = {i ? in[1][i - 1] : 0, i ? in[2][i - 1] : 0};

		cr_assert_eq(batch->source_index[i], in[0][i]);
		cr_assert_eq(batch->address[i], (int64_t)(in[1][i] - before[0]));
		cr_assert_eq(batch->object[i], (int64_t)(in[2][i] - before[1]) / (int)word);
	}
	cr_assert_eq(heapshot__root_batch__pack(batch, again), size);
	cr_assert_eq(memcmp(again, out, size), 0);
	heapshot__root_batch__free_unpacked(batch, NULL);

	cr_assert_eq(hs_root_decode(&decoder, out, size, word, &error), 0, "%s", error);
	cr_assert_eq(decoder.snapshot, 9);
	cr_assert_eq(decoder.n_sources, n_sources);
	cr_assert_eq(decoder.n_unknown, 0);
	for (unsigned i = 0; i < n_sources; i++) {
		size_t want = pack_source(i, message);

		cr_assert_eq(hs_root_next_source(&decoder, &cursor, &source), 1);
		cr_assert_eq((size_t)(source.end - source.data), want);
		cr_assert_eq(memcmp(source.data, message, want), 0);
	}
	cr_assert_eq(hs_root_next_source(&decoder, &cursor, &source), 0);
	for (unsigned i = 0; i < n_roots; i++) {
		cr_assert_eq(hs_root_next(&decoder, &root, &error), 1, "%s", error);
		cr_assert_eq(root.source, in[0][i]);
		cr_assert_eq(root.address, in[1][i]);
		cr_assert_eq(root.object, in[2][i]);
	}
	cr_assert_eq(hs_root_next(&decoder, &root, &error), 0);
}

Test(root_columns, random_batches)
{
	static uint8_t memory[4 * 20000], message[1024];
	struct hs_root_encoder encoder;

	case_seed(5);
	for (unsigned round = 0; round < 24; round++) {
		unsigned word = round % 2 ? 8 : 4, wild = round % 3 * 50;
		unsigned most = round < 4 ? round : round % 4 == 0 ? MOST : case_draw(3000);
		unsigned n_roots = 0, n_sources = 0;

		hs_root_encoder_init(&encoder, memory, sizeof(memory), word);
		hs_root_begin(&encoder, 9);
		while (n_roots < most) {
			if (!n_sources || case_chance(3)) {
				size_t size = pack_source(n_sources, message);
				uint32_t index = hs_root_add_source(&encoder, message, size);

				if (!index)
					break;
				cr_assert_eq(index, ++n_sources);
			}
			in[0][n_roots] = 1 + case_draw(n_sources);
			in[1][n_roots] = case_chance(10) ? case_draw(5) : case_random();
			in[2][n_roots] = word_address(word, wild);
			/* A slot is an address of the process, too. */
			if (!hs_root_add(&encoder, (uint32_t)in[0][n_roots], in[1][n_roots],
					 in[2][n_roots]))
				break;
			n_roots++;
		}
		cr_assert(most < MOST || n_roots < MOST, "the batch was not filled");
		check_roots(&encoder, n_roots, n_sources, word);
	}
}

Test(root_columns, record_is_never_too_large)
{
	size_t bytes = 4 * HS_RECORD_MAX;
	uint8_t *memory = malloc(bytes);
	static uint8_t message[60000];
	struct hs_root_encoder encoder;
	unsigned n = 0;

	/* Areas larger than a record: its own limit counts. */
	hs_root_encoder_init(&encoder, memory, bytes, 8);
	hs_root_begin(&encoder, 9);
	cr_assert_eq(hs_root_add_source(&encoder, message, HS_RECORD_MAX), 0);
	cr_assert_eq(hs_root_add_source(&encoder, message, sizeof(message)), 1);
	while (hs_root_add(&encoder, 1, n % 2 ? UINT64_MAX : 0, n % 2 ? 8 : UINT64_MAX - 7))
		n++;
	cr_assert_gt(n, 1000);
	cr_assert_leq(hs_root_bytes(&encoder), HS_RECORD_MAX - 64);
	cr_assert_gt(hs_root_bytes(&encoder), HS_RECORD_MAX - 256);
	cr_assert_eq(hs_root_finish(&encoder, out), hs_root_bytes(&encoder));
	free(memory);
}

Test(root_columns, ephemerons)
{
	static uint8_t memory[3 * 50000];
	struct hs_ephemeron_encoder encoder;
	struct hs_ephemeron_decoder decoder;
	struct hs_decoded_ephemeron edge;
	const char *error = "";

	case_seed(6);
	for (unsigned round = 0; round < 16; round++) {
		unsigned word = round % 2 ? 8 : 4, n = 0;
		unsigned most = round < 3 ? round : round % 4 == 0 ? MOST : case_draw(3000);
		Heapshot__EphemeronBatch *batch;
		size_t size;

		hs_ephemeron_encoder_init(&encoder, memory, sizeof(memory), word);
		hs_ephemeron_begin(&encoder, 9);
		for (; n < most; n++) {
			for (unsigned i = 0; i < 3; i++)
				in[i][n] = n && case_chance(30) ? in[i][n - 1]
								: word_address(word, round * 6);
			if (!hs_ephemeron_add(&encoder, in[0][n], in[1][n], in[2][n]))
				break;
		}
		cr_assert(most < MOST || n < MOST, "the batch was not filled");
		cr_assert_eq(encoder.n_edges, n);
		size = hs_ephemeron_bytes(&encoder);
		cr_assert_leq(size, HS_RECORD_MAX - 64);
		cr_assert_eq(hs_ephemeron_finish(&encoder, out), size);

		batch = heapshot__ephemeron_batch__unpack(NULL, size, out);
		cr_assert_not_null(batch);
		cr_assert_eq(batch->n_table, n);
		cr_assert_eq(batch->n_key, n);
		cr_assert_eq(batch->n_value, n);
		for (unsigned i = 1; i < n; i++) {
			cr_assert_eq(batch->table[i],
				     (int64_t)(in[0][i] - in[0][i - 1]) / (int)word);
			cr_assert_eq(batch->key[i], (int64_t)(in[1][i] - in[1][i - 1]) / (int)word);
			cr_assert_eq(batch->value[i],
				     (int64_t)(in[2][i] - in[2][i - 1]) / (int)word);
		}
		cr_assert_eq(heapshot__ephemeron_batch__pack(batch, again), size);
		cr_assert_eq(memcmp(again, out, size), 0);
		heapshot__ephemeron_batch__free_unpacked(batch, NULL);

		cr_assert_eq(hs_ephemeron_decode(&decoder, out, size, word, &error), 0);
		cr_assert_eq(decoder.snapshot, 9);
		for (unsigned i = 0; i < n; i++) {
			cr_assert_eq(hs_ephemeron_next(&decoder, &edge, &error), 1, "%s", error);
			cr_assert_eq(edge.table, in[0][i]);
			cr_assert_eq(edge.key, in[1][i]);
			cr_assert_eq(edge.value, in[2][i]);
		}
		cr_assert_eq(hs_ephemeron_next(&decoder, &edge, &error), 0);
	}
}
