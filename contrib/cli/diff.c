/* SPDX-License-Identifier: MIT */
/*
 * heapshot diff: what changed between two snapshots, of one recording or of two.
 */
#include <stdlib.h>
#include <string.h>

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
	if (status == CLI_OK && !diff_add_types(diff, side, &totals))
		return cli_no_memory();
	return status;
}

static size_t cut(const struct diff *diff, size_t n)
{
	const struct cli_arguments *arguments = diff->arguments;
	const size_t limit = cli_limit(arguments, DEFAULT_LIMIT, SIZE_MAX);

	return limit < n ? limit : n;
}

static int show(struct diff *diff)
{
	const struct cli_arguments *arguments = diff->arguments;
	size_t n, n_matching, n_holders = 0;
	uint32_t *holders = NULL;

	diff_run_checks(diff);
	n = diff_choose_rows(diff, &n_matching);
	if (n == SIZE_MAX)
		return cli_no_memory();
	if (n_matching == 0 && diff->n_checks == 0 &&
	    (arguments->filter != NULL || arguments->assembly != NULL)) {
		cli_message("no type of the two snapshots matches%s%s%s%s%s",
			    arguments->filter ? " --filter " : "",
			    arguments->filter ? arguments->filter : "",
			    arguments->assembly ? " --assembly " : "",
			    arguments->assembly ? arguments->assembly : "",
			    text_case_hint(arguments->filter));
		return CLI_NOT_FOUND;
	}
	if (diff->holders != NULL) {
		holders = diff_holders_choose(diff, &n_holders);
		if (holders == NULL)
			return cli_no_memory();
	}
	if (arguments->is_json) {
		diff_put_json(diff, cut(diff, n), holders, cut(diff, n_holders));
	} else {
		diff_put_table(diff, cut(diff, n), n);
		if (diff->holders != NULL)
			diff_put_holders(diff, holders, cut(diff, n_holders), n_holders);
		diff_put_unmet(diff);
	}
	free(holders);
	return CLI_OK;
}

/* What was asked for that needs the graphs, one after the other: both may be too large. */
static int read_graphs(struct diff *diff)
{
	int status = CLI_OK, side;

	if (diff->arguments->with_holders) {
		diff->holders = diff_holders_new();
		if (diff->holders == NULL)
			return cli_no_memory();
	}
	for (side = 0; side < DIFF_SIDES && status == CLI_OK; side++)
		if (diff->with_retained || diff->holders != NULL)
			status = diff_read_graph(diff, side);
	return status;
}

static int compare(struct diff *diff)
{
	int status = read_side(diff, DIFF_BEFORE);

	if (status == CLI_OK)
		status = read_side(diff, DIFF_AFTER);
	if (status == CLI_OK) {
		diff_join_rows(diff);
		status = read_graphs(diff);
	}
	progress_stop();
	return status == CLI_OK ? show(diff) : status;
}

/*
 * Closes both.  What could not be read whole comes first: on a part of a snapshot
 * a check says little.
 */
static int finish(struct diff *diff, int status)
{
	int statuses[DIFF_SIDES], check = CLI_OK, side;

	fflush(stdout);
	if (status == CLI_OK)
		check = diff_say_checks(diff);
	for (side = DIFF_SIDES - 1; side >= 0; side--)
		statuses[side] = recording_end(&diff->recordings[side], CLI_OK);
	if (status == CLI_OK)
		status = statuses[DIFF_AFTER] == CLI_DAMAGED || statuses[DIFF_BEFORE] == CLI_OK
				 ? statuses[DIFF_AFTER]
				 : statuses[DIFF_BEFORE];
	return cli_finish(status != CLI_OK ? status : check);
}

/* Opens both, compares, closes. */
static int run(struct diff *diff, const struct cli_command *command)
{
	struct recording *before = &diff->recordings[DIFF_BEFORE];
	struct cli_arguments second = *diff->arguments;
	int status = recording_open(before, command, diff->arguments, RECORDING_SNAPSHOT);

	if (status != CLI_OK)
		return status;
	second.operands++;
	status = recording_open_beside(&diff->recordings[DIFF_AFTER], before, command, &second,
				       RECORDING_SNAPSHOT);
	if (status != CLI_OK)
		return recording_close(before, status);
	return finish(diff, compare(diff));
}

int cli_diff(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct diff diff = {.arguments = &arguments};
	int status = cli_parse(command, argc, argv, 2, 2, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	diff.with_retained = arguments.is_retained ||
			     (arguments.sort != NULL && strcmp(arguments.sort, "retained") == 0);
	status = diff_parse_checks(&diff, command);
	if (status == CLI_OK)
		status = run(&diff, command);
	diff_free_checks(&diff);
	diff_holders_free(diff.holders);
	free(diff.shown);
	free(diff.rows);
	return status;
}
