/* SPDX-License-Identifier: MIT */
/*
 * Asking a recorded process through its control socket: one line is sent, one
 * comes back.
 */
#ifndef HEAPSHOT_CLI_CONTROL_H
#define HEAPSHOT_CLI_CONTROL_H

#include <stddef.h>

#include "contrib/cli/cli.h"

/* Room for any reply. */
#define CONTROL_REPLY_BYTES 8192

/*
 * Sends REQUEST (a line) to PROCESS, a process id or the path of a socket, and
 * puts the reply without its line end into REPLY.  CLI_OK, or a status that was
 * said already, also when the process refused.
 */
int control_ask(const struct cli_command *command, const char *process, const char *request,
		char *reply, size_t size);

/* Says that REPLY is none that is known; CLI_IO. */
int control_unexpected(const char *process, const char *reply);

#endif
