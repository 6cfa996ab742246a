/* SPDX-License-Identifier: MIT */
/*
 * Log of what happened: many producers, one consumer, no lock.
 *
 * Mono suspends threads anywhere, also inside our callbacks, and the thread
 * that then collects must be able to read and write here.  So an entry is
 * reserved by one compare-and-swap and published by one store; a thread that
 * is stopped in between leaves a hole which the consumer passes over and
 * comes back to.  Entries of one thread keep their order.
 *
 * Memory is fixed.  A full log refuses; what to do then is the caller's decision.
 */
#ifndef HEAPSHOT_PROFILER_LOG_H
#define HEAPSHOT_PROFILER_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_LOG_CELL 64u

struct hs_log {
	_Atomic uint64_t tail;    /* next cell to be reserved, counted without wrapping */
	char pad[56];             /* producers and consumer on cache lines of their own */
	_Atomic uint64_t head;    /* oldest cell that is not free */
	uint64_t mask;            /* cells - 1 */
	_Atomic uint32_t *states; /* of the first cell of an entry; 0: free, or not yet published */
	unsigned char *cells;
};

/* Stands in front of each entry's payload. */
struct hs_log_entry {
	uint32_t kind;
	uint32_t bytes;   /* of the payload */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
			  /* payload, aligned to 8 */
};

static inline void *hs_log_payload(struct hs_log_entry *entry)
{
	return entry + 1;
}

/* Bytes of memory for a log of N_CELLS (a power of two). */
size_t hs_log_bytes(size_t n_cells);
/* MEMORY is zeroed and aligned to 64. */
void hs_log_init(struct hs_log *log, void *memory, size_t n_cells);

/* Largest payload that fits at all. */
size_t hs_log_payload_max(const struct hs_log *log);

/* Reserves an entry; NULL when the log is full.  Fill it and publish it soon. */
struct hs_log_entry *hs_log_reserve(struct hs_log *log, uint32_t kind, size_t payload_bytes,
				    uint64_t time_ns);
void hs_log_publish(struct hs_log *log, struct hs_log_entry *entry);

/*
 * Hands all published entries to VISIT, oldest first, and frees them.  VISIT
 * returns false to stop; its entry then stays.  Returns how many were taken.
 */
typedef bool hs_log_visit(struct hs_log_entry *entry, void *data);
size_t hs_log_drain(struct hs_log *log, hs_log_visit *visit, void *data);

/* Cells in use, published or not. */
size_t hs_log_used(const struct hs_log *log);

#endif
