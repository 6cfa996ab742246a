/* SPDX-License-Identifier: MIT */
/*
 * One option's value: from text to struct hs_options and back.  Private to options*.c.
 */
#ifndef HEAPSHOT_PROFILER_OPTIONS_PARSE_H
#define HEAPSHOT_PROFILER_OPTIONS_PARSE_H

#include "profiler/options.h"

/* Sets OPTION to VALUE (NULL: none given); false with a line in MESSAGE. */
bool hs_option_set(struct hs_options *options, const struct hs_option *option, const char *value,
		   char *message, size_t size);

/* The value as one would write it; "" where it is off. */
void hs_option_get(const struct hs_options *options, const struct hs_option *option, char *value,
		   size_t size);

/* The word of WORDS (separated by blanks) that is nearest to TEXT, if one is near; "" if not. */
void hs_nearest_word(const char *text, const char *words, char *nearest, size_t size);

#endif
