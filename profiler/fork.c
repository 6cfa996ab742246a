/* SPDX-License-Identifier: MIT */
/*
 * The child, and its parent's watch over it.
 */
#include "config.h"

#include "profiler/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mono/metadata/mono-gc.h>

#include "emit/child.h"
#include "profiler/message.h"
#include "profiler/recorder.h"

#define PARAMETERS "MONO_GC_PARAMS"
#define NO_SWEEP   "no-concurrent-sweep"
/* A process that was stopped and goes on must not take its child for a stalled one. */
#define STEP_MAX_NS (1 * HS_NS_PER_S)
/* So often, every quarter of a millisecond, the child looks what its parent tells. */
#define TOLD_TRIES 1000
/* After failures in a row, at most so many snapshots in the process for each further try. */
#define SKIP_MAX 64u

/* What both see. */
struct shared {
	struct hs_stream_commit commit;
	_Atomic uint64_t fork_ns, pause_ns; /* told by the parent */
	_Atomic int is_done;                /* the child came to its end */
	_Atomic int error, sink_error;      /* what it met there */
	struct hs_walk walk;
};

static struct {
	struct shared *shared;
	bool is_safe;               /* the collector sweeps on no other thread */
	char *parameters;           /* MONO_GC_PARAMS as it was */
	bool is_environment_ours;
	_Atomic pid_t pid;          /* of the child; 0: none lives */
	struct hs_snapshot snapshot;
	uint64_t born_ns;           /* child: how long that took */
	uint64_t begin_ns, seen_ns, stalled_ns, progress;
	bool is_killed;             /* by us */
	bool is_output_lost;        /* the child's output failed */
	unsigned n_failures, n_skip; /* in a row; snapshots still to be taken in the process */
	_Atomic uint64_t n_failed;
	bool has_said_refused, has_said_failed;
	int refused;                /* to be said: errno of clone(2) */
	const char *failed;         /* to be said: what became of the child */
	uint32_t failed_id;
} state;

/* Whether the comma-separated LIST has WORD. */
static bool has_word(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (strncmp(list, word, length) == 0 && (!list[length] || list[length] == ','))
			return true;
	return false;
}

static bool add_parameter(void)
{
	const char *present = getenv(PARAMETERS);
	char *text;

	if (has_word(present, NO_SWEEP))
		return true;
	/* Who asks for it by name shall have it. */
	if (has_word(present, NO_SWEEP + strlen("no-")))
		return false;
	text = malloc((present ? strlen(present) : 0) + sizeof NO_SWEEP + 1);
	free(state.parameters);
	state.parameters = present ? strdup(present) : NULL;
	if (!text || (present && !state.parameters)) {
		free(text);
		return false;
	}
	strcpy(text, present ? present : "");
	if (*text)
		strcat(text, ",");
	strcat(text, NO_SWEEP);
	state.is_environment_ours = setenv(PARAMETERS, text, 1) == 0;
	free(text);
	return state.is_environment_ours;
}

static bool is_forkable(void)
{
	const struct hs_sink *sink = &hs_recorder.sink;

	return hs_recorder.options.fork != HS_FORK_NEVER && sink->fd >= 0 &&
	       (sink->is_regular || hs_recorder.options.fork == HS_FORK_ALWAYS);
}

void hs_fork_prepare(bool is_late)
{
	struct shared *shared = state.shared;

	state.is_safe = false;
	state.n_failures = state.n_skip = 0;
	state.n_failed = 0;
	state.has_said_refused = state.has_said_failed = false;
	state.refused = 0;
	state.failed = NULL;
	atomic_store(&state.pid, 0);
	if (is_forkable()) {
		if (!shared)
			shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		state.shared = shared == MAP_FAILED ? NULL : shared;
		state.is_safe = state.shared && !is_late && add_parameter();
	}
	if (hs_recorder.options.fork == HS_FORK_ALWAYS && !state.is_safe)
		hs_message("fork=always is not possible %s; snapshots are taken in the process",
			   !is_forkable() ? "with this output" :
			   is_late        ? "once the runtime is up" :
					    "where MONO_GC_PARAMS has concurrent-sweep");
}

