/* SPDX-License-Identifier: MIT */
/*
 * Starting and ending a recording.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "profiler/area.h"
#include "profiler/fork.h"
#include "profiler/header.h"
#include "profiler/message.h"
#include "profiler/output.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/ring.h"
#include "profiler/service.h"
#include "profiler/strings.h"

#define ROOT_BYTES      ((size_t)256 << 10)
#define EPHEMERON_BYTES ((size_t)128 << 10)

/* How the memory that was asked for is divided. */
struct division {
	size_t log_cells, frame_bytes, total_bytes;
};

static size_t pages(size_t bytes)
{
	return (bytes + 4095) & ~(size_t)4095;
}

static struct division divide(const struct hs_options *options)
{
	struct division division = {.log_cells = 4096, .frame_bytes = (size_t)192 << 10};

	if (options->memory_bytes >= (uint64_t)3 << 20) {
		division.frame_bytes = (size_t)256 << 10;
		division.log_cells = 8192;
	}
	if (options->memory_bytes >= (uint64_t)8 << 20)
		division.frame_bytes = (size_t)1 << 20;
	/* What is left goes to the log: it is what a slow output fills. */
	for (;;) {
		division.total_bytes = pages(hs_log_bytes(division.log_cells)) +
				       pages(hs_stream_bytes(division.frame_bytes)) +
				       pages(hs_batch_encoder_bytes()) + ROOT_BYTES +
				       EPHEMERON_BYTES +
				       (options->ring_bytes ? pages(hs_ring_memory_bytes()) : 0) +
				       (options->strings ? HS_STRINGS_BYTES : 0);
		if (division.total_bytes + hs_log_bytes(division.log_cells) > options->memory_bytes)
			break;
		division.log_cells *= 2;
	}
	return division;
}

static void *take(size_t bytes)
{
	void *memory = hs_recorder.memory_used;

	hs_recorder.memory_used += pages(bytes);
	return memory;
}

static bool reserve_memory(void)
{
	const struct division division = divide(&hs_recorder.options);
	struct hs_stream_config config = {.frame_bytes = division.frame_bytes,
					  .sink = &hs_recorder.sink};

	hs_recorder.memory_bytes = division.total_bytes;
	hs_recorder.memory_used = hs_recorder.memory = hs_map(division.total_bytes);
	if (!hs_recorder.memory)
		return false;
	if (getrandom(&hs_recorder.id, sizeof hs_recorder.id, GRND_NONBLOCK) !=
	    sizeof hs_recorder.id)
		hs_recorder.id = (uint32_t)(hs_recorder.start_ns ^ (uint64_t)getpid() << 16);
	config.id = hs_recorder.id;
	hs_log_init(&hs_recorder.log, take(hs_log_bytes(division.log_cells)), division.log_cells);
	hs_recorder.stream = hs_stream_init(take(hs_stream_bytes(division.frame_bytes)), &config);
	hs_recorder.batches = hs_batch_encoder_init(take(hs_batch_encoder_bytes()), sizeof(void *));
	hs_root_encoder_init(&hs_recorder.root_encoder, take(ROOT_BYTES), ROOT_BYTES,
			     sizeof(void *));
	hs_ephemeron_encoder_init(&hs_recorder.ephemeron_encoder, take(EPHEMERON_BYTES),
				  EPHEMERON_BYTES, sizeof(void *));
	if (hs_recorder.options.ring_bytes)
		hs_ring_reserve(take(hs_ring_memory_bytes()));
	if (hs_recorder.options.strings)
		hs_recorder.strings = take(HS_STRINGS_BYTES);
	return true;
}

static void release(void)
{
	hs_service_release();
	hs_unmap(hs_recorder.memory, hs_recorder.memory_bytes);
	hs_recorder.memory = NULL;
}

static bool parse(const struct hs_start *start, char *message, size_t size)
{
	const char *environment = getenv("HEAPSHOT_OPTIONS");
	struct hs_options *options = &hs_recorder.options;
	char later[512];
	bool is_good = true;

	hs_options_init(options);
	if (environment)
		is_good = hs_options_parse(options, environment, message, size);
	if (start->options && !hs_options_parse(options, start->options, is_good ? message : later,
						is_good ? size : sizeof later))
		is_good = false;
	/* Code without what it is the code of would be of no use. */
	if (options->methods_code)
		options->events |= HS_EVENTS_METHODS;
	return is_good;
}

/*
 * Clears away an earlier recording, also one whose output failed: waits for its
 * threads, and for callbacks that are still inside.
 */
