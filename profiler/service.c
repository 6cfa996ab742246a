/* SPDX-License-Identifier: MIT */
/*
 * The two threads that serve a recording: the writer, which brings records to
 * the output, and the control thread (control.c).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "emit/sink_fd.h"
#include "profiler/control.h"
#include "profiler/fork.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/ring.h"
#include "profiler/service.h"

#define SPARE_DESCRIPTORS 8
/* How often it is looked whether a child has ended. */
#define CHILD_MS 4

static int poll_ms(void)
{
	return hs_fork_is_running() ? CHILD_MS : (int)(HS_FLUSH_NS / HS_NS_PER_MS);
}

static void *writer_main(void *unused)
{
	(void)unused;
	do
		hs_wait(hs_recorder.wake_writer, NULL, poll_ms());
	while (hs_writer_turn());
	return NULL;
}

/*
 * For each thread that allocates glibc reserves 128 MB of addresses, and keeps
 * 64 of them.  Where addresses are limited (ulimit -v) the program would lack
 * what our threads, and those we make the runtime attach, take that way.
 */
static void spare_addresses(void)
{
#ifdef M_ARENA_MAX
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    !getenv("MALLOC_ARENA_MAX"))
		mallopt(M_ARENA_MAX, 1);
#endif
}

/*
 * Threads of ours take none of the signals that a program sends or gets.  Those
 * that the runtime uses to suspend threads stay open: helpers of the control
 * thread inherit the mask, and a stop of the world would wait for them for ever.
 */
static int start_thread(pthread_t *thread, void *(*run)(void *))
{
	static const int programs[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGPIPE,  SIGALRM,
				       SIGTERM, SIGUSR1,  SIGUSR2, SIGCHLD,  SIGCONT,
				       SIGTSTP, SIGTTIN,  SIGTTOU, SIGURG,   SIGXFSZ,
				       SIGPROF, SIGWINCH, SIGIO,   SIGVTALRM};
	sigset_t blocked, before;
	pthread_attr_t attributes;
	size_t i;
	int error;

	sigemptyset(&blocked);
	for (i = 0; i < sizeof programs / sizeof *programs; i++)
		sigaddset(&blocked, programs[i]);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)256 << 10);
	error = pthread_create(thread, &attributes, run, NULL);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* The runtime aborts when it finds no descriptor: so the last few stay with it. */
static int leave_descriptors(void)
{
	int probe = fcntl(hs_recorder.wake_control, F_DUPFD_CLOEXEC,
			  hs_recorder.wake_control + SPARE_DESCRIPTORS);

	if (probe < 0)
		return EMFILE;
	close(probe);
	return 0;
}

/* A program that closed its standard descriptors keeps them for itself. */
static int new_event(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? -errno : hs_fd_raise(fd);
}

/* A forked child of the program has no writer, and the output is its parent's. */
static void in_forked_child(void)
{
	if (atomic_exchange(&hs_recorder.state, HS_STATE_OFF) != HS_STATE_OFF) {
		hs_sink_forget(&hs_recorder.sink);
		hs_ring_close();
	}
	hs_control_forget();
	hs_fork_forget();
	/* Threads that were inside are not here. */
	atomic_store(&hs_n_inside, 0);
}

static void at_exit(void)
{
	hs_recorder_end(HEAPSHOT__END_REASON__END_REASON_EXIT);
}

static void watch_process(void)
{
	pthread_atfork(NULL, NULL, in_forked_child);
	atexit(at_exit);
}

bool hs_service_start(char *message, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int error;

	spare_addresses();
	hs_recorder.wake_writer = new_event();
	hs_recorder.wake_control = new_event();
	if (hs_recorder.wake_writer < 0)
		error = -hs_recorder.wake_writer;
	else if (hs_recorder.wake_control < 0)
		error = -hs_recorder.wake_control;
	else
		error = leave_descriptors();
	if (!error)
		error = start_thread(&hs_recorder.writer, writer_main);
	if (error) {
		snprintf(message, size, "cannot start the recorder's thread: %s", strerror(error));
		return false;
	}
	/* Without the second thread there are no triggers from outside, but all others work. */
	hs_recorder.has_control = start_thread(&hs_recorder.control, hs_control_main) == 0;
	pthread_once(&once, watch_process);
	return true;
}

void hs_service_release(void)
{
	/* In a forked child there are none. */
	if (hs_recorder.pid == getpid() && atomic_load(&hs_recorder.is_closed)) {
		pthread_join(hs_recorder.writer, NULL);
		if (hs_recorder.has_control)
			pthread_join(hs_recorder.control, NULL);
	}
	if (hs_is_event(hs_recorder.wake_writer))
		close(hs_recorder.wake_writer);
	if (hs_is_event(hs_recorder.wake_control))
		close(hs_recorder.wake_control);
	hs_recorder.wake_writer = hs_recorder.wake_control = 0;
}

void hs_service_collected(void)
{
	if (hs_request_is_pending() || hs_late_is_pending())
		hs_wake(hs_recorder.wake_control);
}
