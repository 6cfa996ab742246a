/* SPDX-License-Identifier: MIT */
/*
 * The recorder: one per process, since the runtime's hooks are.
 *
 * Who may touch what.  Callbacks on running threads only append to the log.
 * The stream, the sink and the tables belong to the owner: the recorder's own
 * writer thread while the world runs, the collecting thread while it takes a
 * snapshot.  The writer is not known to the runtime, is never suspended, and
 * neither allocates nor prints while it is the owner; so the collecting thread
 * can wait for it, and only for it.
 */
#ifndef HEAPSHOT_PROFILER_RECORDER_H
#define HEAPSHOT_PROFILER_RECORDER_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emit/sink.h"
#include "emit/stream.h"
#include "profiler/chunks.h"
#include "profiler/clock.h"
#include "profiler/entries.h"
#include "profiler/log.h"
#include "profiler/options.h"
#include "profiler/ranges.h"
#include "profiler/types.h"
#include "schema/columns.h"
#include "schema/heapshot.pb-c.h"

/*
 * Longest time that the stopped world waits in one snapshot, for the writer thread
 * to let go of the stream and for a slow reader of the output together.  A stop of
 * the world may wait HS_LOG_WAIT_NS more, where the log is full too, and
 * HS_SETTLE_LIMIT_NS before a snapshot: 1.3 s in all.
 */
#define HS_STALL_LIMIT_NS (1 * HS_NS_PER_S)
/* Longest time of that, and of others, for the writer thread alone. */
#define HS_OWNER_LIMIT_NS HS_STALL_LIMIT_NS
/* Longest time that a callback waits for room in the log, once until there is some again. */
#define HS_LOG_WAIT_NS (200 * HS_NS_PER_MS)
/* Longest time that the stopped world waits for threads that go to sleep; microseconds, as a rule. */
#define HS_SETTLE_LIMIT_NS (100 * HS_NS_PER_MS)
/* A slow reader is waited for in slices, so that the collecting thread gets its turn. */
#define HS_SLICE_NS (20 * HS_NS_PER_MS)
/* How often events reach the output at the latest. */
#define HS_FLUSH_NS (250 * HS_NS_PER_MS)
/* Longest time that a start waits for the threads of the recording before. */
#define HS_CLEAR_LIMIT_NS (5 * HS_NS_PER_S)
/* Longest time that the end of the process waits for the output, and for a command. */
#define HS_CLOSE_LIMIT_NS (10 * HS_NS_PER_S)

#define HS_N_LOSS_KINDS (HEAPSHOT__LOSS_KIND__LOSS_KIND_METHODS + 1)

enum hs_state {
	HS_STATE_OFF, /* never started, or over */
	HS_STATE_RECORDING,
	HS_STATE_ENDING, /* the last records are being written */
};

/* How far the runtime's own life has come. */
enum hs_phase {
	HS_PHASE_EARLY, /* the runtime is not initialised yet */
	HS_PHASE_RUNNING,
	HS_PHASE_SHUTDOWN, /* runtime_shutdown_begin was seen */
};

/* Collected roots, as the runtime reported them. */
struct hs_root {
	uintptr_t address;
	uintptr_t object;
	const char *kind; /* where gc_roots carries it, or hs_saved_registers */
};

struct hs_recorder {
	/* What each collection looks at, with a cold cache, is together. */
	_Atomic int state; /* enum hs_state */
	_Atomic int phase; /* enum hs_phase */
	_Atomic int is_limit_reached;
	_Atomic uintptr_t
		stopped_by; /* pthread_self() of the collecting thread while the world is stopped */

	struct hs_options options;
	pid_t pid; /* a forked child of the host has another one, and writes nothing */
	uint32_t id;
	uint64_t start_ns;
	bool is_late;                      /* started after the runtime was up */
	char output[HS_OPTIONS_VALUE_MAX]; /* for people */

	struct hs_log log;
	_Atomic int is_stuck; /* nobody made room in time, and nothing was taken since */
	_Atomic uint64_t lost[HS_N_LOSS_KINDS]; /* by LossKind, since the last Loss record */
	_Atomic uint64_t lost_ever;
	_Atomic int are_ranges_lost; /* an event about a root range was */

	/* Owner's. */
	_Atomic int owner;           /* 0: none */
	_Atomic int is_owner_wanted; /* by the collecting thread */
	struct hs_sink sink;
	struct hs_stream *stream;
	struct hs_types types;
	struct hs_ranges ranges;
	struct hs_chunks chunks; /* of code */
	struct hs_batch_encoder *batches;
	struct hs_root_encoder root_encoder;
	struct hs_ephemeron_encoder ephemeron_encoder;
	unsigned char *strings; /* buffer of a StringBatch */
	int error;              /* first failure of the output, said once */

