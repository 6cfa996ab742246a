/* SPDX-License-Identifier: MIT */
/*
 * Signals that come through a descriptor, so that no call is interrupted by them.
 */
#ifndef HEAPSHOT_CLI_SIGNALS_H
#define HEAPSHOT_CLI_SIGNALS_H

/*
 * From here on the signals NUMBERS, which end with 0, are blocked and read from the
 * descriptor that is returned, without waiting; -1 with errno where there is none.
 */
int signals_open(const int *numbers);

#endif
