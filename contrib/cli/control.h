/* SPDX-License-Identifier: MIT */
/*
 * Asking a recorded process through its control socket: one line is sent, one
 * comes back.
 */
#ifndef HEAPSHOT_CLI_CONTROL_H
#define HEAPSHOT_CLI_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "contrib/cli/cli.h"

/* Room for any reply. */
#define CONTROL_REPLY_BYTES 8192
/* A program that is stopped, or swaps, answers late; this late none does. */
#define CONTROL_WAIT_SECONDS 600

/*
 * Sends REQUEST (a line) to PROCESS, a process id or the path of a socket, and
 * puts the reply without its line end into REPLY.  CLI_OK, or a status that was
 * said already, also when the process refused.
 */
int control_ask(const struct cli_command *command, const char *process, const char *request,
		char *reply, size_t size);

/*
 * The parts of it.  control_connect() gives a descriptor or a negative errno, -EINVAL
 * where PROCESS is neither number nor path; *pid (may be NULL) is the process
 * that answers there, 0 where that is not known.  The other two give 0 or a
 * negative errno.
 */
int control_connect(const char *process, long *pid);
int control_send(int fd, const char *request);
int control_receive(int fd, char *reply, size_t size);
/* True for the errors of a process that is not there, or not any more. */
bool control_is_gone(int error);
/* Says ERROR of one of them; a status. */
int control_say(const struct cli_command *command, const char *process, int error);

/* Says that REPLY is none that is known; CLI_IO. */
int control_unexpected(const char *process, const char *reply);

#endif
