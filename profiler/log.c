/* SPDX-License-Identifier: MIT */
/*
 * Lock-free log in a ring of cells.
 */
#include "config.h"

#include "profiler/log.h"

#define CONSUMED 0x80000000u

size_t hs_log_bytes(size_t n_cells)
{
	return n_cells * (HS_LOG_CELL + sizeof(uint32_t));
}

void hs_log_init(struct hs_log *log, void *memory, size_t n_cells)
{
	atomic_init(&log->tail, 0);
	atomic_init(&log->head, 0);
	log->mask = n_cells - 1;
	log->cells = memory;
	log->states = (_Atomic uint32_t *)(void *)(log->cells + n_cells * HS_LOG_CELL);
}

size_t hs_log_payload_max(const struct hs_log *log)
{
	/* A quarter, so that the rest of a lap that is too short always finds room beside it. */
	return (size_t)(log->mask + 1) / 4 * HS_LOG_CELL - sizeof(struct hs_log_entry);
}

struct hs_log_entry *hs_log_reserve(struct hs_log *log, uint32_t kind, size_t payload_bytes,
				    uint64_t time_ns)
{
	const uint64_t n_cells = log->mask + 1;
	const uint64_t need =
		(payload_bytes + sizeof(struct hs_log_entry) + HS_LOG_CELL - 1) / HS_LOG_CELL;
	struct hs_log_entry *entry;
	uint64_t tail, head, rest;

	if (payload_bytes > hs_log_payload_max(log))
		return NULL;
	tail = atomic_load_explicit(&log->tail, memory_order_relaxed);
	do {
		/* An entry is contiguous: what is left of the lap is passed over if too short. */
		rest = n_cells - (tail & log->mask);
		if (rest >= need)
			rest = 0;
		/* A tail that the head has passed since we read it is stale: the swap will say so. */
		head = atomic_load_explicit(&log->head, memory_order_acquire);
		if (head <= tail && tail + rest + need - head > n_cells)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&log->tail, &tail, tail + rest + need, memory_order_acq_rel, memory_order_relaxed));
	if (rest)
		atomic_store_explicit(&log->states[tail & log->mask], CONSUMED | (uint32_t)rest,
				      memory_order_release);
	entry = (struct hs_log_entry *)(void *)(log->cells +
						((tail + rest) & log->mask) * HS_LOG_CELL);
	entry->kind = kind;
	entry->bytes = (uint32_t)payload_bytes;
	entry->time_ns = time_ns;
	return entry;
}

static uint32_t entry_cells(const struct hs_log_entry *entry)
{
	return (entry->bytes + (uint32_t)sizeof *entry + HS_LOG_CELL - 1) / HS_LOG_CELL;
}

void hs_log_publish(struct hs_log *log, struct hs_log_entry *entry)
{
	size_t cell = (size_t)((unsigned char *)entry - log->cells) / HS_LOG_CELL;

	atomic_store_explicit(&log->states[cell], entry_cells(entry), memory_order_release);
}

size_t hs_log_drain(struct hs_log *log, hs_log_visit *visit, void *data)
{
	uint64_t head = atomic_load_explicit(&log->head, memory_order_relaxed);
	const uint64_t tail = atomic_load_explicit(&log->tail, memory_order_acquire);
	uint64_t at = head;
	size_t n_visited = 0;

	while (at < tail) {
		_Atomic uint32_t *state = &log->states[at & log->mask];
		uint32_t value = atomic_load_explicit(state, memory_order_acquire);
		if (value == 0) {
			/* Not published yet, or the inside of such an entry. */
			at++;
			continue;
		}
		if (!(value & CONSUMED)) {
			if (!visit((struct hs_log_entry *)(void *)(log->cells +
								   (at & log->mask) * HS_LOG_CELL),
				   data))
				break;
			value |= CONSUMED;
			atomic_store_explicit(state, value, memory_order_relaxed);
			n_visited++;
		}
		at += value & ~CONSUMED;
	}
	/* Free what is consumed up to the first hole. */
	while (head < tail) {
		_Atomic uint32_t *state = &log->states[head & log->mask];
		uint32_t value = atomic_load_explicit(state, memory_order_relaxed);
		if (!(value & CONSUMED))
			break;
		atomic_store_explicit(state, 0, memory_order_relaxed);
		head += value & ~CONSUMED;
		atomic_store_explicit(&log->head, head, memory_order_release);
	}
	return n_visited;
}

size_t hs_log_used(const struct hs_log *log)
{
	/* Head first: it never passes the tail, so the difference is not negative. */
	uint64_t head = atomic_load_explicit(&((struct hs_log *)(uintptr_t)log)->head,
					     memory_order_acquire);

	return (size_t)(atomic_load_explicit(&((struct hs_log *)(uintptr_t)log)->tail,
					     memory_order_acquire) -
			head);
}
