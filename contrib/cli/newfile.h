/* SPDX-License-Identifier: MIT */
/*
 * A file that is written by a command: it bears its name only when it is whole,
 * and takes the place of another one only when that was asked for.
 */
#ifndef HEAPSHOT_CLI_NEWFILE_H
#define HEAPSHOT_CLI_NEWFILE_H

#include "contrib/cli/cli.h"

struct newfile {
	const char *path; /* as it was given; "-": standard output */
	char *target;     /* where it will stand, links followed */
	char *temporary;  /* where it is written until then */
	int fd;
	bool is_overwrite, is_standard_output;
	bool is_hidden; /* while it is written, from those who read the files of the folder */
	uint64_t bytes;
};

/*
 * Begins a file as --output and --overwrite of ARGUMENTS say, readable by its owner
 * only.  Returns CLI_OK, or a status, said already.
 */
int newfile_open(struct newfile *file, const struct cli_command *command,
		 const struct cli_arguments *arguments);

/* Begins the file of path, is_overwrite and is_hidden; the rest of FILE is 0.  Returns as above. */
int newfile_begin(struct newfile *file);

/* Appends; CLI_OK, or CLI_IO, said already.  A failed file must still be closed. */
int newfile_write(struct newfile *file, const void *data, size_t size);

/* Gives the file its name if STATUS is CLI_OK, else takes it away; STATUS, or CLI_IO, said. */
int newfile_close(struct newfile *file, int status);

#endif
