/* SPDX-License-Identifier: MIT */
/*
 * Where the tables of a snapshot stand among those of others, as Hive, DuckDB,
 * Spark and ClickHouse take it: host=NAME/pid=N/time=2026-12-01T023912.123Z.
 */
#ifndef HEAPSHOT_EXPORT_PARTITION_H
#define HEAPSHOT_EXPORT_PARTITION_H

#include "contrib/export/export.h"

#define EXPORT_PARTITION_BYTES 512

/* The keys are the host, the process and when the snapshot was taken. */
void export_partition(const struct export *export, char text[EXPORT_PARTITION_BYTES]);

#endif
