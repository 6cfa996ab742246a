/* SPDX-License-Identifier: MIT */
/*
 * Strings with one text, where texts were recorded (option strings of the module).
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/leaks.h"
#include "contrib/cli/object.h"

/* Different texts that are told apart: 72 bytes each, a third more for the table. */
#define TEXTS_MAX (1u << 20)
/* A text counts from here on. */
#define BYTES_MIN ((uint64_t)16 << 10)
/* Bytes of it that are shown. */
#define SHOWN 32

struct text {
	uint64_t hash, count, bytes; /* bytes: of all but one */
	uint32_t object;
	bool is_cut, is_longer; /* in the recording; than what is shown */
	char shown[SHOWN + 1];
};

struct texts {
	struct leaks *leaks;
	struct text *table; /* open addressing; count 0: free */
	size_t n, room;
};

static bool grow(struct texts *texts)
{
	struct texts old = *texts;
	size_t i, at;

	texts->room = old.room ? old.room * 2 : 1024;
	texts->table = calloc(texts->room, sizeof(*texts->table));
	if (texts->table == NULL) {
		*texts = old;
		return false;
	}
	for (i = 0; i < old.room; i++) {
		if (old.table[i].count == 0)
			continue;
		for (at = old.table[i].hash & (texts->room - 1); texts->table[at].count != 0;
		     at = (at + 1) & (texts->room - 1))
			;
		texts->table[at] = old.table[i];
	}
	free(old.table);
	return true;
}

/* Of the length and what was recorded; 64 bits tell a million of them apart. */
static uint64_t hash_text(const struct object_text *string)
{
	uint64_t hash = (14695981039346656037u ^ string->length) * 1099511628211u;
	size_t i;

	for (i = 0; i < string->bytes; i++)
		hash = (hash ^ (unsigned char)string->text[i]) * 1099511628211u;
	return hash ^ hash >> 32;
}

/* Keeps the beginning, in whole characters. */
static void keep_beginning(struct text *text, const struct object_text *string)
{
	size_t n = string->bytes, i;

	if (n > SHOWN)
		for (n = SHOWN; n > 0 && ((unsigned char)string->text[n] & 0xC0) == 0x80;)
			n--;
	for (i = 0; i < n; i++)
		text->shown[i] = string->text[i] != '\0' ? string->text[i] : '?';
	text->shown[n] = '\0';
	text->is_cut = string->is_cut;
	text->is_longer = n < string->bytes;
}

static bool count(void *user_data, const struct object_text *string)
{
	struct texts *texts = user_data;
	const struct heapshot_graph *graph = texts->leaks->graph;
	uint32_t object = heapshot_graph_find(graph, string->object);
	uint64_t hash = hash_text(string);
	struct text *text;
	size_t at;

	if (object == HEAPSHOT_GRAPH_NONE || !heapshot_graph_is_live(graph, object))
		return true;
	if (texts->n * 4 >= texts->room * 3 && !grow(texts))
		return false;
	for (at = hash & (texts->room - 1);
	     texts->table[at].count != 0 && texts->table[at].hash != hash;
	     at = (at + 1) & (texts->room - 1))
		;
	text = &texts->table[at];
	if (text->count > 0) {
		text->count++;
		text->bytes += heapshot_graph_size(graph, object);
		return true;
	}
	if (texts->n >= TEXTS_MAX) {
		texts->leaks->is_strings_cut = true;
		return true;
	}
	texts->n++;
	*text = (struct text){.hash = hash, .count = 1, .object = object};
	keep_beginning(text, string);
	return true;
}

static int add(struct leaks *leaks, const struct text *text)
{
	char numbers[2][TEXT_NUMBER_BYTES], share[TEXT_SHARE_BYTES];
	struct leak leak = {
		.kind = LEAK_STRINGS,
		.holder = HEAPSHOT_GRAPH_NONE,
		.target = text->object,
		.is_merged = true,
		.count = text->count,
		.bytes = text->bytes,
		.score = (double)text->bytes,
	};

	leak_set_type(leaks, &leak, heapshot_graph_class_of(leaks->graph, text->object));
	return leaks_add(
		leaks, &leak, "%s strings %s \"%s%s\"; all but one are for nothing, %s bytes (%s)",
		text_number(numbers[0], text->count), text->is_cut ? "of one length begin" : "read",
		text->shown, text->is_cut || text->is_longer ? "..." : "",
		text_number(numbers[1], text->bytes),
		text_share(share, text->bytes, leaks->live_bytes));
}

int leaks_find_strings(struct leaks *leaks)
{
	const struct heapshot_header *header = heapshot_reader_header(leaks->recording->reader);
	struct texts texts = {.leaks = leaks};
	uint64_t n_texts = 0;
	int status;
	size_t i;

	/* Another pass over the snapshot is not made for nothing. */
	if (*header->options != '\0' && strstr(header->options, "strings=") == NULL)
		return CLI_OK;
	status = object_texts(leaks->recording, count, &texts, &n_texts);
	leaks->has_strings = n_texts > 0;
	for (i = 0; i < texts.room && status == CLI_OK; i++)
		if (texts.table[i].count > 1 && texts.table[i].bytes >= BYTES_MIN)
			status = add(leaks, &texts.table[i]);
	free(texts.table);
	return status;
}
