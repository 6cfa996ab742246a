/* SPDX-License-Identifier: MIT */
/*
 * fork, exec, wait.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "contrib/cli/process.h"

/* How often it is looked whether a silent child has ended. */
#define LOOK_MS 20

static int is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *process_find(const char *name)
{
	const char *path = getenv("PATH");
	char *file;

	if (strchr(name, '/') != NULL)
		return is_program(name) ? strdup(name) : NULL;
	if (path == NULL)
		path = "/usr/local/bin:/usr/bin:/bin";
	while (*path != '\0') {
		size_t n = strcspn(path, ":");

		if (asprintf(&file, "%.*s/%s", n > 0 ? (int)n : 1, n > 0 ? path : ".", name) < 0)
			return NULL;
		if (is_program(file))
			return file;
		free(file);
		path += n;
		path += *path == ':';
	}
	return NULL;
}

static void run_child(char *const argv[], unsigned seconds, int out)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t alarms;

	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	/* It may be ignored or blocked from further up. */
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	alarm(seconds);
	execvp(argv[0], argv);
	_exit(127);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int process_read(char *const argv[], unsigned seconds, char *output, size_t size)
{
	/* The child's alarm comes before. */
	const int64_t end_ms = now_ms() + 1000 * ((int64_t)seconds + 1);
	size_t done = 0;
	int ends[2], status;
	bool has_ended = false;
	pid_t child;

	*output = '\0';
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child < 0) {
		status = -errno;
		close(ends[0]);
		close(ends[1]);
		return status;
	}
	if (child == 0)
		run_child(argv, seconds, ends[1]);
	close(ends[1]);
	/* Not to the end of file: what the child has started may keep the pipe open for ever. */
	while (now_ms() < end_ms) {
		struct pollfd pipe_end = {.fd = ends[0], .events = POLLIN};
		char rest[4096];
		size_t take;
		ssize_t n;

		if (poll(&pipe_end, 1, has_ended ? 0 : LOOK_MS) <= 0) {
			if (has_ended)
				break;
			has_ended = waitpid(child, &status, WNOHANG) == child;
			continue;
		}
		n = read(ends[0], rest, sizeof(rest));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		take = (size_t)n < size - 1 - done ? (size_t)n : size - 1 - done;
		memcpy(output + done, rest, take);
		done += take;
	}
	output[done] = '\0';
	close(ends[0]);
	while (!has_ended && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
