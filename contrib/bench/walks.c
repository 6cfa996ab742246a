/* SPDX-License-Identifier: MIT */
/*
 * The walks of the probe.  The recorder's code stands in the probe's module a
 * second time, with a recorder of its own that never starts a recording.
 */
#include "config.h"

#include <errno.h>

#include <mono/metadata/mono-gc.h>
#include <mono/metadata/object.h>

#include "emit/sink.h"
#include "profiler/area.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/roots.h"
#include "profiler/walk.h"

#include "contrib/bench/walks.h"

#define FRAME_BYTES     ((size_t)256 << 10)
#define EPHEMERON_BYTES ((size_t)128 << 10)

static struct hs_root_set root_set;
static uint8_t *message; /* where batches go that go nowhere */

bool walks_init(void)
{
	struct hs_stream_config config = {.frame_bytes = FRAME_BYTES, .sink = &hs_recorder.sink};
	void *stream = hs_map(hs_stream_bytes(FRAME_BYTES));
	void *batches = hs_map(hs_batch_encoder_bytes());
	void *ephemerons = hs_map(EPHEMERON_BYTES);

	message = hs_map(HS_RECORD_MAX);
	if (!stream || !batches || !ephemerons || !message)
		return false;
	hs_sink_open_null(&hs_recorder.sink);
	hs_recorder.stream = hs_stream_init(stream, &config);
	hs_recorder.batches = hs_batch_encoder_init(batches, sizeof(void *));
	hs_ephemeron_encoder_init(&hs_recorder.ephemeron_encoder, ephemerons, EPHEMERON_BYTES,
				  sizeof(void *));
	return true;
}

void walks_collect_roots(MonoProfilerHandle handle, bool is_on)
{
	hs_roots_report(handle, is_on);
}

void walks_forget_roots(void)
{
	hs_roots_clear();
}

static int nothing(MonoObject *object, MonoClass *klass, uintptr_t size, uintptr_t n_refs,
		   MonoObject **refs, uintptr_t *offsets, void *data)
{
	(void)object;
	(void)klass;
	(void)size;
	(void)n_refs;
	(void)refs;
	(void)offsets;
	(void)data;
	return 0;
}

void walk_nothing(void)
{
	mono_gc_walk_heap(0, nothing, NULL);
}

static int count(MonoObject *object, MonoClass *klass, uintptr_t size, uintptr_t n_refs,
		 MonoObject **refs, uintptr_t *offsets, void *data)
{
	uint64_t *counts = data;

	(void)klass;
	(void)refs;
	(void)offsets;
	counts[0] += size != 0;
	counts[1] += n_refs;
	counts[2] += size ? mono_object_get_size(object) : 0;
	return 0;
}

void walk_count(uint64_t *objects, uint64_t *references, uint64_t *bytes)
{
	uint64_t counts[3] = {0};

	mono_gc_walk_heap(0, count, counts);
	*objects = counts[0];
	*references = counts[1];
	*bytes = counts[2];
}

static int keep_objects(void)
{
	hs_batch_finish(hs_recorder.batches, message);
	return 0;
}

static int keep_ephemerons(void)
{
	hs_ephemeron_finish(&hs_recorder.ephemeron_encoder, message);
	return 0;
}

static uint8_t *reserve(uint32_t field, size_t bytes, int *error)
{
	return hs_stream_put_raw(hs_recorder.stream, HS_FRAME_SNAPSHOT_BODY, 0, field, bytes, 0,
				 error);
}

static int frame_objects(void)
{
	int error = 0;
	uint8_t *out = reserve(HEAPSHOT__RECORD__BODY_OBJECT_BATCH,
			       hs_batch_bytes(hs_recorder.batches), &error);

	if (out)
		hs_batch_finish(hs_recorder.batches, out);
	return error;
}

static int frame_ephemerons(void)
{
	int error = 0;
	uint8_t *out = reserve(HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH,
			       hs_ephemeron_bytes(&hs_recorder.ephemeron_encoder), &error);

	if (out)
		hs_ephemeron_finish(&hs_recorder.ephemeron_encoder, out);
	return error;
}

static int walk(int (*put_objects)(void), int (*put_ephemerons)(void), uint64_t *bytes)
{
	struct hs_walk work = {
		.snapshot = 1,
		.roots = &root_set,
		.put_objects = put_objects,
		.put_ephemerons = put_ephemerons,
	};
	int error;

	if (!hs_root_set_fill(&root_set))
		return -ENOMEM;
	error = hs_walk_run(&work);
	*bytes = work.totals.bytes;
	/* Types have no names here; nobody is to look them up. */
	hs_late_publish();
	hs_late_clear();
	return error;
}

int walk_encode(uint64_t *bytes)
{
	return walk(keep_objects, keep_ephemerons, bytes);
}

int walk_compress(void)
{
	uint64_t bytes;
	const int error = walk(frame_objects, frame_ephemerons, &bytes);

	return error ? error : hs_stream_flush(hs_recorder.stream, HS_FRAME_SNAPSHOT_BODY, 0);
}
