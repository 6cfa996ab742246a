/* SPDX-License-Identifier: MIT */
/*
 * The table of texts: open addressing over an arena.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/export/names.h"
#include "contrib/reader/utf8.h"

#define CHUNK_BYTES (64u << 10)

struct export_names_chunk {
	struct export_names_chunk *next;
	size_t used, room;
	char data[];
};

size_t export_clean_bytes(const char *text)
{
	size_t n = 0;

	while (*text != '\0') {
		const char *from = text;

		n += hs_utf8_next(&text) < 0 ? 3 : (size_t)(text - from);
	}
	return n;
}

char *export_clean(char *to, const char *text)
{
	while (*text != '\0') {
		const char *from = text;
		const bool is_valid = hs_utf8_next(&text) >= 0;
		const size_t n = is_valid ? (size_t)(text - from) : 3;

		memcpy(to, is_valid ? from : "\xEF\xBF\xBD", n);
		to += n;
	}
	*to = '\0';
	return to;
}

static char *allot(struct export_names *names, size_t size)
{
	struct export_names_chunk *chunk = names->chunks;

	if (chunk == NULL || chunk->room - chunk->used < size) {
		size_t room = size > CHUNK_BYTES / 4 ? size : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room);
		if (chunk == NULL)
			return NULL;
		*chunk = (struct export_names_chunk){.next = names->chunks, .room = room};
		names->chunks = chunk;
	}
	chunk->used += size;
	return chunk->data + chunk->used - size;
}

static size_t hash(const char *text)
{
	uint64_t value = 0xcbf29ce484222325ull;

	for (; *text != '\0'; text++)
		value = (value ^ (uint8_t)*text) * 0x100000001b3ull;
	return (size_t)(value ^ value >> 29);
}

static uint32_t *find(const struct export_names *names, const char *text)
{
	size_t i;

	for (i = hash(text);; i++) {
		uint32_t *entry = &names->index[i & (names->index_room - 1)];

		if (*entry == 0 || strcmp(names->texts[*entry - 1], text) == 0)
			return entry;
	}
}

/* Makes room for one more; false without memory. */
static bool grow(struct export_names *names)
{
	if (names->n == names->room) {
		size_t room = names->room != 0 ? names->room * 2 : 256;
		const char **texts = reallocarray(names->texts, room, sizeof(*texts));

		if (texts == NULL)
			return false;
		names->texts = texts;
		names->room = room;
	}
	if (names->n * 2 >= names->index_room) {
		size_t room = names->index_room != 0 ? names->index_room * 2 : 1024, i;
		uint32_t *index = calloc(room, sizeof(*index));

		if (index == NULL)
			return false;
		free(names->index);
		names->index = index;
		names->index_room = room;
		for (i = 0; i < names->n; i++)
			*find(names, names->texts[i]) = (uint32_t)i + 1;
	}
	return true;
}

uint32_t export_name(struct export_names *names, const char *text)
{
	const size_t bytes = export_clean_bytes(text);
	uint32_t *entry;
	char *copy;

	if (names->n >= UINT32_MAX - 1 || !grow(names))
		return EXPORT_NO_NAME;
	if (bytes == strlen(text)) { /* it is valid, or its hash will not be found */
		entry = find(names, text);
		if (*entry != 0)
			return *entry - 1;
	}
	copy = allot(names, bytes + 1);
	if (copy == NULL)
		return EXPORT_NO_NAME;
	export_clean(copy, text);
	entry = find(names, copy);
	if (*entry == 0) {
		names->texts[names->n++] = copy;
		*entry = (uint32_t)names->n;
	}
	return *entry - 1;
}

void export_names_free(struct export_names *names)
{
	while (names->chunks != NULL) {
		struct export_names_chunk *next = names->chunks->next;

		free(names->chunks);
		names->chunks = next;
	}
	free(names->texts);
	free(names->index);
	*names = (struct export_names){0};
}
