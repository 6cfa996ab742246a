/* SPDX-License-Identifier: MIT */
/*
 * Starting and ending a recording.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "emit/sink_fd.h"
#include "profiler/area.h"
#include "profiler/control.h"
#include "profiler/fork.h"
#include "profiler/header.h"
#include "profiler/message.h"
#include "profiler/output.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/ring.h"
#include "profiler/strings.h"

#define ROOT_BYTES        ((size_t)256 << 10)
#define EPHEMERON_BYTES   ((size_t)128 << 10)
#define SPARE_DESCRIPTORS 8

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

/*
 * For each thread that allocates glibc reserves 128 MB of addresses, and keeps
 * 64 of them.  Where addresses are limited (ulimit -v) the program would lack
 * what our threads, and those we make the runtime attach, take that way.
 */
static void spare_addresses(void)
{
#ifdef M_ARENA_MAX
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    !getenv("MALLOC_ARENA_MAX"))
		mallopt(M_ARENA_MAX, 1);
#endif
}

/*
 * Threads of ours take none of the signals that a program sends or gets.  Those
 * that the runtime uses to suspend threads stay open: helpers of the control
 * thread inherit the mask, and a stop of the world would wait for them for ever.
 */
static int start_thread(pthread_t *thread, void *(*run)(void *))
{
	static const int programs[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGPIPE,  SIGALRM,
				       SIGTERM, SIGUSR1,  SIGUSR2, SIGCHLD,  SIGCONT,
				       SIGTSTP, SIGTTIN,  SIGTTOU, SIGURG,   SIGXFSZ,
				       SIGPROF, SIGWINCH, SIGIO,   SIGVTALRM};
	sigset_t blocked, before;
	pthread_attr_t attributes;
	size_t i;
	int error;

	sigemptyset(&blocked);
	for (i = 0; i < sizeof programs / sizeof *programs; i++)
		sigaddset(&blocked, programs[i]);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)256 << 10);
	error = pthread_create(thread, &attributes, run, NULL);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* The runtime aborts when it finds no descriptor: so the last few stay with it. */
static int leave_descriptors(void)
{
	int probe = fcntl(hs_recorder.wake_control, F_DUPFD_CLOEXEC,
			  hs_recorder.wake_control + SPARE_DESCRIPTORS);

	if (probe < 0)
		return EMFILE;
	close(probe);
	return 0;
}

/* A program that closed its standard descriptors keeps them for itself. */
static int new_event(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? -errno : hs_fd_raise(fd);
}

static bool start_threads(char *message, size_t size)
{
	int error;

	hs_recorder.wake_writer = new_event();
	hs_recorder.wake_control = new_event();
	if (hs_recorder.wake_writer < 0)
		error = -hs_recorder.wake_writer;
	else if (hs_recorder.wake_control < 0)
		error = -hs_recorder.wake_control;
	else
		error = leave_descriptors();
	if (!error)
		error = start_thread(&hs_recorder.writer, hs_writer_main);
	if (error) {
		snprintf(message, size, "cannot start the recorder's thread: %s", strerror(error));
		return false;
	}
	/* Without the second thread there are no triggers from outside, but all others work. */
	hs_recorder.has_control = start_thread(&hs_recorder.control, hs_control_main) == 0;
	return true;
}

static void release(void)
{
	if (hs_is_event(hs_recorder.wake_writer))
		close(hs_recorder.wake_writer);
	if (hs_is_event(hs_recorder.wake_control))
		close(hs_recorder.wake_control);
	hs_unmap(hs_recorder.memory, hs_recorder.memory_bytes);
	hs_recorder.memory = NULL;
	hs_recorder.wake_writer = hs_recorder.wake_control = 0;
}

/* A forked child of the program has no writer, and the output is its parent's. */
static void in_forked_child(void)
{
	if (atomic_exchange(&hs_recorder.state, HS_STATE_OFF) != HS_STATE_OFF) {
		hs_sink_forget(&hs_recorder.sink);
		hs_ring_close();
	}
	hs_control_forget();
	hs_fork_forget();
	/* Threads that were inside are not here. */
	atomic_store(&hs_n_inside, 0);
}

static void at_exit(void)
{
	hs_recorder_end(HEAPSHOT__END_REASON__END_REASON_EXIT);
}

static void register_once(void)
{
	pthread_atfork(NULL, NULL, in_forked_child);
	atexit(at_exit);
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
	if (hs_recorder.pid == getpid()) {
		pthread_join(hs_recorder.writer, NULL);
		if (hs_recorder.has_control)
			pthread_join(hs_recorder.control, NULL);
		hs_sink_close(&hs_recorder.sink, HS_NS_PER_MS);
	}
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
	static pthread_once_t once = PTHREAD_ONCE_INIT;
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
	spare_addresses();
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
	if (!is_good || !start_threads(message, size)) {
		if (hs_recorder.sink.is_regular)
			hs_output_undo(hs_recorder.output);
		hs_sink_close(&hs_recorder.sink, HS_NS_PER_S);
		hs_ring_close();
		release();
		return HS_START_REFUSED;
	}
	pthread_once(&once, register_once);
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
