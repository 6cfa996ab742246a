/* SPDX-License-Identifier: MIT */
/*
 * Texts for the file: valid UTF-8 of bounded length.
 */
#ifndef HEAPSHOT_PROFILER_TEXT_H
#define HEAPSHOT_PROFILER_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A text ready for the file; hs_text_free() it.  text is never NULL unless memory was short. */
struct hs_text {
	const char *text;
	char *owned;          /* NULL: the text is where it was */
	size_t bytes;         /* without the zero byte */
	uint64_t whole_bytes; /* of the whole text, if it was cut, else 0 */
	uint64_t whole_hash;  /* FNV-1a 64 of the whole text, if it was cut */
};

/*
 * TEXT (NULL counts as "") as it stands, if it may go to the file like that; else a
 * copy, in which invalid bytes have become U+FFFD, and which is cut in the middle
 * and joined by U+2026 where it would be longer than MAX bytes.  May allocate: for
 * running threads only.
 */
struct hs_text hs_text_of(const char *text, size_t max);
void hs_text_free(struct hs_text *text);

/*
 * Writes the BYTES bytes of TEXT (NULL when there are none) and a zero byte to OUT;
 * returns where the next text goes.
 */
char *hs_text_append(char *out, const char *text, size_t bytes);

/* FNV-1a of 64 bits. */
uint64_t hs_fnv1a(const void *data, size_t bytes);

#endif
