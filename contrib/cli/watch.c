/* SPDX-License-Identifier: MIT */
/*
 * heapshot watch: asks a recorded process for statistics again and again.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "contrib/cli/control.h"
#include "contrib/cli/signals.h"
#include "contrib/cli/watch.h"

#define DEFAULT_INTERVAL_NS UINT64_C(1000000000)
/* The program gets on for at least so many times what a refresh took. */
#define REST_SHARE 4
#define REQUEST    "stats watch\n"
#define ANSWER_NS  (CONTROL_WAIT_SECONDS * UINT64_C(1000000000))

enum event { EVENT_TIME, EVENT_END, EVENT_READY };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Those that end or stop watching, and that of a resized terminal. */
static const int event_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0};

/* ^Z: the terminal is given back, and taken again when we are continued. */
static void stop(const struct watch *watch)
{
	watch_screen_end();
	raise(SIGSTOP);
	if (watch->is_screen)
		watch_screen_begin();
}

/* True when one of the signals asks for the end. */
static bool take_signals(const struct watch *watch, int signals)
{
	struct signalfd_siginfo info;
	bool is_end = false, is_changed = false;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTSTP)
			stop(watch);
		is_changed |= info.ssi_signo == SIGWINCH || info.ssi_signo == SIGTSTP;
		is_end |= info.ssi_signo != SIGWINCH && info.ssi_signo != SIGTSTP;
	}
	if (is_changed && watch->is_screen && watch->n_refreshes > 0)
		watch_show(watch);
	return is_end;
}

/* Waits until FD (-1: none) can be read, a signal asks for the end, or the time END_NS. */
static enum event wait_until(const struct watch *watch, int signals, int fd, uint64_t end_ns)
{
	struct pollfd polled[] = {{.fd = signals, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	for (;;) {
		const uint64_t now = now_ns();
		const uint64_t ms = end_ns > now ? (end_ns - now) / 1000000 + 1 : 0;

