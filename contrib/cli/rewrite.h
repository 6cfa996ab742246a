/* SPDX-License-Identifier: MIT */
/*
 * A recording made from the frames of another one: what extract, recompress and
 * anonymize share.  Frames that are damaged are left out; by the tags a reader can
 * tell what was left out on purpose from what was lost (FORMAT.md, section 4).
 */
#ifndef HEAPSHOT_CLI_REWRITE_H
#define HEAPSHOT_CLI_REWRITE_H

#include "contrib/cli/json.h"
#include "contrib/cli/newfile.h"
#include "contrib/cli/recording.h"
#include "schema/columns.h"

/* What a later version wrote. */
struct rewrite_unknown {
	uint64_t frames, records, fields;
};

struct rewrite {
	const struct cli_arguments *arguments;
	struct recording recording;
	struct newfile file;
	/* Numbers of the last frames that were read and written. */
	uint64_t last_read, last_written, last_time_ns;
	bool has_read, has_written, is_lost; /* is_lost: a frame before the next one is */
	uint64_t n_frames;                   /* that were written */
	struct rewrite_unknown unknown;
	uint8_t *packed;
};

/* Opens both files, the recording as WANT says.  CLI_OK or a status, said. */
int rewrite_open(struct rewrite *rewrite, const struct cli_command *command,
		 const struct cli_arguments *arguments, enum recording_want want);

/* The next frame, *has_frame false behind the last one.  CLI_OK or a status, said. */
int rewrite_next(struct rewrite *rewrite, struct heapshot_frame *frame, bool *has_frame);

/* Loads FRAME, *is_whole false when it is damaged and lost.  CLI_OK or a status, said. */
int rewrite_load(struct rewrite *rewrite, const struct heapshot_frame *frame, bool *is_whole);

/*
 * Writes the loaded frame as it stands, but for flags of its tag; with LEVEL not 0
 * compressed at that level of LZ4, if that makes it smaller.  Counts what is unknown.
 */
int rewrite_copy(struct rewrite *rewrite, const struct heapshot_frame *frame, int level);

/* Writes a frame of the content RAW; FRAME gives kind, snapshot, seq, time and flags. */
int rewrite_put(struct rewrite *rewrite, const struct heapshot_frame *frame, const uint8_t *raw,
		size_t raw_bytes);

/* The new file gets its name if STATUS is CLI_OK.  Returns STATUS, or CLI_IO, said. */
int rewrite_finish(struct rewrite *rewrite, int status);

/* Keys that all reports have: "output", "frames", "bytes", and what is unknown. */
void rewrite_put_json(const struct rewrite *rewrite, struct json *json);
/* "; 2 records of a later version were VERB", or nothing. */
void rewrite_put_unknown(const struct rewrite *rewrite, const char *verb);

/* Closes the recording; returns the status of the command. */
int rewrite_close(struct rewrite *rewrite, int status);

#endif
