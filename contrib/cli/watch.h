/* SPDX-License-Identifier: MIT */
/*
 * The parts of `heapshot watch`.
 *
 * A refresh asks the process for a snapshot of statistics, which the module
 * writes to its recording, and reads from that file what came since the refresh
 * before: the totals of the snapshot, and the events of the collector.  So the
 * process does nothing that it does not do for `heapshot take --stats`.
 */
#ifndef HEAPSHOT_CLI_WATCH_H
#define HEAPSHOT_CLI_WATCH_H

#include "contrib/cli/gc_pause.h"
#include "contrib/cli/growth.h"
#include "contrib/cli/recording.h"

/* ---- The recording, as it grows (watch_tail.c) ---- */

/* Bytes of the file that are still of use; AT is their place among all of these. */
struct watch_piece {
	uint64_t at, offset, bytes;
};

/*
 * The names of all that was read before, and what came since.  Both together are
 * a recording for a reader: that of one refresh stays until the next.
 */
struct watch_tail {
	int fd;
	uint64_t next; /* what stands before this offset was read */
	struct watch_piece *pieces;
	size_t n, room;
	uint64_t bytes;  /* of all pieces */
	uint64_t new_at; /* where in them the new part begins */
};

/*
 * Opens the file that process PID records to.  0 or a negative errno; -ENOENT when
 * it records to no file.
 */
int watch_tail_open(struct watch_tail *tail, long pid);
/* A reader on the names and what is new. */
enum heapshot_read_result watch_tail_read(struct watch_tail *tail, struct heapshot_reader **reader);
/* Keeps the names of what READER has, so that the next time only what is new is read. */
enum heapshot_read_result watch_tail_keep(struct watch_tail *tail, struct heapshot_reader *reader);
void watch_tail_close(struct watch_tail *tail);

/* ---- Collections (watch_gc.c) ---- */

struct watch_pauses {
	uint64_t n_minor, n_major, ns, max_ns;
};

struct watch_gc {
	struct watch_pauses program, ours; /* since watching began, ours: for refreshes */
	struct gc_pause pause;
	uint64_t taken_ns; /* when the snapshot of the refresh before was taken */
	bool is_begun, has_events;
};

/* Takes the events that are new in READER, whose last snapshot is SNAPSHOT. */
enum heapshot_read_result watch_gc_take(struct watch_gc *gc, struct heapshot_reader *reader,
					uint64_t new_at, const struct heapshot_snapshot *snapshot);

/* ---- What is shown (watch_show.c) ---- */

struct watch {
	const struct cli_arguments *arguments;
	const char *process;
	struct recording recording; /* on the reader of the last refresh */
	struct watch_tail tail;
	struct watch_gc gc;
	struct growth growth;
	struct heapshot_totals totals;
	uint64_t first_bytes, first_objects, first_ns;
	uint64_t n_refreshes;
	uint64_t interval_ns;
	bool is_screen; /* refreshed in place */
};

/* On a terminal: takes the screen, and gives it back if it was taken. */
void watch_screen_begin(void);
void watch_screen_end(void);
/* The figures of the last refresh: in place, as lines, or as JSON. */
void watch_show(const struct watch *watch);
/* The same for the end, where they were shown in place. */
void watch_show_last(const struct watch *watch);

#endif
