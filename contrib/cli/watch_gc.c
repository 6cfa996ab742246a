/* SPDX-License-Identifier: MIT */
/*
 * Collections since watching began.  Each refresh makes one of its own: the
 * pause in which its snapshot was taken.
 */
#include "contrib/cli/watch.h"
#include "schema/heapshot.pb-c.h"

static void count(struct watch_pauses *pauses, const struct gc_pause *pause)
{
	if (pause->generation == 0)
		pauses->n_minor++;
	else
		pauses->n_major++;
	pauses->ns += pause->ns;
	if (pause->ns > pauses->max_ns)
		pauses->max_ns = pause->ns;
}

static void take_pause(struct watch_gc *gc, const struct gc_pause *pause,
		       const struct heapshot_snapshot *snapshot)
{
	/* The events of the last pause may come with the next refresh only. */
	const uint64_t taken_ns[] = {gc->taken_ns, snapshot->time_ns};
	bool is_ours = false;
	size_t i;

	for (i = 0; i < sizeof(taken_ns) / sizeof(*taken_ns); i++)
		is_ours |=
			taken_ns[i] >= pause->time_ns && taken_ns[i] - pause->time_ns <= pause->ns;
	/* What came before the first refresh does not count. */
	if (gc->is_begun)
		count(is_ours ? &gc->ours : &gc->program, pause);
	else if (is_ours)
		count(&gc->ours, pause);
}

enum heapshot_read_result watch_gc_take(struct watch_gc *gc, struct heapshot_reader *reader,
					uint64_t new_at, const struct heapshot_snapshot *snapshot)
{
	enum heapshot_read_result result;
	struct heapshot_record record;
	struct heapshot_frame frame;
	struct hs_gc_event event;

	heapshot_reader_rewind(reader, NULL);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		if (frame.kind != HEAPSHOT_FRAME_EVENTS || frame.offset < new_at)
			continue;
		result = heapshot_reader_load_frame(reader, &frame);
		while (result == HEAPSHOT_READ_OK &&
		       (result = heapshot_reader_next_record(reader, &record)) ==
			       HEAPSHOT_READ_OK) {
			const struct hs_slice body = {record.body, record.body + record.body_bytes};

			if (record.field != HEAPSHOT__RECORD__BODY_GC_EVENT ||
			    hs_gc_event_decode(body, &event) != 0)
				continue;
			gc->has_events = true;
			if (gc_pause_take(&gc->pause, &event, record.time_ns))
				take_pause(gc, &gc->pause, snapshot);
		}
		if (result == HEAPSHOT_READ_IO || result == HEAPSHOT_READ_MEMORY)
			return result;
	}
	gc->taken_ns = snapshot->time_ns;
	gc->is_begun = true;
	return result == HEAPSHOT_READ_END ? HEAPSHOT_READ_OK : result;
}
