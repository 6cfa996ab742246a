/* SPDX-License-Identifier: MIT */
/*
 * heapshot take: asks a recorded process for a snapshot.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/cli.h"
#include "contrib/cli/control.h"
#include "contrib/cli/json.h"
#include "contrib/cli/text.h"

#define LABEL_BYTES_MAX 1000

static int put_reply(const struct cli_arguments *arguments, const char *process, const char *reply)
{
	const char *id = strncmp(reply, "ok ", 3) == 0 ? reply + 3 : NULL;
	struct json json = {0};
	char *end = NULL;
	uint64_t number = id != NULL ? strtoull(id, &end, 10) : 0;

	if (id == NULL || end == id || *end != '\0')
		return control_unexpected(process, reply);
	if (arguments->is_json) {
		json_begin(&json, '{');
		json_put_text(&json, "process", process);
		json_put_unsigned(&json, "snapshot", number);
		json_put_text(&json, "label", arguments->label != NULL ? arguments->label : "");
		json_end(&json, '}');
		json_line(&json);
	} else {
		printf("snapshot %" PRIu64 " was taken\n", number);
	}
	return CLI_OK;
}

int cli_take(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	char request[LABEL_BYTES_MAX + 16], reply[CONTROL_REPLY_BYTES];
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);
	const char *process, *label;

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	process = arguments.operands[0];
	label = arguments.label != NULL ? arguments.label : "";
	if (strlen(label) > LABEL_BYTES_MAX || strchr(label, '\n') != NULL)
		return cli_usage(command, "a label is one line of at most %d bytes",
				 LABEL_BYTES_MAX);
	snprintf(request, sizeof(request), "%s %s\n", arguments.is_stats ? "stats" : "take", label);
	status = control_ask(command, process, request, reply, sizeof(reply));
	if (status != CLI_OK)
		return status;
	return cli_finish(put_reply(&arguments, process, reply));
}
