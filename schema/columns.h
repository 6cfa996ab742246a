/* SPDX-License-Identifier: MIT */
/*
 * Packed columns of object, root and ephemeron batches: encoders and decoders
 * side by side.  Nothing here allocates, locks or calls the system, so that
 * encoding works while the world is stopped.  FORMAT.md, "Object batches", is
 * the specification; the names below are those of heapshot.proto.
 *
 * All functions take W (word bytes, 4 or 8) from the encoder or decoder.
 */
#ifndef HEAPSHOT_SCHEMA_COLUMNS_H
#define HEAPSHOT_SCHEMA_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_BATCH_ROWS_MAX   4096u
#define HS_BATCH_SLOTS_MAX  16384u /* slots of all shapes of a batch */
#define HS_BATCH_SHAPES_MAX 2000u
#define HS_SHAPE_SLOTS_MAX  30u  /* more references in a row: flag 2 */
#define HS_TYPE_SHAPES_MAX  32u  /* shapes of one type in a batch, then flag 2 */
#define HS_ROW_REFS_MAX     128u /* references a row can carry (the runtime's chunk) */

enum hs_shape_flag {
	HS_SHAPE_SIZE_VARIES = 1,
	HS_SHAPE_REFS_VARY = 2,
	HS_SHAPE_CONTINUATION = 4,
	HS_SHAPE_KNOWN_FLAGS = 7,
};

/*
 * A caller's memory of the shapes that a type has in the current batch.  One
 * per (type, domain), kept beside the caller's other facts about the type, and
 * zero-initialised once; the encoder notices by itself that it is of an old batch.
 */
struct hs_shape_hint {
	uint64_t batch;     /* serial number of the batch it speaks of; never 0 there */
	uint16_t last;      /* shape used last, from 1 */
	uint16_t first;     /* head of the chain of this type's shapes */
	uint16_t count;     /* shapes of the type in this batch */
	uint16_t varying;   /* its shape with flag 2 (without flag 4), 0: none yet */
	uint16_t continued; /* its shape with flags 2 and 4 */
};

/* One call of the runtime's heap walk. */
struct hs_row {
	uint64_t address;
	uint64_t size;      /* exact bytes; 0 in a continuation */
	uint64_t slot_size; /* bytes of the heap slot, >= size; 0 in a continuation */
	uint32_t type;
	uint32_t domain;
	uint32_t n_refs;          /* <= HS_ROW_REFS_MAX */
	bool is_continuation;     /* further references of the previous row's object */
	bool size_varies;         /* string or array */
	bool is_array;            /* slots count from 4 W */
	const uintptr_t *offsets; /* bytes from the object's start, ascending */
	void *const *refs;
};

/*
 * Encoder of object batches.
 */
struct hs_batch_encoder;

/* Bytes of memory an encoder needs (fixed, below 1 MB). */
size_t hs_batch_encoder_bytes(void);

/* Makes an encoder in MEMORY, which is zeroed and aligned to 64 bytes. */
struct hs_batch_encoder *hs_batch_encoder_init(void *memory, unsigned word_bytes);

/* Starts an empty batch. */
void hs_batch_begin(struct hs_batch_encoder *encoder, uint64_t snapshot, uint32_t generation);

/*
 * Adds a row.  Returns false, and adds nothing, when the batch has no room
 * left: finish it, begin the next, and add the row there (always works then).
 */
bool hs_batch_add(struct hs_batch_encoder *encoder, const struct hs_row *row,
		  struct hs_shape_hint *hint);

uint32_t hs_batch_rows(const struct hs_batch_encoder *encoder);

/* Exact bytes that hs_batch_finish will write. */
size_t hs_batch_bytes(const struct hs_batch_encoder *encoder);

/* Writes the ObjectBatch message; returns its length, at most HS_RECORD_MAX - 64. */
size_t hs_batch_finish(struct hs_batch_encoder *encoder, uint8_t *out);

/*
 * Decoder of object batches.  Trusts nothing: counts, indexes and lengths are
 * checked before use.
 */
struct hs_batch_decoder;

/* MEMORY is hs_batch_decoder_bytes() aligned to 8; it need not be zeroed. */
size_t hs_batch_decoder_bytes(void);
struct hs_batch_decoder *hs_batch_decoder_init(void *memory, unsigned word_bytes);

enum hs_batch_want {
	HS_WANT_ROWS = 0,       /* type, domain, address, sizes, reference count */
	HS_WANT_REFERENCES = 1, /* also slots and references */
};

/*
 * Begins to decode the ObjectBatch message of SIZE bytes at DATA, which must
 * stay until the last row was read.  Returns 0, or -1 with a static text in
 * *error.  Without HS_WANT_REFERENCES the two large columns are passed over.
 */
int hs_batch_decode(struct hs_batch_decoder *decoder, const uint8_t *data, size_t size,
		    enum hs_batch_want want, const char **error);

/* The batch's snapshot, generation, number of rows, and of fields unknown to us. */
uint64_t hs_batch_decoder_snapshot(const struct hs_batch_decoder *decoder);
uint32_t hs_batch_decoder_generation(const struct hs_batch_decoder *decoder);
uint32_t hs_batch_decoder_rows(const struct hs_batch_decoder *decoder);
uint32_t hs_batch_decoder_unknown(const struct hs_batch_decoder *decoder);

