/* SPDX-License-Identifier: MIT */
/*
 * Writing the JSON of a report.  Tables are columns and names are numbers, so that
 * a page with several snapshots stays small; what is cut is said with its sums.
 */
#ifndef HEAPSHOT_CLI_REPORT_JSON_H
#define HEAPSHOT_CLI_REPORT_JSON_H

#include "contrib/cli/report.h"

/* How much is written of each list. */
struct report_limits {
	size_t names_bytes; /* of one name; of longer ones the middle is left out */
	size_t types;       /* of all snapshots together */
	size_t nodes;       /* of all trees together */
	size_t paths;       /* types with paths, of each snapshot */
	size_t handles;     /* of one table */
	size_t samples;     /* of one counter */
	size_t marks;       /* snapshots on the time line that have no page of their own */
	bool with_suspects;
};

struct report_writer {
	const struct report *report;
	const struct report_limits *limits;
	struct json *json;
	uint32_t *number_of; /* of a name, from 1 on in the order of their first use; 0: not used */
	uint32_t *used;      /* names in that order */
	size_t n_used;
	size_t types, nodes; /* of each snapshot */
};

/* Text of which the middle is left out where it is long; the same with its key. */
void report_put_cut(const struct report_writer *writer, const char *text);
void report_put_cut_key(const struct report_writer *writer, const char *key, const char *text);
/* The number of a name (UINT32_MAX: null); and at the end all that were used. */
void report_put_name(struct report_writer *writer, uint32_t name);
void report_put_names(const struct report_writer *writer);
void report_begin_column(struct json *json, const char *key);

/* Whether a type is among those that are written. */
bool report_is_shown(const struct report_writer *writer, uint32_t type);

/* One type's paths. */
void report_put_paths(struct report_writer *writer, const struct report_snapshot *snapshot,
		      const struct report_paths *paths);
void report_put_handles(const struct report_writer *writer, const struct report_snapshot *snapshot);
void report_put_counters(const struct report_writer *writer, const struct counters *counters);

/* A file, by number; a snapshot. */
void report_put_recording(const struct report_writer *writer, uint32_t number);
void report_put_snapshot(struct report_writer *writer, const struct report_snapshot *snapshot);

#endif
