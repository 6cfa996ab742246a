/* SPDX-License-Identifier: MIT */
/*
 * The control thread: requests from signals, timers and the socket, and the
 * counters.  The runtime does not know it; a collection that the finalizer
 * thread does not come to runs on a short-lived thread that is attached.
 */
#ifndef HEAPSHOT_PROFILER_CONTROL_H
#define HEAPSHOT_PROFILER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Installs handlers for the signals of the options; the runtime is up. */
void hs_signals_install(void);
/* What came since the last call. */
bool hs_signals_take_request(void);
bool hs_signals_take_term(void);
/* Whether SIGTERM or SIGINT came and was not taken yet. */
bool hs_signals_has_term(void);
/* Ends the process by that signal, as if it had never been caught. */
void hs_signals_raise_term(void);

/* The socket: its path, or "" when there is none. */
struct hs_socket {
	int fd;
	ino_t inode; /* what fd must be: the program may have closed ours */
	char path[108];
};

/* Opens it as the option `control` says; false, with a line said, when that fails. */
bool hs_socket_open(struct hs_socket *socket);
/* False from when the program closed the descriptor; it is forgotten then, with a line said. */
bool hs_socket_is_open(struct hs_socket *socket);
void hs_socket_close(struct hs_socket *socket);
/* In a forked child: the descriptor only, the socket itself is its parent's. */
void hs_socket_forget(const struct hs_socket *socket);
/* The same for that of the control thread, which a forked child does not have.  Async-signal-safe. */
void hs_control_forget(void);

/* Serves one client that waits.  DRIVE is called again and again while its request is not done. */
void hs_socket_serve(struct hs_socket *socket, void (*drive)(void));

#endif
