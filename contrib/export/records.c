/* SPDX-License-Identifier: MIT */
/*
 * The loop over frames and records.
 */
#include "contrib/export/records.h"

static bool is_wanted(const struct heapshot_frame *frame, const struct heapshot_snapshot *snapshot)
{
	if (snapshot == NULL)
		return frame->kind == HEAPSHOT_FRAME_EVENTS ||
		       frame->kind == HEAPSHOT_FRAME_METADATA;
	return frame->kind == HEAPSHOT_FRAME_SNAPSHOT_BODY &&
	       frame->snapshot == (uint32_t)snapshot->id;
}

void export_each_in_snapshot(struct heapshot_reader *reader,
			     const struct heapshot_snapshot *snapshot, export_record *take,
			     void *user_data)
{
	struct heapshot_record record;
	struct heapshot_frame frame;

	heapshot_reader_rewind(reader, snapshot);
	while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
		if (!is_wanted(&frame, snapshot))
			continue;
		if (heapshot_reader_load_frame(reader, &frame) != HEAPSHOT_READ_OK)
			continue;
		while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK)
			if (!take(user_data, &record))
				return;
	}
}

void export_each_event(struct heapshot_reader *reader, export_record *take, void *user_data)
{
	export_each_in_snapshot(reader, NULL, take, user_data);
}
