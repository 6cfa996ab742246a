/* SPDX-License-Identifier: MIT */
/*
 * Whether there is a child, and its parent's watch over it.
 */
#include "config.h"

#include "profiler/fork.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <mono/metadata/mono-gc.h>

#include "emit/child.h"
#include "profiler/fork_child.h"
#include "profiler/message.h"
#include "profiler/recorder.h"
#include "profiler/sweep.h"

/* A process that was stopped and goes on must not take its child for a stalled one. */
#define STEP_MAX_NS (1 * HS_NS_PER_S)
/* After failures in a row, at most so many snapshots in the process for each further try. */
#define SKIP_MAX 64u

struct hs_fork_shared *hs_fork_shared;

static struct {
	bool is_safe;      /* the collector sweeps on no other thread */
	_Atomic pid_t pid; /* of the child; 0: none lives */
	struct hs_snapshot snapshot;
	uint64_t begin_ns, seen_ns, stalled_ns, progress;
	bool is_killed;              /* by us */
	unsigned n_failures, n_skip; /* in a row; snapshots still to be taken in the process */
	_Atomic uint64_t n_failed;
	bool has_said_refused, has_said_failed;
	int refused;        /* to be said: errno of clone(2) */
	const char *failed; /* to be said: what became of the child */
	uint32_t failed_id;
} state;

static bool is_forkable(void)
{
	const struct hs_sink *sink = &hs_recorder.sink;

	return hs_recorder.options.fork != HS_FORK_NEVER && sink->fd >= 0 &&
	       (sink->is_regular || hs_recorder.options.fork == HS_FORK_ALWAYS);
}

void hs_fork_prepare(bool is_late)
{
	struct hs_fork_shared *shared = hs_fork_shared;

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
		hs_fork_shared = shared == MAP_FAILED ? NULL : shared;
		state.is_safe = hs_fork_shared && !is_late && hs_sweep_forbid();
	}
	if (hs_recorder.options.fork == HS_FORK_ALWAYS && !state.is_safe)
		hs_message("fork=always is not possible %s; snapshots are taken in the process",
			   !is_forkable() ? "with this output"
			   : is_late      ? "once the runtime is up"
					  : "where MONO_GC_PARAMS has concurrent-sweep");
}

struct hs_walk *hs_fork_walk(void)
{
	static struct hs_walk walk;

	return hs_fork_shared ? &hs_fork_shared->walk : &walk;
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

int hs_fork(const struct hs_snapshot *snapshot)
{
	struct hs_fork_shared *shared = hs_fork_shared;
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
		hs_fork_become_child(hs_monotonic_ns() - begin_ns);
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
	hs_fork_shared->pause_ns = pause_ns;
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
	switch (hs_fork_shared->is_done ? hs_fork_shared->error : 0) {
	case 0:
		break;
	case -EAGAIN:
		return "the output was too slow for the child that wrote it";
	case -ENOMEM:
		return "memory was short in the child that wrote it";
	case -ENOENT:
		return "the child that wrote it met a type that was not known yet";
	default:
		return "the child that wrote it failed";
	}
	if (state.is_killed)
		return "the child that wrote it got nowhere, and was ended";
	return WIFSIGNALED(status) ? "the child that wrote it was killed"
				   : "the child that wrote it ended early";
}

static void conclude(int status)
{
	struct hs_fork_shared *shared = hs_fork_shared;
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
	} else if (shared->sink_error) {
		/* The recording ends with it, as with an error of our own. */
		hs_recorder.sink.error = shared->sink_error;
	} else {
		state.n_failures++;
		state.n_failed++;
		state.n_skip = state.n_failures > 6 ? SKIP_MAX : 1u << (state.n_failures - 1);
		if (!state.has_said_failed)
			state.failed = reason(status);
		state.failed_id = snapshot->id;
		hs_snapshot_give_up(snapshot, reason(status), shared->pause_ns);
	}
	hs_snapshot_ended(snapshot, is_whole ? 0 : -EIO, hs_monotonic_ns() - begin_ns);
	atomic_store(&state.pid, 0);
	/* Requests that waited for it have their turn. */
	hs_wake(hs_recorder.wake_control);
}

/* A number that grows as long as the child gets on. */
static uint64_t progress(void)
{
	const volatile struct hs_walk_totals *walk = &hs_fork_shared->walk.totals;

	return walk->n_objects + walk->n_references + hs_fork_shared->commit.n;
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
		status = hs_fork_shared->is_done && !hs_fork_shared->error ? 0 : 1 << 8;
	if (ended)
		conclude(status);
	else
		watch();
}

void hs_fork_say(void)
{
	if (state.refused) {
		state.has_said_refused = true;
		hs_message(
			"the system made no child for a snapshot: %s; it is taken in the process",
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
	/* It would share that with its parent. */
	if (hs_fork_shared)
		munmap(hs_fork_shared, sizeof *hs_fork_shared);
	hs_fork_shared = NULL;
}
