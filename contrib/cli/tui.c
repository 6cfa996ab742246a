/* SPDX-License-Identifier: MIT */
/*
 * heapshot tui: a browser of types, objects and paths for terminals.
 */
#include "config.h"

#include <unistd.h>

#include "contrib/cli/tui.h"

#ifdef HAVE_NCURSES

/* Opens, runs, closes; the terminal was looked at. */
static int browse(struct tui *tui)
{
	int status = recording_open(&tui->recording, tui->command, tui->arguments, RECORDING_GRAPH);

	if (status != CLI_OK)
		return status;
	status = tui_begin(tui);
	/* From here on it would be written into the screen. */
	progress_stop();
	heapshot_reader_set_progress(tui->recording.reader, NULL, NULL);
	if (status == CLI_OK)
		status = tui_run(tui);
	tui_end(tui);
	return recording_close(&tui->recording, status);
}

int cli_tui(const struct cli_command *command, int argc, char **argv)
{
	static struct tui tui;
	struct cli_arguments arguments;
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return cli_usage(command,
				 "it needs a terminal; 'heapshot leaks', 'top', 'path' and "
				 "'show' do not");
	tui = (struct tui){.command = command, .arguments = &arguments};
	return browse(&tui);
}

#else

int cli_tui(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	return cli_usage(command, "ncurses was not there when heapshot was built");
}

#endif
