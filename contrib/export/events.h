/* SPDX-License-Identifier: MIT */
/*
 * A pass over what was recorded beside the snapshots.
 */
#ifndef HEAPSHOT_EXPORT_EVENTS_H
#define HEAPSHOT_EXPORT_EVENTS_H

#include "contrib/reader/heapshot-reader.h"

/* Takes a record; false ends the pass. */
typedef bool export_record(void *user_data, const struct heapshot_record *record);

/* All records of events and metadata, in the order of the file; what is damaged is left out. */
void export_each_event(struct heapshot_reader *reader, export_record *take, void *user_data);

#endif
