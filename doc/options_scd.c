/* SPDX-License-Identifier: MIT */
/*
 * Prints the table of the module's options for the manual page, in scdoc's
 * language.  Run while building.
 */
#include <stdio.h>

#include "profiler/options.h"

/* What scdoc would take as markup is escaped. */
static void put(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '*' || *text == '_' || *text == '\\' || *text == '#' || *text == '`')
			putchar('\\');
		putchar(*text);
	}
}

int main(void)
{
	const struct hs_option *option;

	for (option = hs_option_table; option->name != NULL; option++) {
		putchar('*');
		put(option->name);
		putchar('*');
		if (option->value != NULL) {
			fputs("=_", stdout);
			put(option->value);
			putchar('_');
		}
		fputs("\n\t", stdout);
		put(option->help);
		putchar('.');
		if (option->initial != NULL) {
			fputs(" Default: ", stdout);
			put(option->initial);
			putchar('.');
		}
		fputs("\n\n", stdout);
	}
	return ferror(stdout) != 0;
}
