/* SPDX-License-Identifier: MIT */
/*
 * heapshot flush: has a recorded process bring its events to the output, and
 * write what its ring holds to a file.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/cli/control.h"
#include "contrib/cli/json.h"
#include "contrib/cli/text.h"

/* The request is one line of bounded length. */
#define PATH_BYTES_MAX 1000

/* The process has a working directory of its own. */
static bool make_absolute(const char *name, char *path, size_t size)
{
	char folder[PATH_MAX];

	if (*name == '/')
		return snprintf(path, size, "%s", name) < (int)size;
	return getcwd(folder, sizeof(folder)) != NULL &&
	       snprintf(path, size, "%s/%s", folder, name) < (int)size;
}

static int put_reply(const struct cli_arguments *arguments, const char *process, const char *reply)
{
	uint64_t n_frames = 0, n_dropped = 0;
	char numbers[2][TEXT_NUMBER_BYTES];
	const char *path = NULL;
	struct json json = {0};
	int used = 0;

	if (strcmp(reply, "ok") != 0) {
		if (sscanf(reply, "ok %" SCNu64 " %" SCNu64 " %n", &n_frames, &n_dropped, &used) <
			    2 ||
		    used == 0)
			return control_unexpected(process, reply);
		path = reply + used;
	}
	if (arguments->is_json) {
		json_begin(&json, '{');
		json_put_text(&json, "process", process);
		json_put_text(&json, "output", path != NULL ? path : "");
		json_put_unsigned(&json, "frames", n_frames);
		json_put_unsigned(&json, "dropped_frames", n_dropped);
		json_end(&json, '}');
		json_line(&json);
	} else if (path == NULL) {
		puts("all events are in the output");
	} else {
		printf("%s frames were written to ", text_number(numbers[0], n_frames));
		text_put_masked(stdout, path);
		printf("; %s older ones were dropped before\n", text_number(numbers[1], n_dropped));
	}
	return CLI_OK;
}

int cli_flush(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	char path[PATH_BYTES_MAX + 1], name[64], reply[CONTROL_REPLY_BYTES];
	char request[PATH_BYTES_MAX + 16] = "flush\n";
	int status = cli_parse(command, argc, argv, 1, 2, &arguments);
	const char *process, *file = NULL;

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	process = arguments.operands[0];
	if (arguments.n_operands == 2) {
		file = arguments.operands[1];
	} else {
		status = control_ask(command, process, request, reply, sizeof(reply));
		if (status != CLI_OK)
			return status;
		if (strcmp(reply, "ok") == 0)
			return cli_finish(put_reply(&arguments, process, reply));
		/* "ok ring": the events are in a ring. */
		if (strncmp(reply, "ok ring", 7) != 0)
			return control_unexpected(process, reply);
		snprintf(name, sizeof(name), "%.32s.flush.hs",
			 strchr(process, '/') != NULL ? strrchr(process, '/') + 1 : process);
		file = name;
	}
	if (*file == '\0' || strchr(file, '\n') != NULL || !make_absolute(file, path, sizeof(path)))
		return cli_usage(command, "'%s' is no path of one line and at most %d bytes", file,
				 PATH_BYTES_MAX);
	snprintf(request, sizeof(request), "flush %s\n", path);
	status = control_ask(command, process, request, reply, sizeof(reply));
	if (status != CLI_OK)
		return status;
	return cli_finish(put_reply(&arguments, process, reply));
}
