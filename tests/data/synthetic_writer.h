/* SPDX-License-Identifier: MIT */
/*
 * What synthetic recordings are written with: the recorder's own stream and
 * columns, and totals kept beside.  A failure aborts.
 */
#ifndef HEAPSHOT_TESTS_SYNTHETIC_WRITER_H
#define HEAPSHOT_TESTS_SYNTHETIC_WRITER_H

#include <stdbool.h>

#include "emit/sink.h"
#include "emit/stream.h"
#include "schema/columns.h"
#include "schema/heapshot.pb-c.h"
#include "tests/data/synthetic.h"

enum { TYPE_STRING = 1, TYPE_ARRAY, TYPE_NODE, TYPE_PUB, TYPE_LATE, TYPE_COPY, TYPE_HUGE, N_TYPES };

#define BASE   0x7f0000000000u
#define ARRAY  (BASE + 0x10)
#define NODES  (BASE + 0x10000)
#define MOMENT 1000000u /* ns between records */

struct synthetic_writer {
	struct hs_stream *stream;
	struct hs_sink sink;
	struct hs_batch_encoder *batch;
	void *memory, *batch_memory, *root_memory;
	struct hs_shape_hint hints[N_TYPES];
	struct hs_root_encoder roots;
	uint64_t time_ns;
	uint64_t id;
	Heapshot__SnapshotEnd end;
	uint64_t by_kind[32];
	bool is_bare; /* without events */
};

void synthetic_put(struct synthetic_writer *writer, enum hs_frame_kind kind,
		   Heapshot__Record__BodyCase body, void *message);
void synthetic_put_type(struct synthetic_writer *writer, uint32_t id, const char *name,
			uint32_t image);
/* Name of the host in what is opened next; NULL: none.  Architecture; NULL: x86_64. */
extern const char *synthetic_host, *synthetic_architecture;
void synthetic_open(struct synthetic_writer *writer, struct synthetic_bytes *bytes,
		    uint32_t stream_id, uint32_t version);
void synthetic_close(struct synthetic_writer *writer, bool has_end, const char *note);
void synthetic_put_object(struct synthetic_writer *writer, uint32_t type, uint64_t address,
			  uint64_t size, uint64_t first, uint64_t second);
void synthetic_put_row(struct synthetic_writer *writer, const struct hs_row *row);
void synthetic_flush_batch(struct synthetic_writer *writer);
void synthetic_put_ephemerons(struct synthetic_writer *writer,
			      const struct hs_decoded_ephemeron *edges, size_t n);
uint32_t synthetic_put_source(struct synthetic_writer *writer, uint32_t kind, const char *text,
			      const char *name);
void synthetic_put_root(struct synthetic_writer *writer, uint32_t source, uint32_t kind,
			uint64_t object);
void synthetic_flush_roots(struct synthetic_writer *writer);
void synthetic_begin_snapshot(struct synthetic_writer *writer, const char *label,
			      const char *trigger);
void synthetic_end_snapshot(struct synthetic_writer *writer);
void synthetic_put_heap(struct synthetic_writer *writer, uint64_t n);
void synthetic_put_events(struct synthetic_writer *writer);

#define PUT(kind, BODY, message)                                                                   \
	synthetic_put(writer, HS_FRAME_##kind, HEAPSHOT__RECORD__BODY_##BODY, message)

#endif