static bool clear_earlier(void)
{
	const uint64_t end = hs_monotonic_ns() + HS_CLEAR_LIMIT_NS;

	if (!hs_recorder.memory)
		return true;
	if (hs_recorder.pid == getpid()) {
		hs_recorder_end(HEAPSHOT__END_REASON__END_REASON_STOPPED);
		while (hs_recorder.has_control && !atomic_load(&hs_recorder.is_control_closed) &&
		       hs_monotonic_ns() < end)
			hs_sleep_ns(HS_NS_PER_MS);
		if (!atomic_load(&hs_recorder.is_closed) ||
		    (hs_recorder.has_control && !atomic_load(&hs_recorder.is_control_closed)))
			return false;
	}
	while (atomic_load(&hs_n_inside) && hs_monotonic_ns() < end)
		hs_sleep_ns(HS_NS_PER_MS);
	if (atomic_load(&hs_n_inside))
		return false;
	if (hs_recorder.pid == getpid())
		hs_sink_close(&hs_recorder.sink, HS_NS_PER_MS);
	hs_ring_close();
	hs_types_free(&hs_recorder.types);
	hs_ranges_free(&hs_recorder.ranges);
	hs_chunks_free(&hs_recorder.chunks);
	hs_area_free(&hs_recorder.roots);
	hs_area_free(&hs_recorder.saved);
	release();
	return true;
}

enum hs_start_result hs_recorder_start(const struct hs_start *start, char *message, size_t size,
				       bool *is_strict)
{
	bool is_good;
	int error;

	*is_strict = false;
	if (atomic_load(&hs_recorder.state) != HS_STATE_OFF) {
		snprintf(message, size,
			 "a recording is under way already (%s); this one is refused",
			 hs_recorder.output);
		return HS_START_REFUSED;
	}
	if (!clear_earlier()) {
		snprintf(message, size, "the recording before is still ending (%s); try again",
			 hs_recorder.output);
		return HS_START_REFUSED;
	}
	/* What was asked of the recording before is not asked of this one. */
	hs_request_refuse_all(-ENOTCONN);
	memset(&hs_recorder, 0, sizeof hs_recorder);
	is_good = parse(start, message, size);
	*is_strict = hs_recorder.options.strict;
	if (hs_recorder.options.help)
		return HS_START_HELP;
	if (!is_good)
		return HS_START_REFUSED;
	hs_recorder.start_ns = hs_monotonic_ns();
	hs_recorder.pid = getpid();
	hs_recorder.is_late = start->is_late;
	if (start->is_late)
		atomic_store(&hs_recorder.phase, HS_PHASE_RUNNING);
	if (!reserve_memory()) {
		snprintf(message, size,
			 "no memory for the buffers (%zu bytes); see the option 'memory'",
			 hs_recorder.memory_bytes);
		return HS_START_REFUSED;
	}
	if (hs_recorder.options.ring_bytes &&
	    (start->callback || strchr("|#", *hs_recorder.options.output))) {
		snprintf(message, size, "option 'ring' needs a file as output");
		release();
		return HS_START_REFUSED;
	}
	if (start->callback) {
		hs_sink_open_callback(&hs_recorder.sink, start->callback, start->user_data);
		snprintf(hs_recorder.output, sizeof hs_recorder.output, "the callback");
	} else if (!hs_output_open(&hs_recorder.sink, hs_recorder.options.output,
				   hs_recorder.options.overwrite, hs_recorder.output,
				   sizeof hs_recorder.output, message, size)) {
		release();
		return HS_START_REFUSED;
	}
	if (!hs_ring_open(message, size)) {
		/* Nothing is in it yet. */
		if (hs_recorder.sink.is_regular)
			hs_output_undo(hs_recorder.output);
		hs_sink_close(&hs_recorder.sink, HS_NS_PER_S);
		release();
		return HS_START_REFUSED;
	}
	error = hs_header_put();
	if (error && error != -EAGAIN) {
		snprintf(message, size, "cannot write %s: %s", hs_recorder.output,
			 strerror(-error));
		is_good = false;
	}
	if (!is_good || !hs_service_start(message, size)) {
		if (hs_recorder.sink.is_regular)
			hs_output_undo(hs_recorder.output);
		hs_sink_close(&hs_recorder.sink, HS_NS_PER_S);
		hs_ring_close();
		release();
		return HS_START_REFUSED;
	}
	return HS_START_OK;
}

void hs_recorder_begin(void)
{
	atomic_store(&hs_recorder.state, HS_STATE_RECORDING);
	hs_wake(hs_recorder.wake_control);
}

void hs_recorder_end(Heapshot__EndReason reason)
{
	const uint64_t begin = hs_monotonic_ns(),
		       end = begin + 2 * HS_CLOSE_LIMIT_NS + HS_FORK_EXIT_NS;
	int expected = 0;

	if (!hs_recorder.memory || getpid() != hs_recorder.pid)
		return;
	atomic_compare_exchange_strong(&hs_recorder.is_closing, &expected, (int)reason + 1);
	hs_wake(hs_recorder.wake_writer);
	hs_wake(hs_recorder.wake_control);
	while (!atomic_load(&hs_recorder.is_closed) && hs_monotonic_ns() < end)
		hs_sleep_ns(HS_NS_PER_MS / 4);
	/* Its socket goes with it.  It may be the one that ends the recording, or wait for a lock. */
	while (hs_recorder.has_control && !pthread_equal(pthread_self(), hs_recorder.control) &&
	       !atomic_load(&hs_recorder.is_control_closed) &&
	       hs_monotonic_ns() < begin + HS_NS_PER_S / 2)
		hs_sleep_ns(HS_NS_PER_MS / 4);
}
