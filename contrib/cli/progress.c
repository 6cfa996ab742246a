/* SPDX-License-Identifier: MIT */
/*
 * How far the reading came: on stderr, only when it is a terminal, and only
 * for what takes longer than a moment.
 */
#include <time.h>
#include <unistd.h>

#include "contrib/cli/recording.h"

#define FIRST_NS 400000000u
#define EVERY_NS 100000000u

static uint64_t next_ns;
static bool is_shown;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void show(const char *verb, uint64_t done, uint64_t all)
{
	uint64_t now = now_ns();

	if (now < next_ns || all == 0)
		return;
	next_ns = now + EVERY_NS;
	is_shown = true;
	fprintf(stderr, "\r%s %3u %%", verb, (unsigned)(100.0 * (double)done / (double)all));
}

static void show_reading(void *user_data, uint64_t done_bytes, uint64_t all_bytes)
{
	(void)user_data;
	show("reading", done_bytes, all_bytes);
}

static void show_writing(uint64_t done, uint64_t all)
{
	show("writing", done < all ? done : all, all);
}

void progress_start(struct heapshot_reader *reader)
{
	if (!isatty(STDERR_FILENO))
		return;
	next_ns = now_ns() + FIRST_NS;
	heapshot_reader_set_progress(reader, show_reading, NULL);
}

progress_function *progress_writing(void)
{
	if (!isatty(STDERR_FILENO))
		return NULL;
	next_ns = now_ns() + FIRST_NS;
	return show_writing;
}

void progress_stop(void)
{
	/* Blanks: not every terminal knows the sequence that erases a line. */
	if (is_shown)
		fputs("\r             \r", stderr);
	is_shown = false;
	next_ns = UINT64_MAX;
}
