/* SPDX-License-Identifier: MIT */
/*
 * fork, exec, wait.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contrib/cli/process.h"

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

	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	alarm(seconds);
	execvp(argv[0], argv);
	_exit(127);
}

int process_read(char *const argv[], unsigned seconds, char *output, size_t size)
{
	size_t done = 0;
	int ends[2], status;
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
	for (;;) {
		char rest[4096];
		ssize_t n = read(ends[0], rest, sizeof(rest));
		size_t take;

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
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
