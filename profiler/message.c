/* SPDX-License-Identifier: MIT */
/*
 * One-line messages on standard error.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "emit/signal_guard.h"
#include "profiler/message.h"

#define LINE_MAX_BYTES 1024

static bool is_open;

void hs_message_init(void)
{
	is_open = fcntl(STDERR_FILENO, F_GETFD) >= 0;
}

static void write_line(const char *line, size_t bytes)
{
	struct hs_signal_guard guard;

	hs_signal_guard_begin(&guard);
	hs_signal_guard_end(&guard, write(STDERR_FILENO, line, bytes) < 0 ? errno : 0);
}

void hs_message(const char *format, ...)
{
	struct pollfd poll_error = {.fd = STDERR_FILENO, .events = POLLOUT};
	char line[LINE_MAX_BYTES] = "heapshot: ";
	size_t length = 10, i;
	va_list arguments;
	const int saved = errno;
	int n;

	if (!is_open)
		return;
	va_start(arguments, format);
	n = vsnprintf(line + length, sizeof line - length - 1, format, arguments);
	va_end(arguments);
	if (n > 0)
		length +=
			(size_t)n < sizeof line - length - 1 ? (size_t)n : sizeof line - length - 2;
	for (i = 0; i < length; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 127)
			line[i] = '?';
	line[length++] = '\n';
	/* A line is shorter than PIPE_BUF, so it does not block where there is room at all. */
	if (poll(&poll_error, 1, 0) == 1 && (poll_error.revents & (POLLOUT | POLLERR)))
		write_line(line, length);
	errno = saved;
}
