/* SPDX-License-Identifier: MIT */
/*
 * What the child does beside the snapshot.
 */
#include "config.h"

#include "profiler/fork_child.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "emit/child.h"
#include "profiler/fork.h"
#include "profiler/recorder.h"

/* So often, every quarter of a millisecond, the child looks what its parent tells. */
#define TOLD_TRIES 1000

static uint64_t born_ns;

/* When memory is short it is the child that goes, not the program. */
static void give_way(void)
{
	const struct rlimit no_core = {0, 0};
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	ssize_t ignored;

	if (fd >= 0) {
		ignored = write(fd, "1000", 4);
		(void)ignored;
		close(fd);
	}
	setrlimit(RLIMIT_CORE, &no_core);
}

/* All signals stay blocked: a ^C is for the program.  Faults end it nevertheless. */
void hs_fork_become_child(uint64_t ns)
{
	born_ns = ns;
	hs_child_reset_signals();
	/* Last of all a terminal or pipe of the program: nobody shall wait for us. */
	hs_child_close_from(0, hs_recorder.sink.fd);
	prctl(PR_SET_NAME, "heapshot-child");
	give_way();
	hs_stream_take_over(hs_recorder.stream);
}

void hs_fork_child_end(int error)
{
	hs_fork_shared->error = error;
	hs_fork_shared->sink_error = hs_recorder.sink.error;
	hs_fork_shared->is_done = 1;
	_exit(error != 0);
}

/*
 * Pages that the program and the child do not share any more.  A page that one
 * of them writes to leaves each of them a private one.
 */
static uint64_t copied_bytes(void)
{
	static const char key[] = "\nPrivate_Dirty:";
	char text[2048];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	uint64_t kilobytes = 0;
	const char *at;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	at = strstr(text, key);
	if (!at)
		return 0;
	for (at += sizeof key - 1; *at == ' '; at++)
		;
	for (; *at >= '0' && *at <= '9'; at++)
		kilobytes = 10 * kilobytes + (uint64_t)(*at - '0');
	return kilobytes << 10;
}

void hs_fork_fill_end(Heapshot__SnapshotEnd *end)
{
	struct timespec cpu = {0, 0};
	int i;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	end->child_cpu_ns = (uint64_t)cpu.tv_sec * HS_NS_PER_S + (uint64_t)cpu.tv_nsec;
	end->copied_bytes = copied_bytes();
	/* A small heap is written before the parent has had its turn. */
	for (i = 0; i < TOLD_TRIES && !hs_fork_shared->pause_ns; i++)
		hs_sleep_ns(HS_NS_PER_MS / 4);
	end->fork_ns = born_ns;
	/* Else what the child knows is given: its own birth, and the time until here. */
	if (hs_fork_shared->pause_ns) {
		end->fork_ns = hs_fork_shared->fork_ns;
		end->pause_ns = hs_fork_shared->pause_ns;
	}
}
