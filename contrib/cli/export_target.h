/* SPDX-License-Identifier: MIT */
/*
 * Where `heapshot export` writes: one file or standard output, or a folder with a
 * file for each table.
 */
#ifndef HEAPSHOT_CLI_EXPORT_TARGET_H
#define HEAPSHOT_CLI_EXPORT_TARGET_H

#include "contrib/cli/newfolder.h"
#include "contrib/export/partition.h"

struct export_target {
	const char *table; /* the only one that is wanted, or NULL */
	bool is_folder;
	struct newfile file;
	struct newfolder folder;
	char partition[EXPORT_PARTITION_BYTES]; /* of the folder's files */
	struct export_output *outputs;          /* of the files, in their order */
	size_t n;
};

/*
 * Begins what --output says for EXPORT, whose output, path and open_table are set.
 * Returns CLI_OK, or a status, said already; it must be closed in both cases.
 */
int export_target_open(struct export_target *target, struct export *export,
		       const struct export_format *format, const struct cli_command *command,
		       const struct cli_arguments *arguments);
/* Writes what is still in buffers; false: said already. */
bool export_target_flush(struct export_target *target);
/* What the files have grown to. */
uint64_t export_target_bytes(const struct export_target *target);
/* Gives names if STATUS is CLI_OK, else takes all away; STATUS, or CLI_IO, said. */
int export_target_close(struct export_target *target, int status);

#endif
