/* SPDX-License-Identifier: MIT */
/*
 * What the database of the sqlite format has beside its tables.  See
 * doc/export-sqlite.md.
 */
#ifndef HEAPSHOT_EXPORT_SQLITE_H
#define HEAPSHOT_EXPORT_SQLITE_H

/* Made when the tables are full. */
extern const char sqlite_indexes[], sqlite_views[];

#endif
