/* SPDX-License-Identifier: MIT */
/*
 * Valid UTF-8 of bounded length.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/text.h"

static const char replacement[] = "\xEF\xBF\xBD";
static const char ellipsis[] = "\xE2\x80\xA6";

/* Length of the valid sequence at TEXT, or 0. */
static size_t sequence(const unsigned char *text)
{
	const unsigned char lead = text[0];
	unsigned low = 0x80, high = 0xBF;
	size_t n, i;

	if (lead < 0x80)
		return 1;
	if (lead >= 0xC2 && lead <= 0xDF)
		n = 2;
	else if (lead >= 0xE0 && lead <= 0xEF)
		n = 3;
	else if (lead >= 0xF0 && lead <= 0xF4)
		n = 4;
	else
		return 0;
	/* Overlong forms, surrogates, and what is above U+10FFFF. */
	if (lead == 0xE0)
		low = 0xA0;
	else if (lead == 0xED)
		high = 0x9F;
	else if (lead == 0xF0)
		low = 0x90;
	else if (lead == 0xF4)
		high = 0x8F;
	for (i = 1; i < n; i++) {
		if (text[i] < low || text[i] > high)
			return 0;
		low = 0x80;
		high = 0xBF;
	}
	return n;
}

uint64_t hs_fnv1a(const void *data, size_t bytes)
{
	const unsigned char *at = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (bytes--)
		hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
	return hash;
}

/* Keeps the first and the last half, both ending at borders of characters. */
static void cut(struct hs_text *text, size_t max)
{
	const size_t half = (max - 3) / 2;
	size_t first = half, last = text->bytes - (max - 3 - half);
	char *owned = text->owned;

	text->whole_bytes = text->bytes;
	text->whole_hash = hs_fnv1a(owned, text->bytes);
	while (first && (owned[first] & 0xC0) == 0x80)
		first--;
	while (last < text->bytes && (owned[last] & 0xC0) == 0x80)
		last++;
	memcpy(owned + first, ellipsis, 3);
	memmove(owned + first + 3, owned + last, text->bytes - last + 1);
	text->bytes = first + 3 + (text->bytes - last);
}

static bool is_ascii(const char *text, size_t bytes)
{
	uint64_t word, all = 0;

	for (; bytes >= sizeof word; bytes -= sizeof word, text += sizeof word) {
		memcpy(&word, text, sizeof word);
		all |= word;
	}
	while (bytes--)
		all |= (unsigned char)*text++;
	return !(all & UINT64_C(0x8080808080808080));
}

static struct hs_text copy(const char *text, size_t bytes, size_t max)
{
	const unsigned char *at = (const unsigned char *)text;
	struct hs_text copy = {0};
	size_t n_bad = 0, n;
	char *out;

	for (const unsigned char *p = at; *p; p += n ? n : 1) {
		n = sequence(p);
		n_bad += n == 0;
	}
	copy.text = copy.owned = out = malloc(bytes + 2 * n_bad + 1);
	if (!out)
		return copy;
	while (*at) {
		n = sequence(at);
		if (n) {
			memcpy(out, at, n);
			out += n;
			at += n;
		} else {
			memcpy(out, replacement, 3);
			out += 3;
			at++;
		}
	}
	*out = 0;
	copy.bytes = (size_t)(out - copy.owned);
	if (copy.bytes > max)
		cut(&copy, max);
	return copy;
}

struct hs_text hs_text_of(const char *text, size_t max)
{
	struct hs_text whole = {.text = text ? text : ""};

	whole.bytes = strlen(whole.text);
	/* Nearly all are names of a program's types and fields. */
	if (whole.bytes <= max && is_ascii(whole.text, whole.bytes))
		return whole;
	return copy(whole.text, whole.bytes, max);
}

void hs_text_free(struct hs_text *text)
{
	free(text->owned);
}

char *hs_text_append(char *out, const char *text, size_t bytes)
{
	if (bytes)
		memcpy(out, text, bytes);
	out[bytes] = 0;
	return out + bytes + 1;
}
