/* SPDX-License-Identifier: MIT */
/*
 * What a child of ours does before anything else.
 */
#include "config.h"

#include "emit/child.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

pid_t hs_child_clone(void)
{
	return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
}

static void close_range_of(int first, int last)
{
	struct rlimit limit;
	int end = 1 << 20;

	if (first > last)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)end)
		end = (int)limit.rlim_cur;
	for (int fd = first; fd < end && fd <= last; fd++)
		close(fd);
}

void hs_child_close_from(int first, int kept)
{
	const int last = (int)(~0U >> 1);

	if (kept < first) {
		close_range_of(first, last);
		return;
	}
	close_range_of(first, kept - 1);
	close_range_of(kept + 1, last);
}

/*
 * By the bare system call, since sigaction() refuses the two that the C library
 * keeps for itself; all zero is SIG_DFL.
 */
void hs_child_reset_signals(void)
{
	static const unsigned long action[16];

	for (int signo = 1; signo < _NSIG; signo++)
		syscall(SYS_rt_sigaction, signo, action, NULL, _NSIG / 8);
}
