/* SPDX-License-Identifier: MIT */
/*
 * heapshot help --completion: the completion for bash, made from the tables of
 * commands, of their options, and of the module's options.
 */
#include <string.h>

#include "contrib/cli/cli.h"
#include "profiler/options.h"

static void put_commands(void)
{
	const struct cli_command *command;

	for (command = cli_commands; command->name != NULL; command++)
		printf("%s%s", command == cli_commands ? "" : " ", command->name);
}

static void put_options(const struct cli_command *command)
{
	const struct hs_option *option;
	size_t i;

	fputs("--help", stdout);
	for (i = 0; i < cli_n_options; i++)
		if (command->options & cli_options[i].option)
			printf(" --%s%s", cli_options[i].name,
			       cli_options[i].argument != NULL ? "=" : "");
	if ((command->options & CLI_RECORD) == 0)
		return;
	for (option = hs_option_table; option->name != NULL; option++)
		if (strcmp(option->name, "output") != 0)
			printf(" --%s%s", option->name, option->value != NULL ? "=" : "");
}

/* Values of options that know theirs; the same name may mean others elsewhere. */
static void put_words(void)
{
	const struct cli_command *command;
	const struct hs_option *option;
	size_t i;

	for (command = cli_commands; command->name != NULL; command++)
		for (i = 0; i < cli_n_options; i++)
			if ((command->options & cli_options[i].option) != 0 &&
			    cli_options[i].words != NULL)
				printf("\t'%s --%s') words='%s' ;;\n", command->name,
				       cli_options[i].name, cli_options[i].words);
	for (option = hs_option_table; option->name != NULL; option++)
		if (option->words != NULL)
			printf("\t'record --%s') words='%s' ;;\n", option->name, option->words);
}

void cli_print_completion(void)
{
	const struct cli_command *command;

	fputs("# bash completion for heapshot(1); made by 'heapshot help --completion'\n"
	      "_heapshot()\n"
	      "{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal command=${COMP_WORDS[1]} options= words= i\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      stdout);
	put_commands();
	fputs(" --help --version' -- \"$cur\"))\n"
	      "\t\tif [ ${#COMPREPLY[@]} -eq 0 ]; then\n"
	      "\t\t\tcompopt -o filenames 2> /dev/null\n"
	      "\t\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase $command in\n",
	      stdout);
	for (command = cli_commands; command->name != NULL; command++) {
		printf("\t%s) options='", command->name);
		put_options(command);
		fputs("' ;;\n", stdout);
	}
	fputs("\tesac\n"
	      "\t# Behind a lonely -- stands the program to record.\n"
	      "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
	      "\t\t\tCOMPREPLY=($(compgen -c -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\tdone\n"
	      "\tif [ \"$cur\" = '=' ]; then\n"
	      "\t\tcur=\n"
	      "\telif [ \"$prev\" = '=' ]; then\n"
	      "\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\tfi\n"
	      "\tcase \"$command $prev\" in\n",
	      stdout);
	put_words();
	fputs("\tesac\n"
	      "\tif [ -n \"$words\" ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\telif [[ $cur == -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	      "\t\t[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null\n"
	      "\telif [ \"$command\" = help ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      stdout);
	put_commands();
	fputs("' -- \"$cur\"))\n"
	      "\telif [ \"$command\" = take ] || [ \"$command\" = flush ] ||\n\t\t\t[ \"$command\" = watch ]; then\n"
	      "\t\tfor i in $(ls \"${XDG_RUNTIME_DIR:-/nonexistent}/heapshot\" "
	      "/tmp/heapshot-\"$UID\" \\\n"
	      "\t\t\t2> /dev/null | sed -n 's/\\.sock$//p'); do\n"
	      "\t\t\t[ -d \"/proc/$i\" ] && words+=\" $i\"\n"
	      "\t\tdone\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\telse\n"
	      "\t\tcompopt -o filenames 2> /dev/null\n"
	      "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	      "\tfi\n"
	      "}\n"
	      "complete -F _heapshot heapshot\n",
	      stdout);
}
