/* SPDX-License-Identifier: MIT */
/*
 * What verify counts of one snapshot, and how it compares.
 */
#ifndef HEAPSHOT_CLI_VERIFY_H
#define HEAPSHOT_CLI_VERIFY_H

#include "contrib/cli/recording.h"

/* A sum that says whether it passed 2^64. */
struct verify_sum {
	uint64_t value;
	bool has_wrapped;
};

/* Sorted addresses of the objects; O(objects), so they may be too many. */
struct verify_addresses {
	uint64_t *list;
	size_t n, room;
	size_t limit_bytes;
	bool is_over; /* the limit was passed; nothing is known */
};

struct verify_snapshot {
	const struct heapshot_snapshot *snapshot;
	struct verify_sum objects, references, bytes, slot_bytes;
	uint64_t object_hash, roots, roots_by_kind[HEAPSHOT_ROOT_KINDS_MAX], ephemerons;
	uint64_t object_batches, root_batches, ephemeron_batches;
	uint64_t handle_tables, handles;
	uint64_t undefined_types; /* rows of types that were never defined */
	uint32_t first_undefined_type;
	uint64_t wrong_snapshot; /* batches that name another snapshot */
	struct verify_addresses addresses;
	uint64_t duplicates, first_duplicate;
	uint64_t dangling, first_dangling;
	uint64_t dangling_roots, dangling_ephemerons;
	uint64_t lonely_continuations; /* of an object that is not there */
	bool is_damaged;
};

/* What the file holds that we do not know, and what it says is missing. */
struct verify_unknown {
	uint64_t frames, records, fields;
	uint64_t lost; /* records, as the recorder counted them */
};

/* Reads a snapshot twice.  CLI_OK, or a status, said already. */
int verify_read_snapshot(struct recording *recording, struct verify_snapshot *out,
			 size_t limit_bytes);
void verify_free_snapshot(struct verify_snapshot *out);

/* Decodes every record of the file by the generated code. */
int verify_read_records(struct recording *recording, struct verify_unknown *unknown);

/* Called for each thing that is not as it should be. */
typedef void verify_problem(void *user_data, const char *check, uint64_t expected, uint64_t found);
/* Compares with the end record; returns CLI_OK, CLI_INCOMPLETE or CLI_CHECK_FAILED. */
int verify_compare(const struct verify_snapshot *snapshot, verify_problem *problem,
		   void *user_data);

#endif
