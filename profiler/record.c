/* SPDX-License-Identifier: MIT */
/*
 * Appending to the log, and the ownership of the stream.
 */
#include "config.h"

#include <sched.h>

#include "profiler/recorder.h"

struct hs_recorder hs_recorder __attribute__((aligned(64)));
_Atomic int hs_n_inside;

void hs_count_loss(Heapshot__LossKind kind, uint64_t n)
{
	atomic_fetch_add(&hs_recorder.lost[kind], n);
	atomic_fetch_add(&hs_recorder.lost_ever, n);
	if (kind == HEAPSHOT__LOSS_KIND__LOSS_KIND_ROOT_RANGES)
		atomic_store(&hs_recorder.are_ranges_lost, 1);
}

bool hs_own(uint64_t limit_ns)
{
	const uint64_t end = hs_monotonic_ns() + limit_ns;
	unsigned n_tries = 0;
	bool is_ours = false;
	int expected;

	for (;;) {
		expected = 0;
		if (atomic_compare_exchange_strong(&hs_recorder.owner, &expected, 1)) {
			is_ours = true;
			break;
		}
		if (!limit_ns || hs_monotonic_ns() >= end)
			break;
		atomic_store(&hs_recorder.is_owner_wanted, 1);
		if (n_tries++ < 100)
			sched_yield();
		else
			hs_sleep_ns(50000);
	}
	if (limit_ns)
		atomic_store(&hs_recorder.is_owner_wanted, 0);
	return is_ours;
}

void hs_disown(void)
{
	atomic_store(&hs_recorder.owner, 0);
}

/* The log is full.  Makes room, or gives up after a bounded wait. */
static bool make_room(uint64_t end)
{
	bool is_ours;

	if (hs_is_stopped_by_us()) {
		is_ours = hs_own(HS_LOG_WAIT_NS);
		if (is_ours) {
			hs_drain(0);
			hs_disown();
		}
		return is_ours && hs_monotonic_ns() < end;
	}
	hs_wake(hs_recorder.wake_writer);
	hs_sleep_ns(HS_NS_PER_MS / 4);
	return hs_is_recording() && hs_monotonic_ns() < end;
}

/* Waits for room, once: a reader that has stopped must not slow down each and every event. */
static struct hs_log_entry *wait_and_reserve(enum hs_entry_kind kind, size_t payload_bytes,
					     uint64_t time_ns)
{
	const uint64_t end = hs_monotonic_ns() + HS_LOG_WAIT_NS;
	struct hs_log *log = &hs_recorder.log;
	struct hs_log_entry *entry = NULL;

	if (payload_bytes > hs_log_payload_max(log) || atomic_load(&hs_recorder.is_stuck))
		return NULL;
	while (!entry && make_room(end))
		entry = hs_log_reserve(log, kind, payload_bytes, time_ns);
	if (!entry)
		atomic_store(&hs_recorder.is_stuck, 1);
	return entry;
}

struct hs_log_entry *hs_push_begin(enum hs_entry_kind kind, size_t payload_bytes,
				   Heapshot__LossKind loss)
{
	return hs_is_recording() ? hs_push_begin_at(kind, payload_bytes, loss, hs_monotonic_ns())
				 : NULL;
}

struct hs_log_entry *hs_push_begin_at(enum hs_entry_kind kind, size_t payload_bytes,
				      Heapshot__LossKind loss, uint64_t time_ns)
{
	struct hs_log_entry *entry = NULL;

	hs_enter();
	if (hs_is_recording()) {
		entry = hs_log_reserve(&hs_recorder.log, kind, payload_bytes, time_ns);
		if (!entry)
			entry = wait_and_reserve(kind, payload_bytes, time_ns);
		if (!entry)
			hs_count_loss(loss, 1);
	}
	if (!entry)
		hs_leave();
	return entry;
}

void hs_push_end(struct hs_log_entry *entry)
{
	const size_t half = (size_t)(hs_recorder.log.mask + 1) / 2;
	const size_t used = hs_log_used(&hs_recorder.log);

	hs_log_publish(&hs_recorder.log, entry);
	/* Woken on the way up only: a full log would else cost a system call an entry. */
	if (used >= half && used < half + 16)
		hs_wake(hs_recorder.wake_writer);
	hs_leave();
}
