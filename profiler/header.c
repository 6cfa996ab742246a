/* SPDX-License-Identifier: MIT */
/*
 * First and last record of a recording.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <mono/jit/jit.h>

#include "profiler/header.h"
#include "profiler/recorder.h"
#include "profiler/ring.h"
#include "profiler/text.h"

#define COMMAND_LINE_MAX 4096

/* The arguments of the process, joined by blanks, in RAW. */
static struct hs_text command_line(char *raw)
{
	ssize_t n, i;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

	n = fd < 0 ? 0 : read(fd, raw, COMMAND_LINE_MAX - 1);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		n = 0;
	for (i = 0; i + 1 < n; i++)
		if (!raw[i])
			raw[i] = ' ';
	raw[n] = 0;
	return hs_text_of(raw, HS_NAME_MAX);
}

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * HS_NS_PER_S + (uint64_t)now.tv_nsec;
}

int hs_header_put(void)
{
	Heapshot__FileHeader header = HEAPSHOT__FILE_HEADER__INIT;
	Heapshot__Record record = HEAPSHOT__RECORD__INIT;
	char text[HS_OPTIONS_VALUE_MAX * 2], runtime[256], system[sizeof(struct utsname)];
	char raw[COMMAND_LINE_MAX];
	struct hs_text command = command_line(raw), options;
	char *build = mono_get_runtime_build_info();
	struct utsname machine;
	int error;

	record.body_case = HEAPSHOT__RECORD__BODY_HEADER;
	record.header = &header;
	memset(&machine, 0, sizeof machine);
	uname(&machine);
	hs_options_format(&hs_recorder.options, text, sizeof text);
	options = hs_text_of(text, HS_NAME_MAX);
	snprintf(runtime, sizeof runtime, "Mono %s", build ? build : "");
	mono_free(build);
	snprintf(system, sizeof system, "%s %s", machine.sysname, machine.release);
	header.version_major = 1;
	header.version_minor = 0;
	header.writer = (char *)(uintptr_t) "heapshot " PACKAGE_VERSION;
	header.runtime = runtime;
	header.architecture = machine.machine;
	header.system = system;
	header.word_bytes = sizeof(void *);
	header.pid = (uint64_t)hs_recorder.pid;
	header.wall_start_unix_ns = wall_ns() - (hs_monotonic_ns() - hs_recorder.start_ns);
	header.options = options.text ? (char *)(uintptr_t)options.text : text;
	header.host_name = machine.nodename;
	if (command.text)
		header.command_line = (char *)(uintptr_t)command.text;
	header.late_start = hs_recorder.is_late;
	error = hs_record_put(HS_FRAME_METADATA, 0, &record, 0);
	hs_text_free(&command);
	hs_text_free(&options);
	/* At once, so that the file is a recording from its first moment. */
	hs_ring_flush();
	return error ? error : hs_stream_flush(hs_recorder.stream, HS_FRAME_METADATA, 0);
}

const char *hs_why_no_snapshot(Heapshot__EndReason reason)
{
	const uint32_t when = hs_recorder.options.when;

	if (atomic_load(&hs_recorder.n_snapshots))
		return NULL;
	if (atomic_load(&hs_recorder.n_dropped))
		return "the output was too slow or failed, memory was short, or a child failed";
	if (when == HS_WHEN_NONE)
		return "snapshot=none, and none was asked for";
	if (reason == HEAPSHOT__END_REASON__END_REASON_STOPPED)
		return "it was stopped before anything led to one";
	if (when & HS_WHEN_SHUTDOWN)
		return "the process ended without a shutdown of the runtime";
	return "nothing led to one; see the option 'snapshot'";
}

int hs_end_put(Heapshot__EndReason reason, uint64_t deadline_ns)
{
	Heapshot__End end = HEAPSHOT__END__INIT;
	Heapshot__Record record = HEAPSHOT__RECORD__INIT;
	const char *why = hs_why_no_snapshot(reason);
	int error;

	record.body_case = HEAPSHOT__RECORD__BODY_END;
	record.end = &end;
	end.reason = reason;
	end.snapshots = atomic_load(&hs_recorder.n_snapshots);
	if (why)
		end.note = (char *)(uintptr_t)why;
	error = hs_record_put(HS_FRAME_END, hs_since_start(hs_monotonic_ns()), &record,
			      deadline_ns);
	hs_ring_flush();
	return error ? error : hs_stream_flush(hs_recorder.stream, HS_FRAME_END, deadline_ns);
}
