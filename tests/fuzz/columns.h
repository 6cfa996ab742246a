/* SPDX-License-Identifier: MIT */
/*
 * First bytes of inputs of the target "columns", and what its files share.
 */
#ifndef HEAPSHOT_TESTS_FUZZ_COLUMNS_H
#define HEAPSHOT_TESTS_FUZZ_COLUMNS_H

#include "tests/fuzz/fuzz.h"

enum columns_mode {
	/* An encoded batch follows. */
	COLUMNS_OBJECTS,
	COLUMNS_ROOTS,
	COLUMNS_EPHEMERONS,
	/* Rows follow, to be encoded. */
	COLUMNS_OBJECT_ROWS,
	COLUMNS_ROOT_ROWS,
	COLUMNS_EPHEMERON_ROWS,
	/* Together with one of those: words have 4 bytes, not 8. */
	COLUMNS_WORDS_OF_4 = 8,
};

/* Memory of a decoder, with what others left in it. */
void *columns_decoder_memory(void);

/* Reads a batch in all ways there are, and compares what they find. */
void columns_decode_objects(unsigned word_bytes, const uint8_t *data, size_t size);

/* Encode the rows that INPUT describes, and read them back. */
void columns_encode_objects(unsigned word, struct fuzz_input input);
void columns_encode_roots(unsigned word, struct fuzz_input input);
void columns_encode_ephemerons(unsigned word, struct fuzz_input input);

#endif
