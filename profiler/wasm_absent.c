/* SPDX-License-Identifier: MIT */
/*
 * What there is not in wasm: children, other threads, files, signals.  Each part
 * of its header that the rest asks for, with the answer of a system that has none.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "profiler/control.h"
#include "profiler/fork.h"
#include "profiler/helper.h"
#include "profiler/recorder.h"
#include "profiler/ring.h"
#include "profiler/saved.h"
#include "profiler/sweep.h"
#include "profiler/threads.h"
#include "profiler/wasm.h"

/* fork.h: the snapshot is written in the process. */

void hs_fork_prepare(bool is_late)
{
	(void)is_late;
}

Heapshot__SnapshotFork hs_fork_decide(enum hs_trigger trigger)
{
	(void)trigger;
	return HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_OUTPUT;
}

int hs_fork(const struct hs_snapshot *snapshot)
{
	(void)snapshot;
	return -ENOSYS;
}

void hs_fork_child_end(int error)
{
	(void)error;
	__builtin_trap();
}

void hs_fork_tell_pause(uint64_t pause_ns)
{
	(void)pause_ns;
}

void hs_fork_fill_end(Heapshot__SnapshotEnd *end)
{
	(void)end;
}

struct hs_walk *hs_fork_walk(void)
{
	static struct hs_walk walk;

	return &walk;
}

bool hs_fork_is_running(void)
{
	return false;
}

/* Snapshots that were told of one by one: not of children here, but of the callback. */
uint64_t hs_fork_n_failed(void)
{
	return hs_output_n_said();
}

bool hs_fork_wait(uint64_t limit_ns)
{
	(void)limit_ns;
	return true;
}

void hs_fork_poll(void)
{
}

void hs_fork_say(void)
{
}

void hs_fork_kill(void)
{
}

/* helper.h: nobody helps. */

bool hs_helper_begin(void)
{
	return false;
}

bool hs_helper_end(void)
{
	return true;
}

void hs_helper_work(void)
{
}

/* ring.h: records go to the stream. */

size_t hs_ring_memory_bytes(void)
{
	return 0;
}

void hs_ring_reserve(void *memory)
{
	(void)memory;
}

bool hs_ring_open(char *message, size_t size)
{
	if (hs_recorder.options.ring_bytes)
		snprintf(message, size, "option 'ring' needs a file as output");
	return !hs_recorder.options.ring_bytes;
}

void hs_ring_close(void)
{
}

int hs_record_put(enum hs_frame_kind kind, uint64_t time_ns, Heapshot__Record *record,
		  uint64_t deadline_ns)
{
	return hs_stream_put(hs_recorder.stream, kind, time_ns, record, deadline_ns);
}

int hs_record_put_raw(enum hs_frame_kind kind, uint64_t time_ns, uint32_t body_field,
		      size_t body_bytes, hs_record_encode *encode, const void *message,
		      uint64_t deadline_ns)
{
	int error;
	uint8_t *out = hs_stream_put_raw(hs_recorder.stream, kind, time_ns, body_field, body_bytes,
					 deadline_ns, &error);

	if (out)
		encode(out, message);
	return error;
}

void hs_ring_flush(void)
{
}

void hs_ring_say_failure(void)
{
}

int64_t hs_ring_write_out(const char *path, uint64_t *n_dropped, char *message, size_t size)
{
	(void)path;
	*n_dropped = 0;
	snprintf(message, size, "there is no ring; see the option 'ring'");
	return -ENXIO;
}

bool hs_ring_is_asked(void)
{
	return false;
}

void hs_ring_answer(void)
{
}

void hs_ring_refuse(int error)
{
	(void)error;
}

/* threads.h, saved.h: the one thread collects, and keeps no copy of its registers elsewhere. */

void hs_threads_add(uintptr_t stack, uintptr_t bytes, uintptr_t info)
{
	(void)stack;
	(void)bytes;
	(void)info;
}

void hs_threads_remove(uintptr_t stack)
{
	(void)stack;
}

bool hs_threads_settle(uint64_t limit_ns)
{
	(void)limit_ns;
	return true;
}

void hs_saved_collect(struct hs_area *words)
{
	words->used = 0;
}

void hs_saved_meet(struct hs_area *words, uintptr_t address, uint64_t bytes)
{
	(void)words;
	(void)address;
	(void)bytes;
}

/* sweep.h, control.h */

void hs_sweep_restore_environment(void)
{
}

void hs_signals_install(void)
{
}
