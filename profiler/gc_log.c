/* SPDX-License-Identifier: MIT */
/*
 * What is gathered stands in two lines of the cache.  The owner may read it while
 * it grows: a stop that never ends would else leave no trace.
 */
#include "config.h"

#include "profiler/gc_log.h"
#include "profiler/recorder.h"

/* The collector's lock is held from the first step to the last: one thread writes at a time. */
static struct {
	_Atomic uint64_t base_ns; /* of the first step */
	_Atomic uint64_t heap_bytes;
	_Atomic uint32_t n;
	_Atomic uint64_t steps[HS_GC_STEPS];
} gathered __attribute__((aligned(64)));

static uint32_t count(void)
{
	return atomic_load_explicit(&gathered.n, memory_order_relaxed);
}

/* HEAP_BYTES: 0, or what they are now. */
static void add(uint32_t phase, uint32_t generation, bool is_serial, uint64_t heap_bytes)
{
	const uint64_t now = hs_monotonic_ns();
	uint64_t base_ns;
	uint32_t n;

	if (count() == HS_GC_STEPS)
		hs_gc_log_publish();
	n = count();
	/* The base changes before all else does: so a reader knows that it was overtaken. */
	if (n == 0) {
		atomic_store_explicit(&gathered.base_ns, now, memory_order_relaxed);
		atomic_thread_fence(memory_order_release);
	}
	if (n == 0 || heap_bytes)
		atomic_store_explicit(&gathered.heap_bytes, heap_bytes, memory_order_relaxed);
	base_ns = atomic_load_explicit(&gathered.base_ns, memory_order_relaxed);
	atomic_store_explicit(&gathered.steps[n],
			      hs_gc_step(now - base_ns, phase, generation, is_serial),
			      memory_order_relaxed);
	atomic_store_explicit(&gathered.n, n + 1, memory_order_release);
}

void hs_gc_log_step(uint32_t phase, uint32_t generation, bool is_serial)
{
	add(phase, generation, is_serial, 0);
}

void hs_gc_log_resize(uint64_t heap_bytes)
{
	/* An entry has room for one size. */
	if (count() && atomic_load_explicit(&gathered.heap_bytes, memory_order_relaxed))
		hs_gc_log_publish();
	add(HS_GC_STEP_RESIZE, 0, false, heap_bytes);
}

static void copy(struct hs_gc_entry *out, uint32_t n)
{
	uint32_t i;

	out->n = n;
	out->n_told = 0;
	out->heap_bytes = atomic_load_explicit(&gathered.heap_bytes, memory_order_relaxed);
	for (i = 0; i < n; i++)
		out->steps[i] = atomic_load_explicit(&gathered.steps[i], memory_order_relaxed);
}

void hs_gc_log_publish(void)
{
	const uint32_t n = count();
	struct hs_log_entry *entry;

	if (!n)
		return;
	entry = hs_push_begin_at(HS_ENTRY_GC, hs_gc_entry_bytes(n),
				 HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS,
				 atomic_load_explicit(&gathered.base_ns, memory_order_relaxed));
	if (entry) {
		copy(hs_log_payload(entry), n);
		hs_push_end(entry);
	} else if (hs_is_recording()) {
		hs_count_loss(HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS, n - 1);
	}
	hs_gc_log_clear();
}

void hs_gc_log_clear(void)
{
	atomic_store_explicit(&gathered.n, 0, memory_order_release);
}

bool hs_gc_log_peek(struct hs_gc_open *open)
{
	uint32_t n;

	open->base_ns = atomic_load_explicit(&gathered.base_ns, memory_order_acquire);
	n = atomic_load_explicit(&gathered.n, memory_order_acquire);
	if (!n)
		return false;
	copy(&open->entry, n);
	/* Unless another stop has begun meanwhile. */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&gathered.base_ns, memory_order_relaxed) == open->base_ns;
}
