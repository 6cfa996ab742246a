/* SPDX-License-Identifier: MIT */
/*
 * The list of unfinished paths, and the handler that takes them away: the last
 * one first, so that folders are empty when it comes to them.
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "contrib/cli/unfinished.h"

/* Those of an export in tables: a file each and the folders around it. */
#define PATHS_MAX 128

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static const char *volatile paths[PATHS_MAX];

static void give_up(int number)
{
	size_t i;

	for (i = PATHS_MAX; i > 0; i--) {
		const char *path = paths[i - 1];

		if (path != NULL && unlink(path) != 0)
			rmdir(path);
	}
	signal(number, SIG_DFL);
	raise(number);
}

void unfinished_hold(bool is_held)
{
	static sigset_t before;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&set, signals[i]);
	if (is_held)
		sigprocmask(SIG_BLOCK, &set, &before);
	else
		sigprocmask(SIG_SETMASK, &before, NULL);
}

static void watch_signals(void)
{
	struct sigaction action = {.sa_handler = give_up};
	struct sigaction old;
	size_t i;

	sigemptyset(&action.sa_mask);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		/* What nohup had ignored stays so. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

void unfinished_add(const char *path)
{
	static bool is_watched;
	size_t i;

	/* Behind all that are there: a folder stands before what is in it. */
	for (i = PATHS_MAX; i > 0 && paths[i - 1] == NULL; i--)
		;
	if (i < PATHS_MAX)
		paths[i] = path;
	if (!is_watched)
		watch_signals();
	is_watched = true;
}

void unfinished_drop(const char *path)
{
	size_t i;

	for (i = 0; i < PATHS_MAX; i++)
		if (paths[i] == path)
			paths[i] = NULL;
}
