/* SPDX-License-Identifier: MIT */
/*
 * Passes over the records of a recording.
 */
#ifndef HEAPSHOT_EXPORT_RECORDS_H
#define HEAPSHOT_EXPORT_RECORDS_H

#include "contrib/reader/heapshot-reader.h"

/* Takes a record; false ends the pass. */
typedef bool export_record(void *user_data, const struct heapshot_record *record);

/* In the order of the file; what is damaged is left out.  All events and metadata: */
void export_each_event(struct heapshot_reader *reader, export_record *take, void *user_data);
/* What stands between beginning and end of SNAPSHOT: */
void export_each_in_snapshot(struct heapshot_reader *reader,
			     const struct heapshot_snapshot *snapshot, export_record *take,
			     void *user_data);

#endif
