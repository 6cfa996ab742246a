/* SPDX-License-Identifier: MIT */
/*
 * Signals.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "profiler/control.h"
#include "profiler/message.h"
#include "profiler/recorder.h"

static volatile sig_atomic_t has_request, has_term, term_number;

static void on_request(int number)
{
	const int saved = errno;

	(void)number;
	has_request = 1;
	hs_wake(hs_recorder.wake_control);
	errno = saved;
}

static void on_term(int number)
{
	const int saved = errno;

	/*
	 * A forked child of the program has our handler but not our threads.
	 * Who presses ^C again does not want to wait.
	 */
	if (getpid() != hs_recorder.pid || !hs_is_recording() ||
	    (number == SIGINT && term_number == SIGINT)) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	term_number = number;
	has_term = 1;
	hs_wake(hs_recorder.wake_control);
	errno = saved;
}

static void install(int number, void (*handler)(int))
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	action.sa_flags = SA_RESTART;
	sigemptyset(&action.sa_mask);
	if (sigaction(number, &action, NULL) < 0)
		hs_message("signal %d cannot be caught: %s", number, strerror(errno));
}

/* A program that handles the signal, or ignores it, ends in its own way. */
static void install_term(int number)
{
	struct sigaction present;

	if (sigaction(number, NULL, &present) == 0 && !(present.sa_flags & SA_SIGINFO) &&
	    present.sa_handler == SIG_DFL)
		install(number, on_term);
}

void hs_signals_install(void)
{
	const struct hs_options *options = &hs_recorder.options;

	if (!hs_recorder.has_control)
		return;
	if (options->signal)
		install(options->signal, on_request);
	if (options->when & HS_WHEN_TERM) {
		term_number = 0;
		install_term(SIGTERM);
		install_term(SIGINT);
	}
}

static bool take(volatile sig_atomic_t *flag)
{
	if (!*flag)
		return false;
	*flag = 0;
	return true;
}

bool hs_signals_take_request(void)
{
	return take(&has_request);
}

bool hs_signals_has_term(void)
{
	return has_term;
}

bool hs_signals_take_term(void)
{
	return take(&has_term);
}

void hs_signals_raise_term(void)
{
	const int number = term_number;
	sigset_t term;

	signal(number, SIG_DFL);
	kill(getpid(), number);
	/* Should all other threads have it blocked, this one takes it. */
	sigemptyset(&term);
	sigaddset(&term, number);
	pthread_sigmask(SIG_UNBLOCK, &term, NULL);
}
