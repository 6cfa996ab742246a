/* SPDX-License-Identifier: MIT */
/*
 * The flight recorder (option `ring`): events and metadata go to OUTPUT.ring,
 * a file of fixed size that always holds the newest of them; header, metadata
 * and snapshots go to the output.  A ring that fails ends by itself: snapshots
 * go on, and the events that it does not take are counted.
 */
#ifndef HEAPSHOT_PROFILER_RING_H
#define HEAPSHOT_PROFILER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emit/ring.h"
#include "schema/heapshot.pb-c.h"
#include "schema/tag.h"

/* Memory for its buffers, page-aligned. */
size_t hs_ring_memory_bytes(void);
void hs_ring_reserve(void *memory);

/*
 * Makes OUTPUT.ring where the options ask for it; an earlier ring of that name
 * becomes OUTPUT.old.ring.  False with a line in MESSAGE.
 */
bool hs_ring_open(char *message, size_t size);
void hs_ring_close(void);
bool hs_ring_is_on(void);
/* Its path, "" without one. */
const char *hs_ring_path(void);

/*
 * For the owner: puts a record where its kind belongs, as hs_stream_put() does.
 * All records but those of snapshots come through here.
 */
int hs_record_put(enum hs_frame_kind kind, uint64_t time_ns, Heapshot__Record *record,
		  uint64_t deadline_ns);

/*
 * The same with a body written by hand: ENCODE writes exactly BODY_BYTES bytes of
 * field BODY_FIELD (no Loss), where it is told to, and returns the end.
 */
typedef uint8_t *hs_record_encode(uint8_t *out, const void *message);
int hs_record_put_raw(enum hs_frame_kind kind, uint64_t time_ns, uint32_t body_field,
		      size_t body_bytes, hs_record_encode *encode, const void *message,
		      uint64_t deadline_ns);

/* For the owner: brings what is buffered into the file. */
void hs_ring_flush(void);
/* For the owner: the ring itself, and the number and flags of a frame behind its last one. */
const struct hs_ring *hs_ring_file(uint64_t *next_seq);

/* For the writer, not as the owner: says once that the ring has failed. */
void hs_ring_say_failure(void);

/*
 * Writes what the ring holds to PATH, a recording of its own, and waits for it.
 * Any thread but the writer.  Returns the number of frames, with those that were
 * dropped before in *n_dropped and the path that was used in MESSAGE (as for the
 * option `output`, an earlier recording becomes PATH.old), or a negative errno
 * with a line in MESSAGE:
 * -ENOTCONN nothing is being recorded, -ENXIO there is no ring, -EBUSY another
 * one is being written.
 */
int64_t hs_ring_write_out(const char *path, uint64_t *n_dropped, char *message, size_t size);

/* For the writer. */
bool hs_ring_is_asked(void);
void hs_ring_answer(void);      /* as the owner: writes a part, or the rest */
void hs_ring_refuse(int error); /* nothing is written any more */

#endif
