/* SPDX-License-Identifier: MIT */
/*
 * A word in MONO_GC_PARAMS, for as long as the runtime takes to read it.
 */
#include "config.h"

#include "profiler/sweep.h"

#include <stdlib.h>
#include <string.h>

#define PARAMETERS "MONO_GC_PARAMS"
#define NO_SWEEP   "no-concurrent-sweep"

static char *before; /* NULL: not set */
static bool is_ours; /* it is to be restored */

/* Whether the comma-separated LIST has WORD. */
static bool has_word(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (strncmp(list, word, length) == 0 && (!list[length] || list[length] == ','))
			return true;
	return false;
}

bool hs_sweep_forbid(void)
{
	const char *present = getenv(PARAMETERS);
	char *text;

	if (has_word(present, NO_SWEEP))
		return true;
	/* Who asks for it by name shall have it. */
	if (has_word(present, NO_SWEEP + strlen("no-")))
		return false;
	text = malloc((present ? strlen(present) : 0) + sizeof NO_SWEEP + 1);
	free(before);
	before = present ? strdup(present) : NULL;
	if (!text || (present && !before)) {
		free(text);
		return false;
	}
	strcpy(text, present ? present : "");
	if (*text)
		strcat(text, ",");
	strcat(text, NO_SWEEP);
	is_ours = setenv(PARAMETERS, text, 1) == 0;
	free(text);
	return is_ours;
}

void hs_sweep_restore_environment(void)
{
	if (!is_ours)
		return;
	is_ours = false;
	if (before)
		setenv(PARAMETERS, before, 1);
	else
		unsetenv(PARAMETERS);
}
