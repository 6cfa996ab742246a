/* SPDX-License-Identifier: MIT */
/*
 * heapshot help: made from the tables of commands and options.
 */
#include <string.h>

#include "contrib/cli/cli.h"

static void print_command(const struct cli_command *command, FILE *out)
{
	size_t i;

	fprintf(out, "heapshot %s %s%s\n  %s\n", command->name,
		command->options != 0 ? "[OPTION...] " : "", command->operands, command->help);
	if (command->options != 0)
		fputs("\nOptions:\n", out);
	for (i = 0; i < cli_n_options; i++) {
		const struct cli_option_row *row = &cli_options[i];
		char name[64];

		if ((command->options & row->option) == 0)
			continue;
		snprintf(name, sizeof(name), "--%s%s%s", row->name, row->argument ? "=" : "",
			 row->argument ? row->argument : "");
		if (row->letter != 0)
			fprintf(out, "  -%c, %-18s %s\n", row->letter, name, row->help);
		else
			fprintf(out, "      %-18s %s\n", name, row->help);
	}
	if (command->options & CLI_RECORD)
		fputs("  --NAME[=VALUE]         any option of the module, see "
		      "heapshot-options(7)\n",
		      out);
}

void cli_print_help(const struct cli_command *command, FILE *out)
{
	if (command != NULL) {
		print_command(command, out);
		return;
	}
	fputs("heapshot FILE\n"
	      "heapshot COMMAND [OPTION...] [FILE]\n"
	      "  Reads recordings of the managed heap of Mono programs.\n\nCommands:\n",
	      out);
	for (command = cli_commands; command->name != NULL; command++)
		fprintf(out, "  %-10s %s\n", command->name, command->help);
	fputs("\n'heapshot help COMMAND' shows the options of a command; heapshot(1) has more.\n"
	      "Recording begins with: heapshot record -- mono app.exe\n",
	      out);
}

int cli_help(const struct cli_command *command, int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--completion") == 0) {
		cli_print_completion();
		return cli_finish(CLI_OK);
	}
	if (argc > 2)
		return cli_usage(NULL, "help: '%s' is too much", argv[2]);
	if (argc == 2 && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0) {
		command = cli_find_command(argv[1]);
		if (command == NULL)
			return cli_no_command(argv[1]);
		cli_print_help(command, stdout);
	} else {
		cli_print_help(NULL, stdout);
	}
	return cli_finish(CLI_OK);
}
