/* SPDX-License-Identifier: MIT */
/*
 * Finding the control socket of a process, and asking it.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "contrib/cli/cli.h"
#include "contrib/cli/control.h"

/* Value of XDG_RUNTIME_DIR in the environment of PID, in BUFFER; NULL: none. */
static const char *runtime_folder(long pid, char *buffer, size_t size)
{
	static const char name[] = "XDG_RUNTIME_DIR=";
	char path[64], *line = NULL;
	const char *found = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return NULL;
	while (found == NULL && getdelim(&line, &room, '\0', file) > 0)
		if (strncmp(line, name, sizeof(name) - 1) == 0 && line[sizeof(name) - 1] == '/' &&
		    snprintf(buffer, size, "%s", line + sizeof(name) - 1) < (int)size)
			found = buffer;
	free(line);
	fclose(file);
	return found;
}

/* Connects to the socket at PATH; a descriptor or a negative errno. */
static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval wait = {.tv_sec = CONTROL_WAIT_SECONDS};
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	/* For connect() too, which waits while a stopped process has many others waiting. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

enum program { PROGRAM_UNKNOWN, PROGRAM_OTHER, PROGRAM_MONO, PROGRAM_RECORDED };

/* What the mapped files of process PID tell of it. */
static enum program look_at(long pid)
{
	enum program program = PROGRAM_UNKNOWN;
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return PROGRAM_UNKNOWN;
	while (getline(&line, &room, file) > 0) {
		const char *name = strrchr(line, '/');
		enum program found =
			name == NULL                                        ? PROGRAM_UNKNOWN
			: strstr(name, "libmono-profiler-heapshot") != NULL ? PROGRAM_RECORDED
			: strncmp(name, "/mono", 5) == 0 || strncmp(name, "/libmono", 8) == 0
				? PROGRAM_MONO
				: PROGRAM_OTHER;

		if (found > program)
			program = found;
	}
	free(line);
	fclose(file);
	return program;
}

/* Tries the places where the socket of PID may stand; the most telling error. */
static int connect_to_process(long pid)
{
	char buffer[PATH_MAX], path[PATH_MAX + 64];
	const char *own = getenv("XDG_RUNTIME_DIR");
	const char *folder = runtime_folder(pid, buffer, sizeof(buffer));
	struct stat st;
	char proc[64];
	int fd = -ENOENT, tried, i;

	snprintf(proc, sizeof(proc), "/proc/%ld", pid);
	if (stat(proc, &st) < 0)
		return -ESRCH;
	for (i = 0; i < 4; i++) {
		if (i == 0 && folder != NULL)
			snprintf(path, sizeof(path), "%s/heapshot/%ld.sock", folder, pid);
		else if (i == 1 && own != NULL && *own == '/')
			snprintf(path, sizeof(path), "%s/heapshot/%ld.sock", own, pid);
		else if (i == 2)
			snprintf(path, sizeof(path), "/tmp/heapshot-%u/%ld.sock", st.st_uid, pid);
		else if (i == 3)
			snprintf(path, sizeof(path), "/run/user/%u/heapshot/%ld.sock", st.st_uid,
				 pid);
		else
			continue;
		tried = connect_to(path);
		if (tried >= 0)
			return tried;
		if (tried != -ENOENT && tried != -ENOTDIR)
			fd = tried;
	}
	/* What a process of that number left behind, when it was killed, is none of this one. */
	if (fd == -ECONNREFUSED && (look_at(pid) == PROGRAM_OTHER || look_at(pid) == PROGRAM_MONO))
		return -ENOENT;
	return fd;
}

static const char *why_no_socket(const char *process)
{
	switch (look_at(strtol(process, NULL, 10))) {
	case PROGRAM_OTHER:
		return "it seems to be no Mono program";
	case PROGRAM_MONO:
		return "it runs Mono without the heapshot module; start it by 'heapshot record'";
	case PROGRAM_RECORDED:
		return "it is recorded with control=off or control=PATH; give that PATH then";
	default:
		return "it is not recorded, or with control=off or control=PATH; give that PATH "
		       "then";
	}
}

int control_say(const struct cli_command *command, const char *process, int error)
{
	switch (error) {
	case -EINVAL:
		return cli_usage(command, "'%s' is no process id, and no path with a /", process);
	case -ECONNRESET:
	case -EPIPE:
		cli_message("process %s gave no answer: it ended", process);
		return CLI_CHECK_FAILED;
	case -ESRCH:
		cli_message("no process %s", process);
		return CLI_NOT_FOUND;
	case -ENOENT:
	case -ENOTDIR:
		if (strchr(process, '/') != NULL)
			cli_message("there is no socket %s", process);
		else
			cli_message("process %s has no control socket: %s", process,
				    why_no_socket(process));
		return CLI_NOT_FOUND;
	case -ECONNREFUSED:
		cli_message("the control socket of %s is dead: the recording has ended", process);
		return CLI_NOT_FOUND;
	case -EACCES:
	case -EPERM:
		cli_message(
			"process %s belongs to another user; only that user and root may ask it",
			process);
		return CLI_IO;
	default:
		cli_message("cannot talk to process %s: %s", process, strerror(-error));
		return CLI_IO;
	}
}

bool control_is_gone(int error)
{
	return error == -ESRCH || error == -ENOENT || error == -ENOTDIR || error == -ECONNREFUSED ||
	       error == -ECONNRESET || error == -EPIPE;
}

int control_send(int fd, const char *request)
{
	size_t left = strlen(request);
	ssize_t n;

	while (left > 0) {
		n = send(fd, request, left, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		request += n;
		left -= (size_t)n;
	}
	return 0;
}

int control_receive(int fd, char *reply, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size - 1) {
		n = recv(fd, reply + done, size - 1 - done, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (n == 0)
			break;
		done += (size_t)n;
		if (memchr(reply, '\n', done) != NULL)
			break;
	}
	reply[done] = '\0';
	reply[strcspn(reply, "\n")] = '\0';
	return done == 0 ? -ECONNRESET : 0;
}

int control_connect(const char *process, long *pid)
{
	struct ucred peer = {0};
	socklen_t size = sizeof(peer);
	int fd;
	long number;
	char *end;

	if (strchr(process, '/') != NULL) {
		/* control=PATH: the socket itself. */
		fd = connect_to(process);
	} else {
		errno = 0;
		number = strtol(process, &end, 10);
		if (*process < '0' || *process > '9' || *end != '\0' || errno != 0 || number <= 0)
			return -EINVAL;
		fd = connect_to_process(number);
	}
	if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		peer.pid = 0;
	if (pid != NULL)
		*pid = peer.pid;
	return fd;
}

int control_ask(const struct cli_command *command, const char *process, const char *request,
		char *reply, size_t size)
{
	int fd = control_connect(process, NULL), error;

	if (fd < 0)
		return control_say(command, process, fd);
	error = control_send(fd, request);
	if (error == 0)
		error = control_receive(fd, reply, size);
	close(fd);
	if (error != 0)
		return control_say(command, process, error);
	if (strncmp(reply, "error ", 6) == 0) {
		cli_message("process %s: %s", process, reply + 6);
		return CLI_CHECK_FAILED;
	}
	return CLI_OK;
}

int control_unexpected(const char *process, const char *reply)
{
	cli_message("process %s: unexpected answer '%s'", process, reply);
	return CLI_IO;
}
