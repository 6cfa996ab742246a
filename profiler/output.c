/* SPDX-License-Identifier: MIT */
/*
 * Opening the output.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profiler/options.h"
#include "profiler/output.h"
#include "schema/tag.h"

bool hs_output_expand(const char *pattern, char *path, size_t size, char *message,
		      size_t message_bytes)
{
	time_t now = time(NULL);
	size_t length = 0;
	struct tm local;
	char piece[32];

	localtime_r(&now, &local);
	for (; *pattern; pattern++) {
		piece[0] = *pattern;
		piece[1] = 0;
		if (*pattern == '%') {
			pattern++;
			if (*pattern == 'p') {
				snprintf(piece, sizeof piece, "%ld", (long)getpid());
			} else if (*pattern == 't') {
				strftime(piece, sizeof piece, "%Y%m%d-%H%M%S", &local);
			} else if (*pattern != '%') {
				snprintf(
					message, message_bytes,
					"'%%%.1s' in the value of option 'output' is not known; it takes %%p, %%t and %%%%",
					pattern);
				return false;
			}
		}
		if (length + strlen(piece) >= size) {
			snprintf(message, message_bytes, "the output's name is too long");
			return false;
		}
		strcpy(path + length, piece);
		length += strlen(piece);
	}
	path[length] = 0;
	return true;
}

static bool fail(char *message, size_t size, const char *path, int error, const char *advice)
{
	snprintf(message, size, "cannot write %s: %s%s%s", path, strerror(error),
		 *advice ? "; " : "", advice);
	return false;
}

enum present { PRESENT_NOT, PRESENT_EMPTY, PRESENT_RECORDING, PRESENT_LIVE, PRESENT_OTHER };

/* What stands at PATH already.  A live writer holds a lock on its recording. */
static enum present look(const char *path)
{
	unsigned char start[HS_TAG_BYTES];
	enum present present = PRESENT_OTHER;
	struct hs_tag tag;
	struct stat status;
	ssize_t n;
	int fd;

	if (stat(path, &status) < 0)
		return PRESENT_NOT;
	if (!S_ISREG(status.st_mode))
		return PRESENT_OTHER;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return status.st_size ? PRESENT_OTHER : PRESENT_EMPTY;
	n = read(fd, start, sizeof start);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		present = PRESENT_LIVE;
	else if (n == 0)
		present = PRESENT_EMPTY;
	else if (n == (ssize_t)sizeof start && hs_tag_decode(start, sizeof start, &tag) > 0)
		present = PRESENT_RECORDING;
	close(fd);
	return present;
}

static bool refuse(char *message, size_t size, const char *path)
{
	snprintf(message, size,
		 "%s exists and is not a recording; give another output, or the option 'overwrite'",
		 path);
	return false;
}

/* An earlier recording is at NAME.old since the last hs_output_open(). */
static bool is_old_ours;

static bool make_old(const char *path, bool overwrite, char *message, size_t message_bytes)
{
	char old[HS_OPTIONS_VALUE_MAX + 8];
	struct stat status;

	snprintf(old, sizeof old, "%s.old", path);
	/* Only what is a recording itself is lost without a word. */
	if (look(old) == PRESENT_OTHER && stat(old, &status) == 0 && S_ISREG(status.st_mode) &&
	    !overwrite)
		return refuse(message, message_bytes, old);
	if (rename(path, old) < 0)
		return fail(message, message_bytes, old, errno,
			    "the earlier recording of that name was to go there");
	is_old_ours = true;
	return true;
}

static void put_back(const char *path)
{
	char old[HS_OPTIONS_VALUE_MAX + 8];

	if (!is_old_ours)
		return;
	is_old_ours = false;
	snprintf(old, sizeof old, "%s.old", path);
	/* Where that fails it stays there, and nothing is lost. */
	rename(old, path);
}

/* A name of our own, where another process writes to PATH. */
static void add_pid(char *path, size_t size)
{
	const size_t length = strlen(path);

	snprintf(path + length, size - length, ".%ld", (long)getpid());
}

