/* SPDX-License-Identifier: MIT */
/*
 * A recording named on the command line: opened, its snapshot chosen, what is
 * wrong with it said.
 */
#ifndef HEAPSHOT_CLI_RECORDING_H
#define HEAPSHOT_CLI_RECORDING_H

#include "contrib/cli/cli.h"

struct recording {
	struct heapshot_reader *reader;
	const char *path;     /* without @N */
	char *copy;           /* memory of path, if it was cut */
	const char *selector; /* what stood behind the @, or --snapshot */
	const struct heapshot_snapshot *snapshot;
	size_t n_said;   /* issues that were printed */
	uint64_t n_bad;  /* records that could not be decoded */
	bool has_memory; /* the command takes --memory */
	bool is_shared;  /* the reader is another's */
	int status;
};

enum recording_want {
	RECORDING_ALL,      /* no snapshot is chosen, @N is not allowed */
	RECORDING_SNAPSHOT, /* one is chosen, the last complete one by default */
	RECORDING_GRAPH,    /* the same, by default the last complete one that has a graph */
	RECORDING_ANY,      /* one is chosen if it was asked for, else none */
};

/*
 * Opens the first operand.  Returns CLI_OK, or a status, said already.  A
 * chosen snapshot that is not complete gives CLI_OK too: recording_close says 4.
 */
int recording_open(struct recording *recording, const struct cli_command *command,
		   const struct cli_arguments *arguments, enum recording_want want);

/*
 * The same for a second recording, which may be another snapshot of the first one's
 * file: then they share a reader.  To be closed before the first.
 */
int recording_open_beside(struct recording *recording, const struct recording *first,
			  const struct cli_command *command, const struct cli_arguments *arguments,
			  enum recording_want want);

/* Takes the result of a reader's call: CLI_OK to go on, else a status, said. */
int recording_check(struct recording *recording, enum heapshot_read_result result);

/* Says that a record NAME of FRAME cannot be decoded, and THEN; of many the first ones. */
void recording_say_bad_record(struct recording *recording, const struct heapshot_frame *frame,
			      const char *name, const char *then);

/*
 * Says what was lost, frees; returns the command's status.  Where there are several
 * recordings, whose output is then sent once, by cli_finish.
 */
int recording_end(struct recording *recording, int status);

/* The same for one, with the output sent. */
int recording_close(struct recording *recording, int status);

/* "app.hs, snapshot 2 "after login" (gc), 2026-01-01 12:00:00, +1.234 s" */
void recording_print_title(const struct recording *recording);

/* What an issue means, in one line without a newline. */
void recording_describe(const struct heapshot_issue *issue, char *text, size_t size);
/* True when an issue means that bytes were changed or lost inside. */
bool recording_is_damage(const struct heapshot_issue *issue);

int recording_status(enum heapshot_read_result result);

/* A type's name: its own, or "type#17" when it has none; BUFFER has 32 bytes. */
const char *recording_type_name(const struct recording *recording, uint32_t type, char *buffer);

/* For heapshot_reader_set_progress: a line on stderr while it is a terminal. */
void progress_start(struct heapshot_reader *reader);
/* The same for what is written; NULL where there is no terminal. */
typedef void progress_function(uint64_t done, uint64_t all);
progress_function *progress_writing(void);
void progress_stop(void);

#endif
