/* SPDX-License-Identifier: MIT */
/*
 * Texts by number: open addressing.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/labels.h"

static uint32_t *find(const struct labels *labels, const char *text)
{
	uint64_t hash = 14695981039346656037u;
	const char *p;
	size_t i;

	for (p = text; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	for (i = (size_t)(hash ^ hash >> 32);; i++) {
		uint32_t *place = &labels->index[i & (labels->room - 1)];

		if (*place == 0 || strcmp(labels->texts[*place - 1], text) == 0)
			return place;
	}
}

static bool reserve(struct labels *labels)
{
	size_t room = labels->room != 0 ? labels->room * 2 : 256, i;
	uint32_t *index;
	char **texts;

	if (labels->n * 2 < labels->room)
		return true;
	index = calloc(room, sizeof(*index));
	texts = reallocarray(labels->texts, room / 2, sizeof(*texts));
	if (texts != NULL)
		labels->texts = texts;
	if (index == NULL || texts == NULL) {
		free(index);
		return false;
	}
	free(labels->index);
	labels->index = index;
	labels->room = room;
	for (i = 0; i < labels->n; i++)
		*find(labels, labels->texts[i]) = (uint32_t)i + 1;
	return true;
}

uint32_t labels_add(struct labels *labels, const char *text)
{
	uint32_t *place;
	char *copy;

	if (!reserve(labels))
		return UINT32_MAX;
	place = find(labels, text);
	if (*place != 0)
		return *place - 1;
	copy = strdup(text);
	if (copy == NULL)
		return UINT32_MAX;
	labels->texts[labels->n] = copy;
	*place = (uint32_t)++labels->n;
	return *place - 1;
}

void labels_free(struct labels *labels)
{
	size_t i;

	for (i = 0; i < labels->n; i++)
		free(labels->texts[i]);
	free(labels->texts);
	free(labels->index);
	*labels = (struct labels){0};
}
