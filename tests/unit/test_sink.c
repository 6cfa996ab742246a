/* SPDX-License-Identifier: MIT */
/*
 * Sinks against the real system: full disks, size limits, pipes whose reader is
 * slow or gone, commands, and a host that does odd things to descriptors.
 */
#include "config.h"

#include "emit/sink.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit/clock.h"
#include "emit/stream.h"
#include "tests/unit/frame_reader.h"
#include "tests/unit/leak_check.h"

static char folder[] = "/tmp/heapshot-sink-XXXXXX";
static char path[64];

static void set_up(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/out", folder);
}

static void tear_down(void)
{
	unlink(path);
	rmdir(folder);
	leak_check();
}

TestSuite(sink, .init = set_up, .fini = tear_down);

static const uint64_t LONG_NS = 60 * HS_NS_PER_S;

static uint64_t long_deadline(void)
{
	return hs_monotonic_ns() + LONG_NS;
}

static bool is_pending(int signo)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, signo) == 1;
}

static void block(int how, int signo)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	pthread_sigmask(how, &set, NULL);
}

/* ---- files ------------------------------------------------------------------ */

Test(sink, file_is_written_from_its_start)
{
	struct hs_sink sink;
	struct bytes content;
	struct stat st;
	FILE *old = fopen(path, "w");

	fputs("a longer text that was there before", old);
	fclose(old);
	cr_assert_eq(hs_sink_open_file(&sink, path, true), -EEXIST);
	content = bytes_of_file(path);
	cr_expect_eq(content.size, 35);
	bytes_free(&content);

	errno = 77;
	cr_assert_eq(hs_sink_open_file(&sink, path, false), 0);
	cr_expect(sink.is_regular);
	cr_expect_gt(sink.fd, STDERR_FILENO);
	cr_expect_eq(fcntl(sink.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	errno = 77;
	cr_expect_eq(hs_sink_write(&sink, "new", 3, 0), 3);
	cr_expect_eq(sink.bytes, 3);
	cr_expect_eq(hs_sink_close(&sink, 0), 0);
	cr_expect_eq(errno, 77);
	content = bytes_of_file(path);
	cr_assert_eq(content.size, 3);
	cr_expect_eq(memcmp(content.data, "new", 3), 0);
	bytes_free(&content);

	cr_expect_eq(hs_sink_write(&sink, "x", 1, 0), -EBADF);
	cr_expect_eq(hs_sink_close(&sink, 0), -EBADF);

	unlink(path);
	cr_assert_eq(hs_sink_open_file(&sink, path, true), 0);
	cr_expect_eq(fstat(sink.fd, &st), 0);
	cr_expect_eq(st.st_mode & 077, 0, "for the owner only");
	cr_expect_eq(hs_sink_close(&sink, 0), 0);
	cr_expect_eq(hs_sink_close(&sink, 0), 0);
}

Test(sink, a_file_that_another_sink_writes_to_is_left_alone)
{
	struct hs_sink first, second;
	struct bytes content;

	cr_assert_eq(hs_sink_open_file(&first, path, true), 0);
	cr_expect_eq(hs_sink_write(&first, "header", 6, 0), 6);
	cr_expect_eq(hs_sink_open_file(&second, path, false), -EWOULDBLOCK);
	content = bytes_of_file(path);
	cr_assert_eq(content.size, 6, "not emptied");
	bytes_free(&content);
	cr_expect_eq(hs_sink_close(&first, 0), 0);
	cr_expect_eq(hs_sink_open_file(&second, path, false), 0);
	cr_expect_eq(hs_sink_close(&second, 0), 0);
}

Test(sink, files_that_cannot_be_opened)
{
	struct hs_sink sink;
	struct rlimit old, few;

	cr_expect_eq(hs_sink_open_file(&sink, "/nonexistent/x", false), -ENOENT);
	cr_expect_eq(hs_sink_open_file(&sink, "/", false), -EISDIR);
	cr_expect_eq(hs_sink_open_fd(&sink, -1), -EBADF);
	cr_expect_eq(hs_sink_open_fd(&sink, 999), -EBADF);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_eq(hs_sink_open_file(&sink, path, false), -ENXIO, "nobody reads the FIFO");
	int reader = open(path, O_RDONLY | O_NONBLOCK);
	cr_expect_eq(hs_sink_open_fd(&sink, reader), -EBADF, "open for reading only");
	cr_expect_eq(hs_sink_open_file(&sink, path, false), 0);
	cr_expect_eq(hs_sink_write(&sink, "x", 1, 0), 1);
	cr_expect_eq(hs_sink_close(&sink, 0), 0);
	close(reader);
	unlink(path);
	if (is_under_valgrind())
		return;
	getrlimit(RLIMIT_NOFILE, &old);
	few = (struct rlimit){3, old.rlim_max};
	setrlimit(RLIMIT_NOFILE, &few);
	cr_expect_eq(hs_sink_open_file(&sink, path, false), -EMFILE);
	cr_expect_eq(hs_sink_open_fd(&sink, STDERR_FILENO), -EMFILE);
	cr_expect_eq(hs_sink_open_command(&sink, "true"), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &old);
}

Test(sink, full_device)
{
	struct hs_sink sink;

	cr_assert_eq(hs_sink_open_file(&sink, "/dev/full", false), 0);
	cr_expect_eq(hs_sink_write(&sink, "x", 1, long_deadline()), -ENOSPC);
	cr_expect_eq(hs_sink_write(&sink, "x", 1, 0), -ENOSPC);
	cr_expect_eq(sink.error, -ENOSPC);
	cr_expect_eq(hs_sink_close(&sink, 0), -ENOSPC);
}

/* With the default disposition, which would end the process. */
Test(sink, file_size_limit)
{
	static uint8_t data[3000];
	const struct rlimit limit = {1000, RLIM_INFINITY};
	struct rlimit old;
	struct hs_sink sink;
	struct bytes content;

	signal(SIGXFSZ, SIG_DFL);
	getrlimit(RLIMIT_FSIZE, &old);
	fill_random(data, sizeof(data), 1);
	cr_assert_eq(hs_sink_open_file(&sink, path, false), 0);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_eq(hs_sink_write(&sink, data, 600, 0), 600);
	cr_expect_eq(hs_sink_write(&sink, data + 600, 600, 0), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	cr_expect_eq(sink.bytes, 1000);
	cr_expect_not(is_pending(SIGXFSZ));
	cr_expect_eq(hs_sink_close(&sink, 0), -EFBIG);
	content = bytes_of_file(path);
	cr_assert_eq(content.size, 1000);
	cr_expect_eq(memcmp(content.data, data, 1000), 0);
	bytes_free(&content);
}

/* ---- what the host may do to descriptors ------------------------------------- */

Test(sink, descriptors_taken_by_the_host_are_left_alone)
{
	struct hs_sink sink;
	char other[80];
	struct stat st;
	int fd;

	snprintf(other, sizeof(other), "%s/other", folder);
	cr_assert_eq(hs_sink_open_file(&sink, path, false), 0);
	close(sink.fd);
	fd = open(other, O_WRONLY | O_CREAT, 0600);
	cr_assert_eq(dup2(fd, sink.fd), sink.fd);
	fd = sink.fd;
	cr_expect_eq(hs_sink_write(&sink, "x", 1, 0), -EBADF);
	cr_expect_eq(hs_sink_close(&sink, 0), -EBADF);
	cr_expect_eq(fstat(fd, &st), 0, "not closed either");
	cr_expect_eq(st.st_size, 0);
	unlink(other);
}

Test(sink, never_becomes_standard_error)
{
	struct hs_sink sinks[3];
	int saved[3];

	for (int fd = 0; fd < 3; fd++)
		saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	int opened[3] = {hs_sink_open_file(&sinks[0], path, false),
			 hs_sink_open_fd(&sinks[1], saved[1]),
			 hs_sink_open_command(&sinks[2], "cat")};
	bool is_high[3];
	for (int i = 0; i < 3; i++)
		is_high[i] = sinks[i].fd > 2 && sinks[i].status_fd != 0 &&
			     sinks[i].status_fd != 1 && sinks[i].status_fd != 2;
	for (int i = 0; i < 3; i++)
		hs_sink_close(&sinks[i], LONG_NS);
	for (int fd = 0; fd < 3; fd++)
		dup2(saved[fd], fd);
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(opened[i], 0);
		cr_expect(is_high[i]);
	}
}

/* ---- pipes ------------------------------------------------------------------ */

static const struct {
	int disposition; /* 0: SIG_DFL, 1: SIG_IGN */
	bool is_blocked;
	bool is_pending; /* a SIGPIPE of the host's own waits already */
} sigpipe_cases[] = {{0, false, false}, {1, false, false}, {0, true, false}, {0, true, true}};

Test(sink, reader_gone)
{
	for (size_t i = 0; i < sizeof(sigpipe_cases) / sizeof(*sigpipe_cases); i++) {
		for (int is_socket = 0; is_socket < 2; is_socket++) {
			struct hs_sink sink;
			int fds[2];

			if (is_socket)
				cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
			else
				cr_assert_eq(pipe(fds), 0);
			signal(SIGPIPE, sigpipe_cases[i].disposition == 0 ? SIG_DFL : SIG_IGN);
			if (sigpipe_cases[i].is_blocked)
				block(SIG_BLOCK, SIGPIPE);
			if (sigpipe_cases[i].is_pending)
				raise(SIGPIPE);
			cr_assert_eq(hs_sink_open_fd(&sink, fds[1]), 0);
			close(fds[0]);
			errno = 77;
			cr_expect_eq(hs_sink_write(&sink, "x", 1, long_deadline()), -EPIPE);
			cr_expect_eq(hs_sink_write(&sink, "x", 1, 0), -EPIPE);
			cr_expect_eq(errno, 77);
			cr_expect_eq(is_pending(SIGPIPE), sigpipe_cases[i].is_pending);
			cr_expect_eq(hs_sink_close(&sink, 0), -EPIPE);
			close(fds[1]);
			signal(SIGPIPE, SIG_IGN);
			block(SIG_UNBLOCK, SIGPIPE);
		}
	}
}

enum pipe_kind {
	PIPE_BLOCKING,
	PIPE_NONBLOCKING,
	PIPE_NOT_REOPENED, /* as where /proc is missing */
	SOCKET_BLOCKING,
	N_PIPE_KINDS
};

static void open_pipe_sink(struct hs_sink *sink, enum pipe_kind kind, int fds[2])
{
	if (kind == SOCKET_BLOCKING)
		cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	else
		cr_assert_eq(pipe(fds), 0);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	if (kind == PIPE_NONBLOCKING)
		fcntl(fds[1], F_SETFL, O_NONBLOCK);
	cr_assert_eq(hs_sink_open_fd(sink, fds[1]), 0);
	if (kind == PIPE_NOT_REOPENED) {
		dup3(fds[1], sink->fd, O_CLOEXEC);
		sink->write_max = 4096;
	}
}

/* Reads what is there, at most MAX bytes. */
static void drain(int fd, struct bytes *out, size_t max)
{
	uint8_t block_of[5000];

	while (max > 0) {
		ssize_t n = read(fd, block_of, max < sizeof(block_of) ? max : sizeof(block_of));

		if (n <= 0)
			return;
		bytes_add(out, block_of, (size_t)n);
		max -= (size_t)n;
	}
}

static struct hs_stream *new_stream(struct hs_sink *sink)
{
	const struct hs_stream_config config = {.id = 1, .frame_bytes = 256 << 10, .sink = sink};
	const size_t size = (hs_stream_bytes(256 << 10) + 4095) & ~(size_t)4095;
	void *memory = aligned_alloc(4096, size);

	memset(memory, 0, size);
	return hs_stream_init(memory, &config);
}

static int put_noise(struct hs_stream *stream, uint64_t i)
{
	int error;
	uint8_t *out = hs_stream_put_raw(stream, HS_FRAME_EVENTS, i, 15, 30000, 0, &error);

	if (out != NULL)
		fill_random(out, 30000, i);
	return error;
}

#define N_PUTS 60

Test(sink, slow_reader_gets_whole_frames)
{
	struct bytes right = {0};
	struct hs_sink memory;
	struct hs_stream *stream;

	hs_sink_open_callback(&memory, bytes_callback, &right);
	stream = new_stream(&memory);
	for (uint64_t i = 0; i < N_PUTS; i++)
		cr_assert_eq(put_noise(stream, i), 0);
	cr_assert_eq(hs_stream_flush_all(stream, 0), 0);
	free(stream);

	for (enum pipe_kind kind = 0; kind < N_PIPE_KINDS; kind++) {
		struct bytes out = {0};
		struct hs_sink sink;
		unsigned n_waits = 0;
		int fds[2], flags;

		open_pipe_sink(&sink, kind, fds);
		flags = fcntl(fds[1], F_GETFL);
		stream = new_stream(&sink);
		for (uint64_t i = 0; i < N_PUTS; i++) {
			while (put_noise(stream, i) == -EAGAIN) {
				cr_assert(hs_stream_is_pending(stream));
				drain(fds[0], &out, 7000);
				n_waits++;
			}
			cr_assert_eq(hs_stream_error(stream), 0);
		}
		while (hs_stream_flush_all(stream, 0) == -EAGAIN) {
			drain(fds[0], &out, 7000);
			n_waits++;
		}
		cr_expect_gt(n_waits, 10);
		cr_expect_eq(fcntl(fds[1], F_GETFL), flags, "the host's flags are as they were");
		cr_expect_eq(hs_sink_close(&sink, 0), 0);
		close(fds[1]);
		drain(fds[0], &out, SIZE_MAX);
		close(fds[0]);
		cr_assert_eq(out.size, right.size, "kind %d", kind);
		cr_expect_eq(memcmp(out.data, right.data, right.size), 0);
		free(stream);
		bytes_free(&out);
	}
	bytes_free(&right);
}

static unsigned n_waits_asked;

static int wait_in_vain(struct hs_sink *sink, uint64_t timeout_ns)
{
	cr_expect_gt(timeout_ns, 0);
	cr_expect_leq(timeout_ns, LONG_NS);
	(void)sink;
	return n_waits_asked++ < 3 ? 0 : -ETIMEDOUT;
}

Test(sink, deadlines)
{
	static uint8_t data[1 << 20];

	for (enum pipe_kind kind = 0; kind < N_PIPE_KINDS; kind++) {
		struct hs_sink_ops ops;
		struct hs_sink sink;
		ssize_t first, n;
		int fds[2];

		open_pipe_sink(&sink, kind, fds);
		ops = *sink.ops;
		ops.wait = wait_in_vain;
		sink.ops = &ops;
		n_waits_asked = 0;
		/* None: what the pipe takes now. */
		first = hs_sink_write(&sink, data, sizeof(data), 0);
		cr_expect(first > 0 && first < (ssize_t)sizeof(data));
		cr_expect_eq(n_waits_asked, 0);
		cr_expect_eq(hs_sink_write(&sink, data, sizeof(data), 0), 0);
		/* One that has passed: the same. */
		cr_expect_eq(hs_sink_write(&sink, data, sizeof(data), 1), 0);
		cr_expect_eq(n_waits_asked, 0);
		/* One to come: waits, tries again, gives up without an error. */
		cr_expect_eq(hs_sink_write(&sink, data, sizeof(data), long_deadline()), 0);
		cr_expect_eq(n_waits_asked, 4);
		cr_expect_eq(sink.error, 0);
		cr_expect_eq(sink.bytes, (uint64_t)first);
		/* The real wait ends at the deadline, and when there is room. */
		sink.ops->close(&sink, 0);
		close(fds[0]);
		close(fds[1]);

		open_pipe_sink(&sink, kind, fds);
		first = hs_sink_write(&sink, data, sizeof(data), 0);
		n = hs_sink_write(&sink, data, 1, hs_monotonic_ns() + 5 * HS_NS_PER_MS);
		cr_expect_eq(n, 0);
		pid_t reader = fork();
		if (reader == 0) {
			struct pollfd pollfd = {.fd = fds[0], .events = POLLIN};
			size_t left = (size_t)first + sizeof(data);

			while (left > 0) {
				poll(&pollfd, 1, -1);
				n = read(fds[0], data, sizeof(data));
				left -= n > 0 ? (size_t)n : 0;
			}
			_exit(0);
		}
		n = hs_sink_write(&sink, data, sizeof(data), long_deadline());
		cr_expect_eq(n, (ssize_t)sizeof(data));
		waitpid(reader, NULL, 0);
		cr_expect_eq(hs_sink_close(&sink, 0), 0);
		close(fds[0]);
		close(fds[1]);
	}
}

/* ---- commands ----------------------------------------------------------------- */

/* Opens a command that writes to PATH. */
static int run(struct hs_sink *sink, const char *command)
{
	char text[512];

	snprintf(text, sizeof(text), "%s > %s", command, path);
	return hs_sink_open_command(sink, text);
}

static void expect_no_child(void)
{
	cr_expect_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	cr_expect_eq(errno, ECHILD);
}

static volatile sig_atomic_t n_sigchld;

static void count_sigchld(int signo)
{
	(void)signo;
	n_sigchld++;
}

Test(sink, command_gets_all)
{
	static uint8_t data[3 << 20];
	struct bytes content;
	struct hs_sink sink;

	signal(SIGCHLD, count_sigchld);
	fill_random(data, sizeof(data), 3);
	cr_assert_eq(run(&sink, "cat"), 0);
	cr_expect_eq(hs_sink_write(&sink, data, sizeof(data), long_deadline()), sizeof(data));
	/* The host has no child that it could see. */
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_expect_eq(errno, ECHILD);
	cr_expect_eq(waitpid(-1, NULL, WNOHANG | __WALL), 0, "though there is one");
	cr_expect_eq(hs_sink_close(&sink, LONG_NS), 0);
	cr_expect_eq(sink.command_status, 0);
	cr_expect_eq(n_sigchld, 0);
	expect_no_child();
	content = bytes_of_file(path);
	cr_assert_eq(content.size, sizeof(data));
	cr_expect_eq(memcmp(content.data, data, sizeof(data)), 0);
	bytes_free(&content);
}

Test(sink, command_that_fails)
{
	static const struct {
		const char *command;
		int status; /* as a shell shows it */
	} cases[] = {{"cat >/dev/null; exit 3", 3},
		     {"exec 2>/dev/null; nonexistent-command-of-heapshot", 127},
		     {"kill -9 $$", 128 + SIGKILL},
		     {"exec true", 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hs_sink sink;
		int status;

		signal(SIGPIPE, SIG_DFL);
		cr_assert_eq(hs_sink_open_command(&sink, cases[i].command), 0);
		cr_expect_eq(hs_sink_close(&sink, LONG_NS), cases[i].status == 0 ? 0 : -EPIPE);
		status = sink.command_status;
		cr_expect_eq(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
			     cases[i].status);
		expect_no_child();
	}
}

Test(sink, command_that_ends_early)
{
	static uint8_t data[3 << 20];
	struct hs_sink sink;

	signal(SIGPIPE, SIG_DFL);
	cr_assert_eq(run(&sink, "head -c 100"), 0);
	cr_expect_eq(hs_sink_write(&sink, data, sizeof(data), long_deadline()), -EPIPE);
	cr_expect_eq(hs_sink_close(&sink, LONG_NS), -EPIPE);
	cr_expect_eq(sink.command_status, 0);
	expect_no_child();
}

Test(sink, command_that_never_reads)
{
	static uint8_t data[3 << 20];
	struct hs_sink sink;
	pid_t supervisor;
	ssize_t n;

	cr_assert_eq(hs_sink_open_command(&sink, "exec sleep 1000"), 0);
	n = hs_sink_write(&sink, data, sizeof(data), 0);
	cr_expect(n > 0 && n < (ssize_t)sizeof(data));
	supervisor = sink.supervisor;
	cr_expect_eq(hs_sink_close(&sink, 20 * HS_NS_PER_MS), -ETIMEDOUT);
	cr_expect_eq(sink.command_status, -1);
	cr_expect_eq(kill(-supervisor, SIGKILL), 0, "it has a group of its own");
	cr_expect_eq(waitpid(supervisor, NULL, __WALL), supervisor);
	expect_no_child();
}

Test(sink, supervisor_killed)
{
	struct hs_sink sink;

	cr_assert_eq(hs_sink_open_command(&sink, "exec cat >/dev/null"), 0);
	kill(sink.supervisor, SIGKILL);
	cr_expect_eq(hs_sink_close(&sink, LONG_NS), -EPIPE);
	cr_expect_eq(sink.command_status, -1);
	expect_no_child();
}

/* Neither is what the host reads there read by us, nor is the command waited for without end. */
Test(sink, command_whose_descriptors_the_host_took, .timeout = 60)
{
	struct hs_sink sink;
	char content[8] = "";
	int ends[2], taken;

	cr_assert_eq(hs_sink_open_command(&sink, "exec sleep 1000"), 0);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "content", 7), 7);
	taken = sink.status_fd;
	cr_assert_eq(dup2(ends[0], taken), taken);
	cr_expect_eq(hs_sink_close(&sink, LONG_NS), -EBADF);
	cr_expect_eq(read(taken, content, 7), 7);
	cr_expect_str_eq(content, "content");
	/* It may not have its group yet. */
	while (kill(-sink.supervisor, SIGKILL) != 0)
		usleep(1000);
	cr_expect_eq(waitpid(sink.supervisor, NULL, __WALL), sink.supervisor);
	expect_no_child();
	close(taken);
	close(ends[0]);
	close(ends[1]);
}

/* Signals and descriptors of the command are those of a fresh process. */
Test(sink, command_inherits_nothing)
{
	static const char expected[] = "0\n1\n2\n3\nSigBlk:\t0000000000000000\n"
				       "SigIgn:\t0000000000000000\n";
	struct hs_sink sink;
	struct bytes content;

	if (is_under_valgrind()) {
		tear_down(); /* what is skipped ends at once */
		cr_skip_test("valgrind has descriptors of its own in the command");
	}
	for (int i = 0; i < 20; i++)
		cr_assert_geq(open("/dev/null", O_RDONLY), 0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	block(SIG_BLOCK, SIGUSR1);
	/* The 3 is ls itself, reading the folder. */
	cr_assert_eq(run(&sink, "{ ls /proc/self/fd; grep -E '^Sig(Blk|Ign)' /proc/self/status; }"),
		     0);
	cr_expect_eq(hs_sink_close(&sink, LONG_NS), 0);
	content = bytes_of_file(path);
	bytes_add(&content, "", 1);
	cr_expect_str_eq((char *)content.data, expected);
	bytes_free(&content);
}

/* A child that the host forked holds the pipe open until it forgets the sink. */
Test(sink, forked_child_forgets)
{
	struct hs_sink sink;
	struct bytes content;
	pid_t child;

	cr_assert_eq(run(&sink, "cat"), 0);
	child = fork();
	if (child == 0) {
		hs_sink_forget(&sink);
		if (hs_sink_write(&sink, "x", 1, 0) != -EBADF)
			_exit(1);
		pause();
		_exit(1);
	}
	cr_expect_eq(hs_sink_write(&sink, "parent", 6, 0), 6);
	cr_expect_eq(hs_sink_close(&sink, LONG_NS), 0);
	cr_expect_eq(waitpid(child, NULL, WNOHANG), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	content = bytes_of_file(path);
	cr_assert_eq(content.size, 6);
	cr_expect_eq(memcmp(content.data, "parent", 6), 0);
	bytes_free(&content);
}