/* Makes the place free.  PATH may be changed to a name of our own. */
static bool clear_place(char *path, size_t size, bool overwrite, enum present *present,
			char *message, size_t message_bytes)
{
	*present = look(path);
	if (*present == PRESENT_LIVE) {
		add_pid(path, size);
		*present = look(path);
	}
	switch (*present) {
	case PRESENT_RECORDING:
		*present = PRESENT_NOT;
		return make_old(path, overwrite, message, message_bytes);
	case PRESENT_OTHER:
		if (!overwrite)
			return refuse(message, message_bytes, path);
		return unlink(path) == 0 || fail(message, message_bytes, path, errno, "");
	default:
		return true;
	}
}

/* Two processes may come to a free place at the same moment: one of them finds it taken. */
static int open_file(struct hs_sink *sink, char *path, size_t size, bool is_new)
{
	int error = hs_sink_open_file(sink, path, is_new);

	if (error != -EWOULDBLOCK)
		return error;
	add_pid(path, size);
	return hs_sink_open_file(sink, path, false);
}

static bool open_path(struct hs_sink *sink, char *path, size_t size, bool overwrite, char *message,
		      size_t message_bytes)
{
	enum present present = PRESENT_OTHER;
	struct stat status;
	bool is_special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
	int error, tries;

	for (tries = 0;; tries++) {
		if (!is_special &&
		    !clear_place(path, size, overwrite, &present, message, message_bytes))
			return false;
		/* A link that leads to nothing looks like nothing, and is never new. */
		error = open_file(sink, path, size, present == PRESENT_NOT && tries < 2);
		if (error != -EEXIST || tries == 2)
			break;
	}
	if (error == -ENXIO)
		return fail(message, message_bytes, path, ENXIO,
			    "nobody reads it; start the reader first");
	return !error || fail(message, message_bytes, path, -error, "");
}

static bool open_number(struct hs_sink *sink, const char *text, char *message, size_t message_bytes)
{
	char *end, name[48];
	long fd = strtol(text, &end, 10);
	int error;

	if (*text < '0' || *text > '9' || *end || fd > INT32_MAX) {
		snprintf(message, message_bytes,
			 "'#%.32s' is no descriptor; write it as in output=#3", text);
		return false;
	}
	error = hs_sink_open_fd(sink, (int)fd);
	snprintf(name, sizeof name, "to descriptor #%ld", fd);
	return !error || fail(message, message_bytes, name, -error, "");
}

static bool open_text(struct hs_sink *sink, const char *text, bool overwrite, char *used,
		      size_t used_bytes, char *message, size_t message_bytes)
{
	int error;

	if (*text == '|') {
		/* A command's percent signs are its own. */
		snprintf(used, used_bytes, "%s", text);
		error = hs_sink_open_command(sink, text + 1);
		return !error || fail(message, message_bytes, "to the command", -error, text);
	}
	if (*text == '#') {
		snprintf(used, used_bytes, "%s", text);
		return open_number(sink, text + 1, message, message_bytes);
	}
	return hs_output_expand(text, used, used_bytes - 16, message, message_bytes) &&
	       open_path(sink, used, used_bytes, overwrite, message, message_bytes);
}

bool hs_output_open(struct hs_sink *sink, const char *text, bool overwrite, char *used,
		    size_t used_bytes, char *message, size_t message_bytes)
{
	is_old_ours = false;
	if (open_text(sink, text, overwrite, used, used_bytes, message, message_bytes))
		return true;
	/* It may quote a name with a line break in it. */
	hs_options_one_line(message);
	return false;
}

void hs_output_undo(const char *used)
{
	/* A descriptor is the program's, whatever it leads to. */
	if (strchr("|#", *used))
		return;
	unlink(used);
	put_back(used);
}

bool hs_output_open_path(struct hs_sink *sink, const char *path, char *used, size_t used_bytes,
			 char *message, size_t message_bytes)
{
	/* Room for the number of our process. */
	if (strlen(path) + 16 >= used_bytes) {
		snprintf(message, message_bytes, "the file's name is too long");
		return false;
	}
	strcpy(used, path);
	if (open_path(sink, used, used_bytes, false, message, message_bytes))
		return true;
	hs_options_one_line(message);
	return false;
}
