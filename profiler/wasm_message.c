/* SPDX-License-Identifier: MIT */
/*
 * One-line messages on the console: there, standard error has no reader before
 * the file system is set up.
 */
#include "config.h"

#include <emscripten.h>
#include <stdarg.h>
#include <stdio.h>

#include "profiler/message.h"

#define LINE_MAX_BYTES 1024

/* clang-format off */
EM_JS(void, hs_js_message, (const char *line), {
	err("heapshot: " + UTF8ToString(line));
});
/* clang-format on */

void hs_message_init(void)
{
}

void hs_message(const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			*at = '?';
	hs_js_message(line);
}