/* A row as it was recorded; offsets and refs live until the next row is read. */
struct hs_decoded_row {
	uint64_t address;
	uint64_t size;
	uint64_t slot_size;
	uint32_t type;
	uint32_t domain;
	uint64_t n_refs;
	bool is_continuation;
	const uint64_t *offsets; /* NULL without HS_WANT_REFERENCES */
	const uint64_t *refs;
};

/* Returns 1 with the next row, 0 behind the last one, -1 with *error set. */
int hs_batch_next(struct hs_batch_decoder *decoder, struct hs_decoded_row *row, const char **error);

/* What the rows of one shape come to. */
struct hs_shape_total {
	uint32_t type;
	uint32_t domain;
	uint64_t objects; /* rows that are no continuations */
	uint64_t bytes;
	uint64_t slot_bytes;
	uint64_t references;
	bool has_wrapped; /* a sum passed 2^64 */
};

/*
 * Instead of reading rows: sums the whole batch by shape into TOTALS, which has
 * room for HS_BATCH_SHAPES_MAX.  Addresses and references are passed over, so
 * that a row costs little more than its shape's index.  Returns the number of
 * shapes, or -1 with *error set.  Right after hs_batch_decode only.
 */
int hs_batch_totals(struct hs_batch_decoder *decoder, struct hs_shape_total *totals,
		    const char **error);

/* Order-independent hash of addresses: SnapshotEnd.object_hash is their sum. */
static inline uint64_t hs_object_mix(uint64_t address)
{
	address ^= address >> 33;
	address *= 0xff51afd7ed558ccdULL;
	address ^= address >> 33;
	address *= 0xc4ceb9fe1a85ec53ULL;
	address ^= address >> 33;
	return address;
}

/*
 * Roots.  The sources (kind, name, ...) are encoded RootSource messages that
 * the caller makes; the encoder joins them with the packed columns.  It writes
 * into OUT (CAP bytes) directly and never more.
 */
struct hs_root_encoder {
	uint8_t *sources, *index, *address, *object; /* four areas of AREA bytes */
	size_t n_sources_bytes, n_index, n_address, n_object;
	size_t area;
	uint64_t snapshot, last_address, last_object;
	uint32_t n_roots, n_sources;
	unsigned word_bytes;
};

/* MEMORY is split into the four areas. */
void hs_root_encoder_init(struct hs_root_encoder *encoder, void *memory, size_t bytes,
			  unsigned word_bytes);
void hs_root_begin(struct hs_root_encoder *encoder, uint64_t snapshot);

/* Adds an encoded RootSource; returns its index from 1, or 0 when there is no room. */
uint32_t hs_root_add_source(struct hs_root_encoder *encoder, const uint8_t *message, size_t size);

/* Adds a root; false when there is no room. */
bool hs_root_add(struct hs_root_encoder *encoder, uint32_t source, uint64_t address,
		 uint64_t object);
size_t hs_root_bytes(const struct hs_root_encoder *encoder);
size_t hs_root_finish(struct hs_root_encoder *encoder, uint8_t *out);

/* Ephemeron edges: the same in three columns. */
struct hs_ephemeron_encoder {
	uint8_t *table, *key, *value;
	size_t n_table, n_key, n_value, area;
	uint64_t snapshot, last_table, last_key, last_value;
	uint32_t n_edges;
	unsigned word_bytes;
};

void hs_ephemeron_encoder_init(struct hs_ephemeron_encoder *encoder, void *memory, size_t bytes,
			       unsigned word_bytes);
void hs_ephemeron_begin(struct hs_ephemeron_encoder *encoder, uint64_t snapshot);
bool hs_ephemeron_add(struct hs_ephemeron_encoder *encoder, uint64_t table, uint64_t key,
		      uint64_t value);
size_t hs_ephemeron_bytes(const struct hs_ephemeron_encoder *encoder);
size_t hs_ephemeron_finish(struct hs_ephemeron_encoder *encoder, uint8_t *out);

/*
 * Decoding of both: columns are iterated in step by a cursor over the encoded
 * message; source messages are handed out as slices.
 */
struct hs_slice {
	const uint8_t *data, *end;
};

struct hs_root_decoder {
	struct hs_slice index, address, object, message;
	uint64_t snapshot, last_address, last_object;
	uint32_t n_sources, n_unknown;
	unsigned word_bytes;
};

struct hs_decoded_root {
	uint32_t source; /* from 1, checked against n_sources */
	uint64_t address;
	uint64_t object;
};

int hs_root_decode(struct hs_root_decoder *decoder, const uint8_t *data, size_t size,
		   unsigned word_bytes, const char **error);
/* Encoded RootSource number INDEX (from 1); iterate by calling with 1, 2, ...; O(1) amortised
 * through *cursor, which starts as {NULL, NULL}. Returns 1, 0 behind the last. */
int hs_root_next_source(const struct hs_root_decoder *decoder, struct hs_slice *cursor,
			struct hs_slice *source);
int hs_root_next(struct hs_root_decoder *decoder, struct hs_decoded_root *root, const char **error);

struct hs_ephemeron_decoder {
	struct hs_slice table, key, value;
	uint64_t snapshot, last_table, last_key, last_value;
	uint32_t n_unknown;
	unsigned word_bytes;
};

struct hs_decoded_ephemeron {
	uint64_t table, key, value;
};

int hs_ephemeron_decode(struct hs_ephemeron_decoder *decoder, const uint8_t *data, size_t size,
			unsigned word_bytes, const char **error);
int hs_ephemeron_next(struct hs_ephemeron_decoder *decoder, struct hs_decoded_ephemeron *edge,
		      const char **error);

#endif
