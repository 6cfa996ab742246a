/* SPDX-License-Identifier: MIT */
/*
 * The control thread's loop.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <mono/metadata/appdomain.h>
#include <mono/metadata/threads.h>

#include "profiler/control.h"
#include "profiler/fork.h"
#include "profiler/gc.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/timers.h"

/* How long the finalizer thread has to come to a request before this thread collects itself. */
#define FINALIZER_NS         (500 * HS_NS_PER_MS)
#define ATTACHED_STACK_BYTES ((size_t)1 << 20)
#define TERM_WAIT_NS         (10 * HS_NS_PER_S)

static uint64_t notified_ns, n_snapshots_notified;
static struct hs_socket control_socket = {.fd = -1};

static bool is_running(void)
{
	return atomic_load(&hs_recorder.phase) == HS_PHASE_RUNNING && hs_is_recording() &&
	       !atomic_load(&hs_recorder.is_closing);
}

static void *attach_and_run(void *run)
{
	MonoThread *thread = mono_thread_attach(mono_get_root_domain());

	if (thread) {
		((void (*)(void))run)();
		mono_thread_detach(thread);
	}
	return NULL;
}

/*
 * Runs something on a thread that the runtime knows, and that lives for this
 * one call: the runtime keeps a detached thread in its list until it ends, and
 * one that waits for something else then would hold up every stop of the world.
 */
static void attached(void (*run)(void))
{
	pthread_attr_t attributes;
	pthread_t thread;

	/* Not the usual 8 MB: a program may be short of address space. */
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, ATTACHED_STACK_BYTES);
	if (pthread_create(&thread, &attributes, attach_and_run, (void *)run) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

/* Brings a waiting request nearer to its collection. */
static void drive(void)
{
	const uint64_t n_snapshots = atomic_load(&hs_recorder.n_snapshots);

	/* One snapshot after the other: while a child writes, requests wait. */
	if (!is_running() || !hs_request_is_pending() || hs_fork_is_running()) {
		notified_ns = 0;
		hs_sleep_ns(HS_NS_PER_MS);
		return;
	}
	/* What is pending behind a snapshot is another request. */
	if (!notified_ns || n_snapshots != n_snapshots_notified) {
		mono_gc_finalize_notify();
		notified_ns = hs_monotonic_ns();
		n_snapshots_notified = n_snapshots;
	} else if (hs_monotonic_ns() - notified_ns > FINALIZER_NS) {
		/* It is blocked in a finalizer of the program. */
		notified_ns = 0;
		attached(hs_gc_collect);
	}
	hs_sleep_ns(HS_NS_PER_MS);
}

/* SIGTERM or SIGINT: the last snapshot, the end of the recording, and then the signal takes its way. */
static void on_term(void)
{
	const uint64_t end = hs_monotonic_ns() + TERM_WAIT_NS;

	hs_request_post(HS_TRIGGER_TERM);
	/* Until it is served: one that is only being taken up would find the recording ended. */
	while (is_running() && hs_request_is_open(HS_TRIGGER_TERM) && hs_monotonic_ns() < end)
		drive();
	hs_recorder_end(HEAPSHOT__END_REASON__END_REASON_SIGNAL);
	hs_signals_raise_term();
}

static int timeout_ms(void)
{
	const uint64_t now = hs_monotonic_ns(), until = hs_timers_next_ns(now);

	if (!is_running())
		return 100;
	if (hs_request_is_pending())
		return 0;
	return until <= now ? 0 : (int)((until - now) / HS_NS_PER_MS) + 1;
}

void hs_control_forget(void)
{
	hs_socket_forget(&control_socket);
	control_socket.fd = -1;
}

void *hs_control_main(void *unused)
{
	struct pollfd client = {.events = POLLIN};
	bool is_served;
	int came;

	(void)unused;
	notified_ns = 0;
	hs_timers_start();
	hs_socket_open(&control_socket);
	while (!atomic_load(&hs_recorder.is_closing)) {
		/* Before the runtime is up clients wait in the socket. */
		is_served = hs_socket_is_open(&control_socket) &&
			    atomic_load(&hs_recorder.phase) != HS_PHASE_EARLY;
		client.fd = control_socket.fd;
		came = hs_wait(hs_recorder.wake_control, is_served ? &client : NULL, timeout_ms());
		if (hs_signals_take_term()) {
			on_term();
			break;
		}
		if (hs_signals_take_request())
			hs_request_post(HS_TRIGGER_SIGNAL);
		if (is_running()) {
			hs_timers_run();
			if (hs_late_is_pending())
				attached(hs_late_name_all);
			if (hs_request_is_pending())
				drive();
		}
		/* Also when the runtime shuts down: clients are told so. */
		if (came & POLLIN)
			hs_socket_serve(&control_socket, drive);
	}
	hs_socket_close(&control_socket);
	atomic_store(&hs_recorder.is_control_closed, 1);
	return NULL;
}