	/* Collecting thread's. */
	struct hs_area roots; /* struct hs_root */
	struct hs_area saved; /* struct hs_saved_word */
	uint64_t n_roots_lost;

	_Atomic uint64_t n_snapshots;     /* complete ones */
	_Atomic uint64_t n_writer_rounds; /* the writer brought all to the output so often */
	_Atomic uint64_t n_dropped;       /* asked for, not finished */
	uint32_t last_snapshot;           /* id given last */
	_Atomic int is_closing;           /* END_REASON + 1 once somebody asked for the end */
	_Atomic int is_closed;            /* the writer has ended */
	_Atomic int is_control_closed;

	pthread_t writer, control;
	bool has_control;
	int wake_writer, wake_control; /* eventfds */
	void *memory;
	size_t memory_bytes;
	unsigned char *memory_used;
};

extern struct hs_recorder hs_recorder;

static inline bool hs_is_recording(void)
{
	return atomic_load_explicit(&hs_recorder.state, memory_order_acquire) == HS_STATE_RECORDING;
}

static inline bool hs_is_stopped_by_us(void)
{
	return atomic_load_explicit(&hs_recorder.stopped_by, memory_order_relaxed) ==
	       (uintptr_t)pthread_self();
}

/* Time since the start of the recording. */
static inline uint64_t hs_since_start(uint64_t clock_ns)
{
	return clock_ns - hs_recorder.start_ns;
}

/*
 * Appends to the log: reserves an entry of KIND, or returns NULL when nothing
 * is recorded or the log stays full (then the loss is counted as LOSS).  Fill
 * the payload, then hs_push_end().
 */
struct hs_log_entry *hs_push_begin(enum hs_entry_kind kind, size_t payload_bytes,
				   Heapshot__LossKind loss);
/* The same of something that happened at TIME_NS. */
struct hs_log_entry *hs_push_begin_at(enum hs_entry_kind kind, size_t payload_bytes,
				      Heapshot__LossKind loss, uint64_t time_ns);
void hs_push_end(struct hs_log_entry *entry);

void hs_count_loss(Heapshot__LossKind kind, uint64_t n);

/*
 * Callbacks that use the recorder's memory are inside it: a later recording
 * begins when all have left.  Appending to the log does this by itself.
 */
extern _Atomic int hs_n_inside;

static inline void hs_enter(void)
{
	atomic_fetch_add(&hs_n_inside, 1);
}

static inline void hs_leave(void)
{
	atomic_fetch_sub(&hs_n_inside, 1);
}

/* Owner.  hs_own() waits at most LIMIT_NS. */
bool hs_own(uint64_t limit_ns);
void hs_disown(void);

/*
 * For the owner: applies the log to the tables and writes it to the stream.
 * Returns 0 when the log was emptied, -EAGAIN when a slow reader left no room,
 * or the output's error.
 */
int hs_drain(uint64_t deadline_ns);

/*
 * Whether FD, which was opened as an eventfd, still is one.  The program may close
 * descriptors that it does not know (daemons do), and open files of its own under
 * the same numbers: only an anonymous inode can be ours.
 */
bool hs_is_event(int fd);
/* Wakes a recorder's thread, if FD still is its eventfd; async-signal-safe. */
void hs_wake(int fd);
/*
 * For such a thread: waits for hs_wake(FD), for what *OTHER (may be NULL) asks of
 * poll(2), or TIMEOUT_MS.  Returns what came of OTHER.
 */
int hs_wait(int fd, struct pollfd *other, int timeout_ms);

/* Starting and ending: recorder.c. */
struct hs_start {
	const char *options;        /* may be NULL */
	hs_sink_callback *callback; /* NULL: as the option `output` says */
	void *user_data;
	bool is_late;
};

enum hs_start_result { HS_START_OK, HS_START_REFUSED, HS_START_HELP };

/*
 * Opens all that a recording needs; it begins with hs_recorder_begin().  On
 * failure, one line in MESSAGE; *is_strict tells whether the options ask to end
 * the process.
 */
enum hs_start_result hs_recorder_start(const struct hs_start *start, char *message, size_t size,
				       bool *is_strict);
void hs_recorder_begin(void);

/*
 * Ends the recording: the writer drains, writes the End record, and closes the
 * output.  Waits for that within HS_CLOSE_LIMIT_NS.  Only the first call acts.
 */
void hs_recorder_end(Heapshot__EndReason reason);

/*
 * Brings all events so far to the output, or into the ring, and waits for it,
 * at most a second behind a child that writes a snapshot; calls DRIVE (NULL:
 * none) meanwhile.  Any thread but the
 * writer.  0, -ENOTCONN nothing is being recorded, -ETIMEDOUT.
 */
int hs_flush(void (*drive)(void));

/* What the writer does each time it is woken; false: the output is closed.  writer.c */
bool hs_writer_turn(void);
/* control.c */
void *hs_control_main(void *unused);

#endif
