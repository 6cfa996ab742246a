/* SPDX-License-Identifier: MIT */
/*
 * The command sink.  Between us and the shell stands a supervisor: a child made
 * by clone(2) with exit signal 0, which raises no SIGCHLD and is found by
 * neither wait(-1) nor waitid(P_ALL).  The shell itself cannot be such a child,
 * since execve(2) gives SIGCHLD back to it, so the supervisor is its parent,
 * waits for it, and sends the status home through a pipe.
 */
#include "config.h"

#include "emit/sink_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit/child.h"
#include "emit/clock.h"

/* Room for a few frames, so that a busy command does not stall us at once. */
#define PIPE_BYTES (1 << 20)

/* Standard input of the command, and the way home, in the supervisor. */
#define INPUT_FD  STDIN_FILENO
#define STATUS_FD (STDERR_FILENO + 1)

static void run_shell(const char *command)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* execve() takes pointers to char for historical reasons only. */
	execve("/bin/sh", (char *const *)(uintptr_t)argv, environ);
	_exit(127);
}

/* Life of the supervisor, with all signals blocked. */
static void supervise(const char *command, int input_fd, int status_fd)
{
	int status = 127 << 8;
	pid_t shell;

	prctl(PR_SET_NAME, "heapshot-pipe");
	/* A ^C for the host must not cut off what the command still reads. */
	setpgid(0, 0);
	/* The host's handlers and ignored signals are not for the command. */
	hs_child_reset_signals();
	if (dup2(input_fd, INPUT_FD) < 0 ||
	    (status_fd != STATUS_FD && dup3(status_fd, STATUS_FD, O_CLOEXEC) < 0))
		_exit(1);
	hs_child_close_from(STATUS_FD + 1, -1);

	shell = hs_child_clone();
	if (shell == 0)
		run_shell(command);
	for (int fd = 0; fd < STATUS_FD; fd++)
		close(fd);
	if (shell > 0) {
		while (waitpid(shell, &status, __WALL) < 0 && errno == EINTR)
			;
	}
	/* It fits the pipe; a host that has gone is no matter any more. */
	if (write(STATUS_FD, &status, sizeof(status)) < 0)
		_exit(1);
	_exit(0);
}

static bool is_status_ours(const struct hs_sink *sink)
{
	return hs_fd_is(sink->status_fd, sink->device, sink->status_inode);
}

/* Remembers a status of the command; 0 or the error it means. */
static int take_status(struct hs_sink *sink, int status)
{
	sink->command_status = status;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPIPE;
}

/* Waits for the status and reads it; -ETIMEDOUT after TIMEOUT_NS. */
static int receive_status(struct hs_sink *sink, uint64_t timeout_ns)
{
	const uint64_t start_ns = hs_monotonic_ns();
	int status;

	for (;;) {
		const uint64_t spent_ns = hs_monotonic_ns() - start_ns;
		ssize_t n;
		int error;

		if (!is_status_ours(sink))
			return -EBADF;
		n = read(sink->status_fd, &status, sizeof(status));
		if (n == (ssize_t)sizeof(status))
			return take_status(sink, status);
		if (n >= 0)
			return -EPIPE; /* the supervisor was killed */
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		error = hs_fd_poll(sink->status_fd, POLLIN,
				   timeout_ns > spent_ns ? timeout_ns - spent_ns : 0);
		if (error != 0)
			return error;
	}
}

static int command_close(struct hs_sink *sink, uint64_t timeout_ns)
{
	int close_error = hs_sink_fd_close(sink, 0);
	int error = receive_status(sink, timeout_ns);
	/* Once it has sent the status, or was killed, the supervisor ends at once. */
	const int wait = error == 0 || error == -EPIPE ? __WALL : __WALL | WNOHANG;

	if (is_status_ours(sink))
		close(sink->status_fd);
	sink->status_fd = -1;
	while (waitpid(sink->supervisor, NULL, wait) < 0 && errno == EINTR)
		;
	return error != 0 ? error : close_error;
}

static const struct hs_sink_ops command_ops = {
	.name = "command",
	.write = hs_sink_fd_write,
	.wait = hs_sink_fd_wait,
	.close = command_close,
	.forget = hs_sink_fd_forget,
};

/* A pipe above the standard descriptors: fds[0] reads, fds[1] writes. */
static int make_pipe(int fds[2])
{
	int error = 0;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		fds[i] = hs_fd_raise(fds[i]);
		if (fds[i] < 0)
			error = fds[i];
	}
	if (error == 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return error;
}

/* Starts the supervisor; its pid or a negative errno. */
static pid_t start_supervisor(const char *command, int input_fd, int status_fd)
{
	sigset_t all, mask;
	pid_t pid;

	/* No handler of the host may run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid = hs_child_clone();
	if (pid == 0)
		supervise(command, input_fd, status_fd);
	if (pid < 0)
		pid = -errno;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return pid;
}

int hs_sink_open_command(struct hs_sink *sink, const char *command)
{
	int data[2], status[2];
	struct stat st = {0};
	int error;

	error = make_pipe(data);
	if (error != 0)
		return error;
	error = make_pipe(status);
	if (error != 0) {
		close(data[0]);
		close(data[1]);
		return error;
	}
	/* Each end of a pipe is an open file of its own: the flags are ours. */
	fcntl(data[1], F_SETFL, O_NONBLOCK);
	fcntl(data[1], F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(status[0], F_SETFL, O_NONBLOCK);
	error = hs_sink_fd_init(sink, &command_ops, data[1]);
	if (error == 0) {
		/* All pipes are of one device. */
		fstat(status[0], &st);
		sink->status_fd = status[0];
		sink->status_inode = (uint64_t)st.st_ino;
		sink->supervisor = start_supervisor(command, data[0], status[1]);
		if (sink->supervisor < 0) {
			error = sink->supervisor;
			close(data[1]);
		}
	}
	close(data[0]);
	close(status[1]);
	if (error != 0)
		close(status[0]);
	return error;
}
