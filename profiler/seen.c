/* SPDX-License-Identifier: MIT */
/*
 * Lock-free set of addresses, of fixed size.
 */
#include "config.h"

#include <stdatomic.h>
#include <stddef.h>

#include "profiler/seen.h"

#define CAPACITY_LOG 15
#define CAPACITY     (1u << CAPACITY_LOG)
#define PROBES       64u
/* Lowest bit of a slot whose address was taken out. */
#define REMOVED ((uintptr_t)1)

static _Atomic uintptr_t slots[CAPACITY];
static _Atomic bool is_any, are_others_expected;

static size_t home(uintptr_t address)
{
	return (size_t)(((uint64_t)address * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - CAPACITY_LOG));
}

bool hs_seen_add(uintptr_t address)
{
	size_t at = home(address), i;

	if (!atomic_load_explicit(&is_any, memory_order_relaxed))
		atomic_store(&is_any, true);
	for (i = 0; i < PROBES; i++, at = (at + 1) % CAPACITY) {
		uintptr_t present = atomic_load(&slots[at]);
		if (present == address)
			return false;
		if ((present == 0 || present == (address | REMOVED)) &&
		    atomic_compare_exchange_strong(&slots[at], &present, address))
			return true;
		if (present == address)
			return false;
	}
	return true;
}

void hs_seen_remove(uintptr_t address)
{
	size_t at = home(address), i;

	if (!atomic_load(&are_others_expected))
		return;
	for (i = 0; i < PROBES; i++, at = (at + 1) % CAPACITY) {
		uintptr_t present = atomic_load(&slots[at]);
		if (present == 0)
			return;
		if (present == address) {
			atomic_compare_exchange_strong(&slots[at], &present, address | REMOVED);
			return;
		}
	}
}

void hs_seen_expect_others(void)
{
	atomic_store(&are_others_expected, true);
}

void hs_seen_clear(void)
{
	size_t at;

	/* A first recording need not touch it. */
	if (!atomic_exchange(&is_any, false))
		return;
	for (at = 0; at < CAPACITY; at++)
		atomic_store_explicit(&slots[at], 0, memory_order_relaxed);
}
