/* SPDX-License-Identifier: MIT */
/*
 * The embedding API.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <mono/metadata/appdomain.h>

#include "profiler/events.h"
#include "profiler/heapshot.h"
#include "profiler/module.h"
#include "profiler/per_thread.h"
#include "profiler/request.h"
#include "profiler/ring.h"

#define ERROR_BYTES 512

const char *heapshot_error(void)
{
	const char *text = hs_per_thread_present(HS_PER_THREAD_ERROR);

	return text ? text : "";
}

uint32_t heapshot_version(void)
{
	return HEAPSHOT_VERSION_MAJOR << 16 | HEAPSHOT_VERSION_MINOR;
}

static int fail(enum heapshot_result result, const char *text)
{
	char *last_error = hs_per_thread(HS_PER_THREAD_ERROR, ERROR_BYTES);

	if (last_error)
		snprintf(last_error, ERROR_BYTES, "%s", text);
	return result;
}

int heapshot_start(const struct heapshot_start *given)
{
	struct hs_start start = {.is_late = mono_get_root_domain() != NULL};
	char message[ERROR_BYTES] = "";
	bool is_strict;

	if (!given || given->size < sizeof *given)
		return fail(HEAPSHOT_REFUSED, "struct heapshot_start: size is not set");
	if (!hs_is_collector_supported())
		return fail(HEAPSHOT_UNSUPPORTED, "this runtime's collector cannot be walked");
	start.options = given->options;
	start.callback = given->write;
	start.user_data = given->user_data;
	switch (hs_module_start(&start, message, sizeof message, &is_strict)) {
	case HS_START_OK:
		return HEAPSHOT_OK;
	case HS_START_HELP:
		return fail(HEAPSHOT_REFUSED, "option 'help' is for the command line");
	default:
		return fail(HEAPSHOT_REFUSED, message);
	}
}

static int64_t take(const char *label, bool is_stats_only)
{
	int64_t result = hs_take(HS_TRIGGER_API, label, is_stats_only);

	if (result >= 0)
		return result;
	switch (result) {
	case -ENOTCONN:
		return fail(HEAPSHOT_NOT_RECORDING, "nothing is being recorded");
	case -ESHUTDOWN:
		return fail(HEAPSHOT_SHUTTING_DOWN, "the runtime is shutting down");
	case -EBUSY:
		return fail(HEAPSHOT_BUSY, "too many threads wait for a snapshot already");
	case -ETIMEDOUT:
		return fail(HEAPSHOT_TIMED_OUT, "no collection came about within the time limit");
	case -EDQUOT:
		return fail(HEAPSHOT_LIMIT, "max-snapshots or max-size was reached");
	default:
		return fail(HEAPSHOT_NOT_FINISHED,
			    "the snapshot was not finished: the output was too slow or failed");
	}
}

int64_t heapshot_take(const char *label)
{
	return take(label, false);
}

int64_t heapshot_take_stats(const char *label)
{
	return take(label, true);
}

int heapshot_mark(const char *label)
{
	if (!hs_is_recording())
		return fail(HEAPSHOT_NOT_RECORDING, "nothing is being recorded");
	hs_events_marker(label);
	return HEAPSHOT_OK;
}

int heapshot_flush(void)
{
	switch (hs_flush(NULL)) {
	case 0:
		return HEAPSHOT_OK;
	case -ETIMEDOUT:
		return fail(HEAPSHOT_TIMED_OUT, "the output did not take the events in time");
	default:
		return fail(HEAPSHOT_NOT_RECORDING, "nothing is being recorded");
	}
}

int64_t heapshot_flush_ring(const char *path)
{
	char message[ERROR_BYTES];
	uint64_t n_dropped;
	int64_t result = hs_ring_write_out(path, &n_dropped, message, sizeof message);

	if (result >= 0)
		return result;
	switch (result) {
	case -ENOTCONN:
		return fail(HEAPSHOT_NOT_RECORDING, message);
	case -EBUSY:
		return fail(HEAPSHOT_BUSY, message);
	case -ETIMEDOUT:
		return fail(HEAPSHOT_TIMED_OUT, message);
	default:
		return fail(HEAPSHOT_REFUSED, message);
	}
}

int heapshot_stop(void)
{
	hs_recorder_end(HEAPSHOT__END_REASON__END_REASON_STOPPED);
	return HEAPSHOT_OK;
}

int heapshot_is_recording(void)
{
	return hs_is_recording();
}
