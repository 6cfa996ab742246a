/* SPDX-License-Identifier: MIT */
/*
 * What is to go when a signal ends the command: files that do not yet bear their
 * names, folders made for them.
 */
#ifndef HEAPSHOT_CLI_UNFINISHED_H
#define HEAPSHOT_CLI_UNFINISHED_H

#include <stdbool.h>

/* Puts such signals off, while a path is made and added, or lets them come. */
void unfinished_hold(bool is_held);
/* PATH, a file or an empty folder, stays valid until it is dropped. */
void unfinished_add(const char *path);
void unfinished_drop(const char *path);

#endif
