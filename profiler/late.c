/* SPDX-License-Identifier: MIT */
/*
 * Naming types late.
 */
#include "config.h"

#include <stdatomic.h>
#include <string.h>

#include "profiler/area.h"
#include "profiler/classes.h"
#include "profiler/clock.h"
#include "profiler/late.h"

/*
 * A thread that names may be stopped by a collection that waits for ours.  Names
 * take a millisecond, but one that gets no processor takes long.
 */
#define NAMING_LIMIT_NS HS_NS_PER_S

/* Handed from the collecting thread to whoever names. */
struct batch {
	struct hs_area classes;
	struct batch *next;
};

static struct hs_area collected;
static struct batch *_Atomic published;
/* Threads that name just now. */
static _Atomic int n_naming;

void hs_late_add(uintptr_t klass)
{
	/* An area's entries are of 8 bytes. */
	const uint64_t entry = klass;
	size_t offset = hs_area_add(&collected, sizeof entry);

	/* No memory: it stays without a name until it is met again. */
	if (offset != SIZE_MAX)
		memcpy(collected.data + offset, &entry, sizeof entry);
}

bool hs_late_has_collected(void)
{
	return collected.used != 0;
}

void hs_late_publish(void)
{
	struct batch *batch;

	if (!collected.used)
		return;
	batch = hs_map(sizeof *batch);
	if (!batch) {
		/* Later they may be gone. */
		collected.used = 0;
		return;
	}
	batch->classes = collected;
	memset(&collected, 0, sizeof collected);
	batch->next = atomic_load(&published);
	while (!atomic_compare_exchange_weak(&published, &batch->next, batch))
		;
}

bool hs_late_is_pending(void)
{
	return atomic_load(&published) != NULL;
}

static struct batch *free_batch(struct batch *batch)
{
	struct batch *next = batch->next;

	hs_area_free(&batch->classes);
	hs_unmap(batch, sizeof *batch);
	return next;
}

void hs_late_clear(void)
{
	struct batch *batch = atomic_exchange(&published, NULL);

	while (batch)
		batch = free_batch(batch);
	collected.used = 0;
}

void hs_late_name_all(void)
{
	struct batch *batch;
	size_t at;

	atomic_fetch_add(&n_naming, 1);
	batch = atomic_exchange(&published, NULL);
	for (; batch; batch = free_batch(batch)) {
		for (at = 0; at < batch->classes.used; at += sizeof(uint64_t)) {
			uint64_t klass;
			memcpy(&klass, batch->classes.data + at, sizeof klass);
			hs_classes_name_late((MonoClass *)(uintptr_t)klass);
		}
	}
	atomic_fetch_sub(&n_naming, 1);
}

void hs_late_name_last(void)
{
	const uint64_t end = hs_monotonic_ns() + NAMING_LIMIT_NS;

	hs_late_name_all();
	while (atomic_load(&n_naming) && hs_monotonic_ns() < end)
		hs_sleep_ns(HS_NS_PER_MS / 4);
}