void hs_fork_restore_environment(void)
{
	if (!state.is_environment_ours)
		return;
	state.is_environment_ours = false;
	if (state.parameters)
		setenv(PARAMETERS, state.parameters, 1);
	else
		unsetenv(PARAMETERS);
}

struct hs_walk *hs_fork_walk(void)
{
	static struct hs_walk walk;

	return state.shared ? &state.shared->walk : &walk;
}

Heapshot__SnapshotFork hs_fork_decide(enum hs_trigger trigger)
{
	if (hs_recorder.options.fork == HS_FORK_NEVER)
		return HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_NEVER;
	if (!is_forkable())
		return HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_OUTPUT;
	if (!state.is_safe)
		return HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_UNSAFE;
	if (state.n_skip) {
		state.n_skip--;
		return HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_AFTER_FAILURE;
	}
	if (hs_recorder.options.fork == HS_FORK_ALWAYS)
		return HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_CHILD;
	if (trigger == HS_TRIGGER_SHUTDOWN || trigger == HS_TRIGGER_TERM)
		return HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_LAST;
	if ((uint64_t)mono_gc_get_heap_size() < HS_FORK_HEAP_BYTES)
		return HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_SMALL;
	return HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_CHILD;
}

/* ---- the child ---------------------------------------------------------------- */

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
static void become_child(void)
{
	hs_child_reset_signals();
	/* Last of all a terminal or pipe of the program: nobody shall wait for us. */
	hs_child_close_from(0, hs_recorder.sink.fd);
	prctl(PR_SET_NAME, "heapshot-child");
	give_way();
	hs_stream_take_over(hs_recorder.stream);
}

void hs_fork_child_end(int error)
{
	state.shared->error = error;
	state.shared->sink_error = hs_recorder.sink.error;
	state.shared->is_done = 1;
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
	for (i = 0; i < TOLD_TRIES && !state.shared->pause_ns; i++)
		hs_sleep_ns(HS_NS_PER_MS / 4);
	end->fork_ns = state.born_ns;
	/* Else what the child knows is given: its own birth, and the time until here. */
	if (state.shared->pause_ns) {
		end->fork_ns = state.shared->fork_ns;
		end->pause_ns = state.shared->pause_ns;
	}
}

/* ---- the parent --------------------------------------------------------------- */

int hs_fork(const struct hs_snapshot *snapshot)
{
	struct shared *shared = state.shared;
	const uint64_t begin_ns = hs_monotonic_ns();
	sigset_t all, before;
	pid_t pid;
	int error = 0;

	shared->pause_ns = 0;
	shared->is_done = shared->error = shared->sink_error = 0;
	memset(&shared->walk, 0, sizeof shared->walk);
	hs_stream_hold(hs_recorder.stream, &shared->commit);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = hs_child_clone();
	if (pid == 0) {
		state.born_ns = hs_monotonic_ns() - begin_ns;
		become_child();
		return 1;
	}
	if (pid < 0)
		error = -errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		hs_stream_continue(hs_recorder.stream, false);
		if (!state.has_said_refused)
			state.refused = -error;
		return error;
	}
	shared->fork_ns = hs_monotonic_ns() - begin_ns;
	state.snapshot = *snapshot;
	state.begin_ns = state.seen_ns = hs_monotonic_ns();
	state.stalled_ns = state.progress = 0;
	state.is_killed = false;
	atomic_store(&state.pid, pid);
	return 0;
}

void hs_fork_tell_pause(uint64_t pause_ns)
{
	state.shared->pause_ns = pause_ns;
}

bool hs_fork_is_running(void)
{
	return atomic_load(&state.pid) != 0;
}

uint64_t hs_fork_n_failed(void)
{
	return state.n_failed;
}

bool hs_fork_wait(uint64_t limit_ns)
{
	const uint64_t end = hs_monotonic_ns() + limit_ns;

	while (hs_fork_is_running()) {
		if (hs_monotonic_ns() >= end)
			return false;
		hs_wake(hs_recorder.wake_writer);
		hs_sleep_ns(HS_NS_PER_MS);
	}
	return true;
}

