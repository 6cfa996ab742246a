/* SPDX-License-Identifier: MIT */
/*
 * What is known of the terminal, before it is used.  In a file of its own: term.h
 * takes many common words for macros.
 */
#include "config.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

#include "contrib/cli/tui.h"

bool tui_terminal_is_usable(void)
{
	const char *place;
	int error;

	/* newterm() would tell too, but loses memory when it fails. */
	if (setupterm(NULL, STDOUT_FILENO, &error) != OK)
		return false;
	place = tigetstr("cup");
	del_curterm(cur_term);
	return place != NULL && place != (const char *)-1;
}
