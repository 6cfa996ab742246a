/* SPDX-License-Identifier: MIT */
/*
 * Prints what encoding and decoding the rows of a made-up heap costs, in ns a
 * row.  Not a test: `make tests/bench/columns_bench && tests/bench/columns_bench`.
 *
 * The heap is a mixture as programs have it: strings, arrays of references,
 * arrays of values, instances of 200 types whose fields are null now and then,
 * neighbours that refer to neighbours, a tenth of the objects in larger slots.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "schema/columns.h"
#include "schema/tag.h"

#define N_TYPES 200u
#define N_ROWS  65536u

struct kind {
	unsigned n_fields;
	unsigned null_percent;
	bool is_string, is_array, has_refs;
};

static uint64_t seed = 20231;
static struct kind kinds[N_TYPES];
static struct hs_shape_hint hints[N_TYPES];
static struct hs_row rows[N_ROWS];
static uintptr_t offsets[N_ROWS * 16];
static void *refs[N_ROWS * 16];
static uint8_t *batches[4096];
static size_t batch_bytes[4096];
static unsigned n_batches;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) * below >> 31);
}

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double min(double a, double b)
{
	return a < b ? a : b;
}

/* What reading the rows alone takes. */
static double touch(unsigned rounds, uint64_t *hash)
{
	double best = 1e18;

	for (unsigned round = 0; round < rounds; round++) {
		double start = now_ns();

		for (unsigned i = 0; i < N_ROWS; i++)
			for (unsigned j = 0; j < rows[i].n_refs; j++)
				*hash += (uintptr_t)rows[i].refs[j] ^ rows[i].offsets[j];
		best = min(best, now_ns() - start);
	}
	return best / N_ROWS;
}

static void make_heap(bool is_adversarial)
{
	uint64_t address = 0x7f1200000000u;
	size_t n_refs = 0;
	unsigned type = 0, run = 0;

	for (unsigned i = 0; i < N_TYPES; i++) {
		kinds[i] = (struct kind){.n_fields = draw(i % 3 ? 4 : 7),
					 .null_percent = draw(3) ? 0 : 10};
		if (is_adversarial)
			kinds[i] = (struct kind){.n_fields = 16, .null_percent = 50};
	}
	if (!is_adversarial) {
		kinds[0] = (struct kind){.is_string = true};
		kinds[1] = (struct kind){.is_array = true, .has_refs = true};
		kinds[2] = (struct kind){.is_array = true};
	}
	for (unsigned i = 0; i < N_ROWS; i++) {
		struct hs_row *row = &rows[i];
		const struct kind *kind;

		if (!run) {
			type = draw(3) ? draw(8) : draw(draw(N_TYPES) + 1);
			run = draw(4) ? 1 : 8;
		}
		run--;
		kind = &kinds[type];
		*row = (struct hs_row){.address = address,
				       .type = type + 1,
				       .domain = 1,
				       .offsets = offsets + n_refs,
				       .refs = refs + n_refs};
		row->size_varies = kind->is_string || kind->is_array;
		row->is_array = kind->is_array;
		if (kind->is_string)
			row->size = 20 + 2 * draw(40);
		else if (kind->is_array)
			row->size = 32 + 8 * draw(14);
		else
			row->size = 16 + 8 * (kind->n_fields + 1);
		for (unsigned j = 0; j < (kind->has_refs ? (row->size - 32) / 8 : kind->n_fields);
		     j++) {
			if (draw(100) < kind->null_percent)
				continue;
			offsets[n_refs] = (kind->is_array ? 32 : 16) + 8 * j;
			refs[n_refs++] =
				(void *)(uintptr_t)(draw(10) < 7
							    ? address + 64 * (j + 1)
							    : address + 8 * draw(1u << draw(20)));
			row->n_refs++;
		}
		row->slot_size = (row->size + 7) / 8 * 8 + (draw(10) ? 0 : 16);
		address += row->slot_size;
	}
}

static void finish(struct hs_batch_encoder *encoder, bool is_kept)
{
	static uint8_t out[HS_RECORD_MAX];
	size_t size = hs_batch_finish(encoder, is_kept ? batches[n_batches] : out);

	if (is_kept)
		batch_bytes[n_batches++] = size;
	hs_batch_begin(encoder, 1, 1);
}

static double encode(struct hs_batch_encoder *encoder, unsigned rounds, bool is_kept)
{
	double best = 1e18;

	for (unsigned round = 0; round < rounds; round++) {
		double start = now_ns();

		hs_batch_begin(encoder, 1, 1);
		for (unsigned i = 0; i < N_ROWS; i++) {
			struct hs_shape_hint *hint = &hints[rows[i].type - 1];

			if (!hs_batch_add(encoder, &rows[i], hint)) {
				finish(encoder, is_kept);
				hs_batch_add(encoder, &rows[i], hint);
			}
		}
		finish(encoder, is_kept);
		best = min(best, now_ns() - start);
	}
	return best / N_ROWS;
}

static double decode(struct hs_batch_decoder *decoder, unsigned rounds, enum hs_batch_want want,
		     uint64_t *hash)
{
	struct hs_decoded_row row;
	const char *error;
	double best = 1e18;

	for (unsigned round = 0; round < rounds; round++) {
		double start = now_ns();

		for (unsigned i = 0; i < n_batches; i++) {
			hs_batch_decode(decoder, batches[i], batch_bytes[i], want, &error);
			while (hs_batch_next(decoder, &row, &error) > 0)
				*hash += row.size + row.type + row.n_refs;
		}
		best = min(best, now_ns() - start);
	}
	return best / N_ROWS;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	struct hs_batch_encoder *encoder;
	struct hs_batch_decoder *decoder;
	uint64_t hash = 0;

	encoder = hs_batch_encoder_init(calloc(1, hs_batch_encoder_bytes()), 8);
	decoder = hs_batch_decoder_init(calloc(1, hs_batch_decoder_bytes()), 8);
	for (unsigned i = 0; i < 4096; i++)
		batches[i] = malloc(HS_RECORD_MAX);
	for (int is_adversarial = 0; is_adversarial < 2; is_adversarial++) {
		size_t bytes = 0, n_refs = 0;

		make_heap(is_adversarial);
		n_batches = 0;
		encode(encoder, 1, true);
		for (unsigned i = 0; i < n_batches; i++)
			bytes += batch_bytes[i];
		for (unsigned i = 0; i < N_ROWS; i++)
			n_refs += rows[i].n_refs;
		printf("%s: %.2f references a row, %.2f bytes a row, %u batches\n",
		       is_adversarial ? "random nulls" : "mixture", (double)n_refs / N_ROWS,
		       (double)bytes / N_ROWS, n_batches);
		printf("  read %.2f, encode %.2f ns a row\n", touch(rounds, &hash),
		       encode(encoder, rounds, false));
		printf("  decode %.2f ns a row, without references %.2f\n",
		       decode(decoder, rounds, HS_WANT_REFERENCES, &hash),
		       decode(decoder, rounds, HS_WANT_ROWS, &hash));
	}
	return hash == 0;
}
