/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: no clone(2) by way of syscall(2) succeeds.  $REFUSE is the number
 * of the error.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long system_call(long number, long a, long b, long c, long d, long e, long f);

long syscall(long number, ...)
{
	const char *error = getenv("REFUSE");
	system_call *real = (system_call *)dlsym(RTLD_NEXT, "syscall");
	long arguments[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_clone && error != NULL) {
		errno = atoi(error);
		return -1;
	}
	return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		    arguments[5]);
}
