/* SPDX-License-Identifier: MIT */
#include "contrib/export/events.h"

void export_each_event(struct heapshot_reader *reader, export_record *take, void *user_data)
{
	struct heapshot_record record;
	struct heapshot_frame frame;

	heapshot_reader_rewind(reader, NULL);
	while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
		if (frame.kind != HEAPSHOT_FRAME_EVENTS && frame.kind != HEAPSHOT_FRAME_METADATA)
			continue;
		if (heapshot_reader_load_frame(reader, &frame) != HEAPSHOT_READ_OK)
			continue;
		while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK)
			if (!take(user_data, &record))
				return;
	}
}
