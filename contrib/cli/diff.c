/* SPDX-License-Identifier: MIT */
/*
 * heapshot diff: what changed between two snapshots, of one recording or of two.
 */
#include <stdlib.h>

#include "contrib/cli/diff.h"

#define DEFAULT_LIMIT 30

/* Counts the types of one side; CLI_OK to go on. */
static int read_side(struct diff *diff, int side)
{
	struct recording *recording = &diff->recordings[side];
	struct heapshot_totals totals;
	enum heapshot_read_result result;
	int status = recording_check(recording, heapshot_reader_load_names(recording->reader));

	if (status != CLI_OK)
		return status;
	result = heapshot_reader_totals(recording->reader, recording->snapshot, &totals);
	status = recording_check(recording, result);
	if (result == HEAPSHOT_READ_DAMAGED && totals.n_types == 0) {
		cli_message("%s: %s; refused", recording->path,
			    heapshot_reader_error(recording->reader));
		return CLI_DAMAGED;
	}
	if (status == CLI_OK && !diff_add_types(diff, side, &totals)) {
		cli_message("out of memory");
		return CLI_IO;
	}
	return status;
}

static int show(struct diff *diff)
{
	const struct cli_arguments *arguments = diff->arguments;
	size_t n, n_all, n_matching, limit;

	diff_join_rows(diff);
	diff_run_checks(diff);
	n = n_all = diff_choose_rows(diff, &n_matching);
	if (n_matching == 0 && diff->n_checks == 0 &&
	    (arguments->filter != NULL || arguments->assembly != NULL)) {
		cli_message("no type of the two snapshots matches%s%s%s%s",
			    arguments->filter ? " --filter " : "",
			    arguments->filter ? arguments->filter : "",
			    arguments->assembly ? " --assembly " : "",
			    arguments->assembly ? arguments->assembly : "");
		return CLI_NOT_FOUND;
	}
	limit = arguments->has_limit ? (size_t)arguments->limit
		: arguments->is_json ? 0
				     : DEFAULT_LIMIT;
	if (limit != 0 && limit < n)
		n = limit;
	if (arguments->is_json)
		diff_put_json(diff, n);
	else
		diff_put_table(diff, n, n_all);
	return CLI_OK;
}

/*
 * Closes both.  What could not be read whole comes first: on a part of a snapshot
 * a check says little.
 */
static int finish(struct diff *diff, int status)
{
	int statuses[DIFF_SIDES], side;

	for (side = DIFF_SIDES - 1; side >= 0; side--)
		statuses[side] = recording_close(&diff->recordings[side], CLI_OK);
	free(diff->rows);
	if (status != CLI_OK)
		return status;
	return statuses[DIFF_AFTER] == CLI_DAMAGED || statuses[DIFF_BEFORE] == CLI_OK
		       ? statuses[DIFF_AFTER]
		       : statuses[DIFF_BEFORE];
}

int cli_diff(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments, second;
	struct diff diff = {.arguments = &arguments};
	struct recording *before = &diff.recordings[DIFF_BEFORE],
			 *after = &diff.recordings[DIFF_AFTER];
	int status = cli_parse(command, argc, argv, 2, 2, &arguments), check = CLI_OK;

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = diff_parse_checks(&diff, command);
	if (status != CLI_OK)
		return status;
	status = recording_open(before, command, &arguments, RECORDING_SNAPSHOT);
	if (status != CLI_OK)
		return status;
	second = arguments;
	second.operands++;
	status = recording_open_beside(after, before, command, &second, RECORDING_SNAPSHOT);
	if (status != CLI_OK)
		return recording_close(before, status);
	status = read_side(&diff, DIFF_BEFORE);
	if (status == CLI_OK)
		status = read_side(&diff, DIFF_AFTER);
	progress_stop();
	if (status == CLI_OK)
		status = show(&diff);
	fflush(stdout);
	if (status == CLI_OK)
		check = diff_say_checks(&diff);
	status = finish(&diff, status);
	return status != CLI_OK ? status : check;
}