		if (ms == 0)
			return EVENT_TIME;
		if (poll(polled, 2, ms < 1000000 ? (int)ms : 1000000) < 0 && errno != EINTR)
			return EVENT_END;
		if (polled[0].revents != 0 && take_signals(watch, signals))
			return EVENT_END;
		if (polled[1].revents != 0)
			return EVENT_READY;
	}
}

/* ---- A refresh ---- */

/* Says that the process has ended: after a while of watching that is no riddle. */
static int gone(const struct watch *watch, const struct cli_command *command, int error)
{
	if (watch->n_refreshes == 0 || !control_is_gone(error))
		return control_say(command, watch->process, error);
	cli_message("process %s has ended", watch->process);
	return CLI_CHECK_FAILED;
}

/* Asks for a snapshot; its *id, 0 when a signal came instead. */
static int ask(struct watch *watch, const struct cli_command *command, int signals, uint64_t *id)
{
	char reply[CONTROL_REPLY_BYTES];
	int fd = control_connect(watch->process, NULL), error;
	enum event event = EVENT_READY;
	char *end;

	*id = 0;
	if (fd < 0)
		return gone(watch, command, fd);
	error = control_send(fd, REQUEST);
	if (error == 0)
		event = wait_until(watch, signals, fd, now_ns() + ANSWER_NS);
	if (error == 0 && event == EVENT_TIME)
		error = -ETIMEDOUT;
	if (error == 0 && event == EVENT_READY)
		error = control_receive(fd, reply, sizeof(reply));
	close(fd);
	if (error != 0)
		return gone(watch, command, error);
	if (event != EVENT_READY)
		return CLI_OK;
	if (strncmp(reply, "error ", 6) == 0) {
		cli_message("process %s: %s", watch->process, reply + 6);
		return CLI_CHECK_FAILED;
	}
	*id = strncmp(reply, "ok ", 3) == 0 ? strtoull(reply + 3, &end, 10) : 0;
	return *id != 0 && *end == '\0' ? CLI_OK : control_unexpected(watch->process, reply);
}

/* Whether each refresh would bring the end of the recording nearer. */
static int check_limits(const struct watch *watch, const struct recording *recording)
{
	const char *options = heapshot_reader_header(recording->reader)->options;
	const char *found = strstr(options, "max-snapshots=");

	if (watch->n_refreshes > 0 || found == NULL || (found != options && found[-1] != ',') ||
	    strtoull(found + strlen("max-snapshots="), NULL, 10) == 0)
		return CLI_OK;
	cli_message("process %s is recorded with max-snapshots: each refresh would count as a "
		    "snapshot",
		    watch->process);
	return CLI_CHECK_FAILED;
}

/* Reads what snapshot ID and the events since the refresh before tell. */
static int read_new(struct watch *watch, struct recording *recording, uint64_t id)
{
	enum heapshot_read_result result = watch_tail_read(&watch->tail, &recording->reader);
	int status;

	if (recording->reader == NULL) {
		cli_message("the recording of process %s cannot be read", watch->process);
		return CLI_IO;
	}
	status = recording_check(recording, result);
	if (status == CLI_OK)
		status = check_limits(watch, recording);
	/* Before the first snapshot the limits only are looked at. */
	if (status != CLI_OK || id == 0)
		return status;
	recording->snapshot = heapshot_reader_snapshot(recording->reader, id);
	if (recording->snapshot == NULL) {
		cli_message("snapshot %llu of process %s is not in its recording",
			    (unsigned long long)id, watch->process);
		return CLI_INCOMPLETE;
	}
	status = recording_check(recording, heapshot_reader_load_names(recording->reader));
	if (status == CLI_OK)
		status = recording_check(recording, heapshot_reader_totals(recording->reader,
									   recording->snapshot,
									   &watch->totals));
	if (status == CLI_OK)
		status = recording_check(recording,
					 watch_gc_take(&watch->gc, recording->reader,
						       watch->tail.new_at, recording->snapshot));
	if (status == CLI_OK)
		status = recording_check(recording,
					 watch_tail_keep(&watch->tail, recording->reader));
	if (status == CLI_OK && !growth_take(&watch->growth, recording, &watch->totals))
		status = cli_no_memory();
	return status;
}

static int take(struct watch *watch, uint64_t id)
{
	struct recording recording = {.path = "its recording"};
	int status = read_new(watch, &recording, id);

	if (status != CLI_OK || id == 0) {
		heapshot_reader_free(recording.reader);
		return status;
	}
	heapshot_reader_free(watch->recording.reader);
	watch->recording = recording;
	if (watch->n_refreshes++ == 0) {
		watch->first_bytes = watch->totals.bytes;
		watch->first_objects = watch->totals.objects;
		watch->first_ns = recording.snapshot->time_ns;
	}
	watch_show(watch);
	return CLI_OK;
}

/* Until COUNT refreshes were made, or a signal or the process ends it; END can be read then. */
static int run(struct watch *watch, const struct cli_command *command, int signals, int end)
{
	const uint64_t count = watch->arguments->count;
	uint64_t begin_ns, rest_ns, id;
	int status;

	for (;;) {
		begin_ns = now_ns();
		status = ask(watch, command, signals, &id);
		if (status != CLI_OK || id == 0)
			return status;
		rest_ns = (now_ns() - begin_ns) * REST_SHARE;
		status = take(watch, id);
		if (status != CLI_OK || ferror(stdout) ||
		    (count != 0 && watch->n_refreshes >= count))
			return status;
		if (rest_ns < watch->interval_ns)
			rest_ns = watch->interval_ns;
		if (wait_until(watch, signals, end, now_ns() + rest_ns) == EVENT_END)
			return CLI_OK;
	}
}

/* Finds the file of the recording, before anything is asked of the process. */
static int open_tail(struct watch *watch, const struct cli_command *command, int *end)
{
	long pid;
	int fd = control_connect(watch->process, &pid), error;

	if (fd < 0)
		return control_say(command, watch->process, fd);
	close(fd);
	error = watch_tail_open(&watch->tail, pid);
	if (error == -ENOENT) {
		cli_message("process %s does not record to a file, where watch would read the "
			    "figures",
			    watch->process);
		return CLI_IO;
	}
	if (error != 0)
		return control_say(command, watch->process, error);
	/* Without one, an older kernel, the next refresh finds out. */
	*end = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	return take(watch, 0);
}

int cli_watch(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct watch watch = {.arguments = &arguments, .tail = {.fd = -1}};
	const char *term = getenv("TERM");
	int status = cli_parse(command, argc, argv, 1, 1, &arguments), signals, end = -1;

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	watch.process = arguments.operands[0];
	watch.interval_ns =
		arguments.interval_ns != 0 ? arguments.interval_ns : DEFAULT_INTERVAL_NS;
	watch.is_screen = !arguments.is_json && isatty(STDOUT_FILENO) && term != NULL &&
			  strcmp(term, "dumb") != 0;
	/* A reader that goes away ends us quietly. */
	signal(SIGPIPE, SIG_DFL);
	signals = signals_open(event_signals);
	if (signals < 0)
		return control_say(command, watch.process, -errno);
	status = open_tail(&watch, command, &end);
	if (status == CLI_OK) {
		cli_before_message = watch_screen_end;
		if (watch.is_screen)
			watch_screen_begin();
		status = run(&watch, command, signals, end);
		watch_screen_end();
		if (watch.is_screen && watch.n_refreshes > 0)
			watch_show_last(&watch);
	}
	close(signals);
	if (end >= 0)
		close(end);
	growth_free(&watch.growth);
	heapshot_reader_free(watch.recording.reader);
	watch_tail_close(&watch.tail);
	return cli_finish(status);
}
