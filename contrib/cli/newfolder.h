/* SPDX-License-Identifier: MIT */
/*
 * Files that a command writes into a folder, all of them or none: they bear their
 * names when all are whole.
 */
#ifndef HEAPSHOT_CLI_NEWFOLDER_H
#define HEAPSHOT_CLI_NEWFOLDER_H

#include "contrib/cli/newfile.h"

#define NEWFOLDER_FILES_MAX 16
#define NEWFOLDER_DEPTH_MAX 6

struct newfolder {
	const char *path;
	bool is_overwrite;
	struct newfile files[NEWFOLDER_FILES_MAX];
	size_t n;
	char *made[NEWFOLDER_FILES_MAX * NEWFOLDER_DEPTH_MAX + 1]; /* folders, from outside in */
	size_t n_made;
};

/*
 * Begins in the folder that --output names, which is made if it is not there; its
 * parent must be.  Returns CLI_OK, or a status, said already.
 */
int newfolder_open(struct newfolder *folder, const struct cli_command *command,
		   const struct cli_arguments *arguments);

/*
 * Begins a file NAME ("a/b/c.csv") in it, and makes the folders a and a/b.  NULL:
 * said already; the folder must still be closed.
 */
struct newfile *newfolder_add(struct newfolder *folder, const char *name);

/*
 * Gives all files their names if STATUS is CLI_OK, else takes away what was made.
 * Returns STATUS, or CLI_IO, said.
 */
int newfolder_close(struct newfolder *folder, int status);

#endif
