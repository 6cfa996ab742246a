/* SPDX-License-Identifier: MIT */
/*
 * The control socket: one request line, one reply line.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "emit/sink_fd.h"
#include "profiler/control.h"
#include "profiler/message.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/request_line.h"
#include "profiler/ring.h"

/* Longest wait for a client's line, and for its snapshot. */
#define LINE_WAIT_MS 1000
#define TAKE_WAIT_NS (30 * HS_NS_PER_S)

/* $XDG_RUNTIME_DIR/heapshot, else /tmp/heapshot-UID: ours alone. */
static bool default_path(char *path, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char folder[64 + 108];
	struct stat status;

	if (runtime && *runtime == '/')
		snprintf(folder, sizeof folder, "%.128s/heapshot", runtime);
	else
		snprintf(folder, sizeof folder, "/tmp/heapshot-%lu", (unsigned long)geteuid());
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return false;
	/* In /tmp another user may have made it before us. */
	if (lstat(folder, &status) < 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & 0077)) {
		errno = EACCES;
		return false;
	}
	if (snprintf(path, size, "%s/%ld.sock", folder, (long)getpid()) < (int)size)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/*
 * Whether a process that was killed left its socket at this place: nobody answers
 * there.  A process of the same number may live in another namespace.
 */
static bool is_stale(const struct sockaddr_un *address)
{
	struct stat status;
	bool is_refused;
	int fd;

	/* A plain file refuses the connection too. */
	if (lstat(address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	is_refused = connect(fd, (const struct sockaddr *)address, sizeof *address) < 0 &&
		     errno == ECONNREFUSED;
	close(fd);
	return is_refused;
}

static bool bind_to(int fd, const struct sockaddr_un *address)
{
	if (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0)
		return true;
	if (errno != EADDRINUSE)
		return false;
	if (!is_stale(address)) {
		errno = EADDRINUSE;
		return false;
	}
	return unlink(address->sun_path) == 0 &&
	       bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
}

bool hs_socket_open(struct hs_socket *sock)
{
	const char *option = hs_recorder.options.control;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;

	sock->fd = -1;
	sock->inode = 0;
	sock->path[0] = 0;
	if (strcmp(option, "off") == 0)
		return true;
	if (strcmp(option, "auto") == 0) {
		if (!default_path(address.sun_path, sizeof address.sun_path))
			goto failed;
	} else if (strlen(option) >= sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		goto failed;
	} else {
		strcpy(address.sun_path, option);
	}
	sock->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock->fd < 0)
		goto failed;
	sock->fd = hs_fd_raise(sock->fd);
	if (sock->fd < 0) {
		errno = -sock->fd;
		goto failed;
	}
	/* The mode that it will have in the file system; the umask is the whole program's. */
	fchmod(sock->fd, 0600);
	if (fstat(sock->fd, &status) < 0 || !bind_to(sock->fd, &address))
		goto failed;
	sock->inode = status.st_ino;
	strcpy(sock->path, address.sun_path);
	if (listen(sock->fd, 8) == 0)
		return true;
failed:
	hs_message(
		"no control socket: %s; `heapshot take` will not work, control=off silences this",
		strerror(errno));
	hs_socket_close(sock);
	return false;
}

/* Sockets have inode numbers of their own, unlike eventfds. */
static bool is_ours(const struct hs_socket *sock)
{
	struct stat status;

	return fstat(sock->fd, &status) == 0 && S_ISSOCK(status.st_mode) &&
	       (!sock->inode || status.st_ino == sock->inode);
}

bool hs_socket_is_open(struct hs_socket *sock)
{
	if (sock->fd < 0 || is_ours(sock))
		return sock->fd >= 0;
	sock->fd = -1;
	if (hs_is_recording())
		hs_message(
			"the program closed the control socket; `heapshot take` does not work any more");
	return false;
}

void hs_socket_forget(const struct hs_socket *sock)
{
	if (sock->fd >= 0 && is_ours(sock))
		close(sock->fd);
}

void hs_socket_close(struct hs_socket *sock)
{
	if (sock->fd >= 0 && is_ours(sock))
		close(sock->fd);
	if (*sock->path)
		unlink(sock->path);
	sock->fd = -1;
	sock->path[0] = 0;
}

static bool is_allowed(int client)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	return getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* Reads a line; false when it does not come in time, or is refused. */
static bool read_line(int client, struct hs_request_line *line)
{
	const uint64_t end = hs_monotonic_ns() + LINE_WAIT_MS * HS_NS_PER_MS;
	struct pollfd wait = {.fd = client, .events = POLLIN};
	enum hs_line_state state = HS_LINE_UNFINISHED;

	while (state == HS_LINE_UNFINISHED && hs_monotonic_ns() < end) {
		size_t room;
		char *at = hs_request_line_room(line, &room);
		ssize_t n;
		if (poll(&wait, 1, LINE_WAIT_MS / 10) <= 0)
			continue;
		n = read(client, at, room);
		if (n <= 0)
			return false;
		state = hs_request_line_add(line, (size_t)n);
	}
	return state == HS_LINE_WHOLE;
}

static const char *text_of(int64_t error)
{
	switch (error) {
	/* clang-format off */
	case -ETIMEDOUT: return "no collection came about within the time limit; is the program stopped?";
	case -ESHUTDOWN: return "the program is ending";
	case -EBUSY: return "too many requests wait already";
	case -EDQUOT: return "max-snapshots or max-size was reached";
	case -ENOTCONN: return "nothing is being recorded";
	/* clang-format on */
	default:
		return "the snapshot was not finished: the output was too slow or failed";
	}
}

static void take(int client, const char *label, bool is_stats_only, void (*drive)(void))
{
	const uint64_t end = hs_monotonic_ns() + TAKE_WAIT_NS;
	struct hs_request *request = NULL;
	int64_t result = -EBUSY;

	if (!hs_is_recording())
		result = atomic_load(&hs_recorder.is_limit_reached) ? -EDQUOT : -ENOTCONN;
	else if (atomic_load(&hs_recorder.phase) == HS_PHASE_SHUTDOWN)
		result = -ESHUTDOWN;
	else
		request = hs_request_open(HS_TRIGGER_CONTROL, label, is_stats_only);
	if (request) {
		/* SIGTERM has a snapshot of its own to come, and a bound. */
		while (!hs_request_is_done(request) && hs_monotonic_ns() < end &&
		       hs_is_recording() && !hs_signals_has_term())
			drive();
		result = hs_request_close(request);
		if (result == -ETIMEDOUT && hs_signals_has_term())
			result = -ESHUTDOWN;
	}
	if (result > 0)
		dprintf(client, "ok %lld\n", (long long)result);
	else
		dprintf(client, "error %s\n", text_of(result));
}

static void flush(int client, void (*drive)(void))
{
	int error = hs_flush(drive);

	if (error)
		dprintf(client, "error %s\n",
			error == -ETIMEDOUT ? "the output did not take the events in time"
					    : text_of(error));
	else
		dprintf(client, hs_ring_is_on() ? "ok ring %s\n" : "ok\n", hs_ring_path());
}

static void write_out_ring(int client, const char *path)
{
	char message[HS_OPTIONS_VALUE_MAX + 256];
	uint64_t n_dropped;
	int64_t n = hs_ring_write_out(path, &n_dropped, message, sizeof message);

	if (n < 0)
		dprintf(client, "error %s\n", message);
	else
		dprintf(client, "ok %llu %llu %s\n", (unsigned long long)n,
			(unsigned long long)n_dropped, message);
}

static void answer(int client, const char *line, void (*drive)(void))
{
	const char *label;
	const enum hs_command command = hs_request_line_parse(line, &label);

	switch (command) {
	case HS_COMMAND_TAKE:
	case HS_COMMAND_STATS:
		take(client, label, command == HS_COMMAND_STATS, drive);
		break;
	case HS_COMMAND_FLUSH:
		if (*label)
			write_out_ring(client, label);
		else
			flush(client, drive);
		break;
	case HS_COMMAND_STATUS:
		dprintf(client, "ok %s to %s, %llu snapshots, %llu lost records\n",
			hs_is_recording() ? "recording" : "not recording", hs_recorder.output,
			(unsigned long long)atomic_load(&hs_recorder.n_snapshots),
			(unsigned long long)atomic_load(&hs_recorder.lost_ever));
		break;
	case HS_COMMAND_UNKNOWN:
		dprintf(client, "error unknown request; known are take, stats, flush and status\n");
		break;
	}
}

void hs_socket_serve(struct hs_socket *sock, void (*drive)(void))
{
	struct hs_request_line line = {.length = 0};
	int client = accept4(sock->fd, NULL, NULL, SOCK_CLOEXEC);

	if (client < 0)
		return;
	if (!is_allowed(client))
		dprintf(client, "error this process belongs to another user\n");
	else if (!read_line(client, &line))
		dprintf(client, "error a request is one line of text of at most %u bytes\n",
			HS_LABEL_MAX);
	else
		answer(client, line.text, drive);
	close(client);
}
