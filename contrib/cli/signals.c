/* SPDX-License-Identifier: MIT */
/*
 * Signals by signalfd().
 */
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

#include "contrib/cli/signals.h"

int signals_open(const int *numbers)
{
	sigset_t set;

	sigemptyset(&set);
	for (; *numbers != 0; numbers++)
		sigaddset(&set, *numbers);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
