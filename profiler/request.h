/* SPDX-License-Identifier: MIT */
/*
 * Requests for snapshots: who asked, under which label, and what came of it.
 *
 * Slots without a lock: any thread and signal handlers post, the collecting
 * thread takes.  Each kind of trigger that nobody waits for has one slot, so a
 * request made while such a snapshot runs is queued once.
 */
#ifndef HEAPSHOT_PROFILER_REQUEST_H
#define HEAPSHOT_PROFILER_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_LABEL_MAX 1024u

enum hs_trigger {
	HS_TRIGGER_SHUTDOWN,
	HS_TRIGGER_TERM,
	HS_TRIGGER_GC, /* a natural concurrent collection came before */
	HS_TRIGGER_EVERY_GCS,
	HS_TRIGGER_EVERY_TIME,
	HS_TRIGGER_AT,
	HS_TRIGGER_SIGNAL,
	HS_TRIGGER_OOM,
	HS_TRIGGER_EARLY, /* asked for before the runtime was up */
	HS_N_UNATTENDED,  /* those above have no waiter */
	HS_TRIGGER_API = HS_N_UNATTENDED,
	HS_TRIGGER_CONTROL,
	HS_N_TRIGGERS,
};

struct hs_request {
	_Atomic int is_asked_again;
	enum hs_trigger trigger;
	bool is_stats_only;
	char label[HS_LABEL_MAX];
	_Atomic uint64_t asked_ns;
	uint32_t snapshot;       /* result: its id, or 0 */
	int error;               /* result: 0 or a negative errno */
	_Atomic uint32_t forked; /* its id, while a child writes it */
};

const char *hs_trigger_name(enum hs_trigger trigger);

/* Asks without waiting; async-signal-safe. */
void hs_request_post(enum hs_trigger trigger);
/* HS_TRIGGER_EARLY with a label; false when one waits already.  Not async-signal-safe. */
bool hs_request_post_early(const char *label, bool is_stats_only);

/* Asks, to wait for it: a slot, or NULL when too many wait already. */
struct hs_request *hs_request_open(enum hs_trigger trigger, const char *label, bool is_stats_only);
bool hs_request_is_done(const struct hs_request *request);
bool hs_request_is_forked(const struct hs_request *request);
/* Ends the waiting, done or not; returns the id (a child may still write it), or a negative errno. */
int64_t hs_request_close(struct hs_request *request);

bool hs_request_is_pending(void);
/* Whether such a request waits or is served; of triggers that nobody waits for. */
bool hs_request_is_open(enum hs_trigger trigger);

/* For the collecting thread: the oldest one that waits, or NULL; then what came of it. */
struct hs_request *hs_request_take(void);
void hs_request_forked(struct hs_request *request, uint32_t snapshot);
void hs_request_done(struct hs_request *request, uint32_t snapshot, int error);

/* Refuses all that wait. */
void hs_request_refuse_all(int error);

/*
 * Takes a snapshot now, on any thread, and waits for it.  Returns its id; 0
 * when the runtime is not up yet (it is taken when it is); or a negative
 * errno: -ENOTCONN not recording, -ESHUTDOWN the runtime shuts down, -EBUSY
 * too many wait already, -ETIMEDOUT nobody collected in time, -EDQUOT a limit
 * was reached, -EIO it was not finished.
 */
int64_t hs_take(enum hs_trigger trigger, const char *label, bool is_stats_only);

#endif
