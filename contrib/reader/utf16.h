/* SPDX-License-Identifier: MIT */
/*
 * Texts of string objects, which are UTF-16.
 */
#ifndef HEAPSHOT_READER_UTF16_H
#define HEAPSHOT_READER_UTF16_H

#include <stddef.h>
#include <stdint.h>

/* Writes UTF-16LE as UTF-8; unpaired surrogates become U+FFFD.  OUT has 3 bytes a unit and one. */
static inline size_t hs_utf16_to_utf8(const uint8_t *text, size_t bytes, char *out)
{
	size_t n = 0, i;

	for (i = 0; i + 1 < bytes; i += 2) {
		uint32_t point = text[i] | (uint32_t)text[i + 1] << 8;
		uint32_t next = i + 3 < bytes ? text[i + 2] | (uint32_t)text[i + 3] << 8 : 0;

		if (point >= 0xD800 && point < 0xDC00 && next >= 0xDC00 && next < 0xE000) {
			point = 0x10000 + ((point - 0xD800) << 10) + (next - 0xDC00);
			i += 2;
		} else if (point >= 0xD800 && point < 0xE000) {
			point = 0xFFFD;
		}
		if (point < 0x80) {
			out[n++] = (char)point;
		} else if (point < 0x800) {
			out[n++] = (char)(0xC0 | point >> 6);
			out[n++] = (char)(0x80 | (point & 0x3F));
		} else if (point < 0x10000) {
			out[n++] = (char)(0xE0 | point >> 12);
			out[n++] = (char)(0x80 | (point >> 6 & 0x3F));
			out[n++] = (char)(0x80 | (point & 0x3F));
		} else {
			out[n++] = (char)(0xF0 | point >> 18);
			out[n++] = (char)(0x80 | (point >> 12 & 0x3F));
			out[n++] = (char)(0x80 | (point >> 6 & 0x3F));
			out[n++] = (char)(0x80 | (point & 0x3F));
		}
	}
	out[n] = '\0';
	return n;
}

#endif