/* What became of a child that did not finish its snapshot. */
static const char *reason(int status)
{
	switch (state.shared->is_done ? state.shared->error : 0) {
	case 0:
		break;
	case -EAGAIN:
		return "the output was too slow for the child that wrote it";
	case -ENOMEM:
		return "memory was short in the child that wrote it";
	case -ENOENT:
		return "the child that wrote it met a type that was not known yet";
	default:
		return "the output of the child that wrote it failed";
	}
	if (state.is_killed)
		return "the child that wrote it got nowhere, and was ended";
	return WIFSIGNALED(status) ? "the child that wrote it was killed" :
				     "the child that wrote it ended early";
}

static void conclude(int status)
{
	struct shared *shared = state.shared;
	const bool is_whole = WIFEXITED(status) && WEXITSTATUS(status) == 0 && shared->is_done;
	struct hs_snapshot *snapshot = &state.snapshot;
	const uint64_t begin_ns = state.begin_ns;
	bool is_torn = false;

	if (!is_whole && shared->commit.is_writing) {
		const uint64_t whole = shared->commit.marks[shared->commit.n % 2].sink_bytes;
		is_torn = hs_sink_truncate(&hs_recorder.sink, whole) != 0;
	}
	hs_stream_continue(hs_recorder.stream, is_torn);
	if (is_whole) {
		state.n_failures = 0;
	} else {
		state.n_failures++;
		state.n_failed++;
		state.n_skip = state.n_failures > 6 ? SKIP_MAX : 1u << (state.n_failures - 1);
		if (!state.has_said_failed)
			state.failed = reason(status);
		state.failed_id = snapshot->id;
		if (shared->sink_error)
			hs_recorder.sink.error = shared->sink_error;
		else
			hs_snapshot_give_up(snapshot, reason(status));
	}
	hs_snapshot_ended(snapshot, is_whole ? 0 : -EIO, hs_monotonic_ns() - begin_ns);
	atomic_store(&state.pid, 0);
	/* Requests that waited for it have their turn. */
	hs_wake(hs_recorder.wake_control);
}

/* A number that grows as long as the child gets on. */
static uint64_t progress(void)
{
	const volatile struct hs_walk_totals *walk = &state.shared->walk.totals;

	return walk->n_objects + walk->n_references + state.shared->commit.n;
}

void hs_fork_kill(void)
{
	const pid_t pid = atomic_load(&state.pid);

	if (pid) {
		state.is_killed = true;
		kill(pid, SIGKILL);
	}
}

static void watch(void)
{
	const uint64_t now = hs_monotonic_ns(), step = now - state.seen_ns, got = progress();

	state.seen_ns = now;
	state.stalled_ns += step < STEP_MAX_NS ? step : STEP_MAX_NS;
	if (got != state.progress)
		state.stalled_ns = 0;
	state.progress = got;
	if (state.stalled_ns > HS_FORK_STALL_NS && !state.is_killed)
		hs_fork_kill();
}

void hs_fork_poll(void)
{
	const pid_t pid = atomic_load(&state.pid);
	int status = 1 << 8;
	pid_t ended;

	if (!pid)
		return;
	do
		ended = waitpid(pid, &status, WNOHANG | __WALL);
	while (ended < 0 && errno == EINTR);
	/* Should the program have taken it from us, it says itself whether it was done. */
	if (ended < 0)
		status = state.shared->is_done && !state.shared->error ? 0 : 1 << 8;
	if (ended)
		conclude(status);
	else
		watch();
}

void hs_fork_say(void)
{
	if (state.refused) {
		state.has_said_refused = true;
		hs_message("the system made no child for a snapshot: %s; it is taken in the process",
			   strerror(state.refused));
		state.refused = 0;
	}
	if (state.failed) {
		state.has_said_failed = true;
		hs_message("snapshot %u is not whole: %s; the next is taken in the process",
			   state.failed_id, state.failed);
		state.failed = NULL;
	}
}

void hs_fork_forget(void)
{
	atomic_store(&state.pid, 0);
}
