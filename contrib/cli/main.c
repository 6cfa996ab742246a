/* SPDX-License-Identifier: MIT */
/*
 * The heapshot command's main, apart so that tests can run commands in a process
 * of their own.
 */
#include <string.h>

#include "config.h"
#include "contrib/cli/cli.h"

int main(int argc, char **argv)
{
	const struct cli_command *command;

	if (argc < 2) {
		cli_print_help(NULL, stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("heapshot %s\n", VERSION);
		return cli_finish(CLI_OK);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		cli_print_help(NULL, stdout);
		return cli_finish(CLI_OK);
	}
	command = cli_find_command(argv[1]);
	if (command == NULL && *argv[1] == '-')
		return cli_usage(NULL, "unknown option '%s'", argv[1]);
	/* A recording instead of a command: what is in it, in short. */
	if (command == NULL && cli_is_recording(argv[1]))
		return cli_leaks(cli_find_command("overview"), argc, argv);
	if (command == NULL)
		return cli_no_command(argv[1]);
	return command->run(command, argc - 1, argv + 1);
}
