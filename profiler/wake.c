/* SPDX-License-Identifier: MIT */
/*
 * Waking the recorder's threads.
 */
#include "config.h"

#include <sys/stat.h>
#include <unistd.h>

#include "profiler/recorder.h"

/* How long a thread sleeps whose descriptor for waking it was closed by the program. */
#define BLIND_WAIT_MS 20

bool hs_is_event(int fd)
{
	struct stat status;

	return fd > STDERR_FILENO && fstat(fd, &status) == 0 && !(status.st_mode & S_IFMT);
}

void hs_wake(int fd)
{
	const uint64_t one = 1;
	ssize_t ignored;

	/* Between two recordings there is nothing to wake. */
	if (!hs_is_event(fd))
		return;
	ignored = write(fd, &one, sizeof one);
	(void)ignored;
}

int hs_wait(int fd, struct pollfd *other, int timeout_ms)
{
	struct pollfd waits[2] = {{.fd = fd, .events = POLLIN}};
	uint64_t count;
	ssize_t ignored;

	/* Without it: by looking often. */
	if (!hs_is_event(fd)) {
		waits[0].fd = -1;
		timeout_ms = timeout_ms < BLIND_WAIT_MS ? timeout_ms : BLIND_WAIT_MS;
	}
	if (other)
		waits[1] = *other;
	if (poll(waits, other ? 2 : 1, timeout_ms) > 0 && (waits[0].revents & POLLIN)) {
		ignored = read(fd, &count, sizeof count);
		(void)ignored;
	}
	return other ? waits[1].revents : 0;
}
