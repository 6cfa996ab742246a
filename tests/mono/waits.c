/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: a program that waits for whatever child there is, all the time,
 * and counts SIGCHLD.  At the end it says what it met on standard error.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long n_children, n_signals, n_waits;

static void on_child(int number)
{
	(void)number;
	__atomic_fetch_add(&n_signals, 1, __ATOMIC_RELAXED);
}

static void *wait_for_any(void *unused)
{
	const struct timespec moment = {0, 200000};
	siginfo_t info;

	for (;;) {
		if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
			__atomic_fetch_add(&n_children, 1, __ATOMIC_RELAXED);
		memset(&info, 0, sizeof(info));
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0)
			__atomic_fetch_add(&n_children, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&n_waits, 1, __ATOMIC_RELAXED);
		nanosleep(&moment, NULL);
	}
	return unused;
}

__attribute__((constructor)) static void begin(void)
{
	struct sigaction action;
	pthread_attr_t attributes;
	pthread_t thread;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_child;
	action.sa_flags = SA_RESTART;
	sigaction(SIGCHLD, &action, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &attributes, wait_for_any, NULL);
	pthread_attr_destroy(&attributes);
}

__attribute__((destructor)) static void end(void)
{
	char text[128];
	int length = snprintf(text, sizeof(text), "waits: %lu times, %lu children, %lu signals\n",
			      n_waits, n_children, n_signals);

	if (write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(99);
}
