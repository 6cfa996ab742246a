/* SPDX-License-Identifier: MIT */
/*
 * Written without the code that it judges.
 */
#include <stdint.h>
#include <string.h>

#include "tests/fuzz/output_check.h"

#define DEPTH_MAX 64

bool output_is_safe(const char *text, size_t size)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const unsigned char *at = (const unsigned char *)text, *end = at + size;

	while (at < end) {
		const int more = *at < 0x80   ? 0
				 : *at < 0xC0 ? -1
				 : *at < 0xE0 ? 1
				 : *at < 0xF0 ? 2
					      : 3;
		uint32_t point = more < 1 ? *at : *at & (0x3Fu >> more);

		if (more < 0 || *at > 0xF7 || end - at <= more)
			return false;
		for (int i = 1; i <= more; i++) {
			if ((at[i] & 0xC0) != 0x80)
				return false;
			point = point << 6 | (at[i] & 0x3F);
		}
		if (point < least[more] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
			return false;
		if ((point < 0x20 && point != '\n') || (point >= 0x7F && point < 0xA0))
			return false;
		at += 1 + more;
	}
	return true;
}

struct cursor {
	const char *at, *end;
};

static void skip_space(struct cursor *in)
{
	while (in->at < in->end && (*in->at == ' ' || *in->at == '\n'))
		in->at++;
}

static bool take(struct cursor *in, char c)
{
	skip_space(in);
	if (in->at == in->end || *in->at != c)
		return false;
	in->at++;
	return true;
}

static bool string(struct cursor *in)
{
	if (!take(in, '"'))
		return false;
	for (; in->at < in->end && *in->at != '"'; in->at++) {
		if (*in->at == '\n')
			return false;
		if (*in->at != '\\')
			continue;
		if (++in->at == in->end || !strchr("\"\\/bfnrtu", *in->at))
			return false;
		for (int i = 0; *in->at == 'u' && i < 4; i++)
			if (in->end - in->at <= 4 ||
			    !strchr("0123456789abcdefABCDEF", in->at[1 + i]))
				return false;
	}
	return take(in, '"');
}

static bool digits(struct cursor *in)
{
	const char *from = in->at;

	while (in->at < in->end && *in->at >= '0' && *in->at <= '9')
		in->at++;
	return in->at > from;
}

static bool number(struct cursor *in)
{
	if (*in->at == '-')
		in->at++;
	if (in->at < in->end && *in->at == '0')
		in->at++;
	else if (!digits(in))
		return false;
	if (in->at < in->end && *in->at == '.') {
		in->at++;
		if (!digits(in))
			return false;
	}
	if (in->at < in->end && (*in->at | 0x20) == 'e') {
		in->at++;
		if (in->at < in->end && (*in->at == '+' || *in->at == '-'))
			in->at++;
		return digits(in);
	}
	return true;
}

static bool word(struct cursor *in, const char *word)
{
	const size_t length = strlen(word);

	if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0)
		return false;
	in->at += length;
	return true;
}

static bool value(struct cursor *in, int depth)
{
	char close;

	skip_space(in);
	if (in->at == in->end || depth == DEPTH_MAX)
		return false;
	switch (*in->at) {
	case '"':
		return string(in);
	case 't':
		return word(in, "true");
	case 'f':
		return word(in, "false");
	case 'n':
		return word(in, "null");
	case '{':
	case '[':
		close = *in->at++ == '{' ? '}' : ']';
		if (take(in, close))
			return true;
		do {
			if (close == '}' && !(string(in) && take(in, ':')))
				return false;
			if (!value(in, depth + 1))
				return false;
		} while (take(in, ','));
		return take(in, close);
	default:
		return number(in);
	}
}

bool output_is_json(const char *text, size_t size)
{
	struct cursor in = {text, text + size};

	for (skip_space(&in); in.at < in.end; skip_space(&in))
		if (!value(&in, 0))
			return false;
	return output_is_safe(text, size);
}
