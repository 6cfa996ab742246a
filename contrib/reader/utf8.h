/* SPDX-License-Identifier: MIT */
/*
 * Reading UTF-8 that may not be valid.
 */
#ifndef HEAPSHOT_READER_UTF8_H
#define HEAPSHOT_READER_UTF8_H

#include <stdint.h>

/*
 * Reads one character at *TEXT, which ends with a NUL, and moves on.  Returns its
 * code point, or -1 (one byte further) where there is no valid one.
 */
static inline int32_t hs_utf8_next(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	int32_t point;
	int more, i;

	*text += 1;
	if (p[0] < 0x80)
		return p[0];
	if (p[0] >= 0xC2 && p[0] <= 0xDF) {
		more = 1;
		point = p[0] & 0x1F;
	} else if (p[0] >= 0xE0 && p[0] <= 0xEF) {
		more = 2;
		point = p[0] & 0x0F;
	} else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
		more = 3;
		point = p[0] & 0x07;
	} else {
		return -1;
	}
	for (i = 1; i <= more; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return -1;
		point = point << 6 | (p[i] & 0x3F);
	}
	if ((more == 2 && (point < 0x800 || (point >= 0xD800 && point <= 0xDFFF))) ||
	    (more == 3 && (point < 0x10000 || point > 0x10FFFF)))
		return -1;
	*text += more;
	return point;
}

#endif
