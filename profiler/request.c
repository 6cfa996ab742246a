/* SPDX-License-Identifier: MIT */
/*
 * Slots of requests.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/text.h"

enum { FREE, FILLING, PENDING, TAKEN, DONE, LEFT };

#define N_WAITERS 8
#define N_SLOTS   (HS_N_UNATTENDED + N_WAITERS)

static struct hs_request slots[N_SLOTS];
/* Beside the slots, in one line: each collection looks at all of them, with a cold cache. */
typedef unsigned char state;
static _Atomic state states[N_SLOTS] __attribute__((aligned(32)));

static const char *const names[HS_N_TRIGGERS] = {
	[HS_TRIGGER_SHUTDOWN] = "shutdown",
	[HS_TRIGGER_TERM] = "term",
	[HS_TRIGGER_GC] = "gc",
	[HS_TRIGGER_EVERY_GCS] = "every-gcs",
	[HS_TRIGGER_EVERY_TIME] = "time",
	[HS_TRIGGER_AT] = "at",
	[HS_TRIGGER_SIGNAL] = "signal",
	[HS_TRIGGER_OOM] = "oom",
	[HS_TRIGGER_EARLY] = "api",
	[HS_TRIGGER_API] = "api",
	[HS_TRIGGER_CONTROL] = "control",
};

const char *hs_trigger_name(enum hs_trigger trigger)
{
	return names[trigger];
}

static _Atomic state *state_of(const struct hs_request *request)
{
	return &states[request - slots];
}

static bool change(struct hs_request *request, state from, state to)
{
	return atomic_compare_exchange_strong(state_of(request), &from, to);
}

/* Asks where nobody has asked yet; false where a snapshot for such a request is being taken. */
static bool post(struct hs_request *request, enum hs_trigger trigger)
{
	if (!change(request, FREE, FILLING))
		return atomic_load(state_of(request)) != TAKEN;
	request->trigger = trigger;
	request->label[0] = 0;
	request->is_stats_only = false;
	atomic_store(&request->is_asked_again, 0);
	atomic_store(&request->asked_ns, hs_monotonic_ns());
	atomic_store(state_of(request), PENDING);
	return true;
}

void hs_request_post(enum hs_trigger trigger)
{
	struct hs_request *request = &slots[trigger];

	if (post(request, trigger))
		return;
	atomic_store(&request->is_asked_again, 1);
	/* That snapshot may have ended meanwhile without seeing it: nobody else would then. */
	if (atomic_load(state_of(request)) != TAKEN && atomic_exchange(&request->is_asked_again, 0))
		post(request, trigger);
}

static void set_label(struct hs_request *request, const char *label)
{
	struct hs_text text = hs_text_of(label, HS_LABEL_MAX - 1);

	request->label[0] = 0;
	if (text.text)
		memcpy(request->label, text.text, text.bytes + 1);
	hs_text_free(&text);
}

static bool fill(struct hs_request *request, enum hs_trigger trigger, const char *label,
		 bool is_stats_only)
{
	if (!change(request, FREE, FILLING))
		return false;
	request->trigger = trigger;
	request->is_stats_only = is_stats_only;
	request->snapshot = 0;
	request->error = 0;
	atomic_store(&request->forked, 0);
	set_label(request, label);
	atomic_store(&request->asked_ns, hs_monotonic_ns());
	atomic_store(state_of(request), PENDING);
	return true;
}

bool hs_request_post_early(const char *label, bool is_stats_only)
{
	return fill(&slots[HS_TRIGGER_EARLY], HS_TRIGGER_EARLY, label, is_stats_only);
}

struct hs_request *hs_request_open(enum hs_trigger trigger, const char *label, bool is_stats_only)
{
	int i;

	for (i = HS_N_UNATTENDED; i < N_SLOTS; i++)
		if (fill(&slots[i], trigger, label, is_stats_only))
			return &slots[i];
	return NULL;
}

bool hs_request_is_done(const struct hs_request *request)
{
	return atomic_load(state_of(request)) == DONE;
}

bool hs_request_is_forked(const struct hs_request *request)
{
	return atomic_load(&((struct hs_request *)(uintptr_t)request)->forked) != 0;
}

int64_t hs_request_close(struct hs_request *request)
{
	const uint32_t forked = atomic_load(&request->forked);
	int64_t result;

	/* LEFT: it is being taken just now, and whoever takes it frees the slot. */
	if (change(request, PENDING, FREE) || change(request, TAKEN, LEFT))
		return forked ? (int64_t)forked : -ETIMEDOUT;
	result = request->error ? (int64_t)request->error : (int64_t)request->snapshot;
	atomic_store(state_of(request), FREE);
	return result;
}

bool hs_request_is_open(enum hs_trigger trigger)
{
	return atomic_load(&states[trigger]) != FREE;
}

bool hs_request_is_pending(void)
{
	int i;

	for (i = 0; i < N_SLOTS; i++)
		if (atomic_load(&states[i]) == PENDING)
			return true;
	return false;
}

struct hs_request *hs_request_take(void)
{
	struct hs_request *oldest;
	int i;

	do {
		oldest = NULL;
		for (i = 0; i < N_SLOTS; i++)
			if (atomic_load(&states[i]) == PENDING &&
			    (!oldest ||
			     atomic_load(&slots[i].asked_ns) < atomic_load(&oldest->asked_ns)))
				oldest = &slots[i];
	} while (oldest && !change(oldest, PENDING, TAKEN));
	return oldest;
}

void hs_request_forked(struct hs_request *request, uint32_t snapshot)
{
	if (request)
		atomic_store(&request->forked, snapshot);
}

void hs_request_done(struct hs_request *request, uint32_t snapshot, int error)
{
	if (request - slots < HS_N_UNATTENDED) {
		if (atomic_exchange(&request->is_asked_again, 0) && !error) {
			atomic_store(&request->asked_ns, hs_monotonic_ns());
			atomic_store(state_of(request), PENDING);
		} else {
			atomic_store(state_of(request), FREE);
		}
		return;
	}
	request->snapshot = snapshot;
	request->error = error;
	if (!change(request, TAKEN, DONE))
		atomic_store(state_of(request), FREE);
}

void hs_request_refuse_all(int error)
{
	struct hs_request *request;

	while ((request = hs_request_take()))
		hs_request_done(request, 0, error);
}
