/* SPDX-License-Identifier: MIT */
/*
 * heapshot: heap snapshots of Mono programs, for programs that embed Mono.
 *
 * Most people need none of this: `mono --profile=heapshot:output=app.hs app.exe`
 * records a program, and `heapshot top app.hs` reads the recording.
 *
 * A program that embeds Mono links with `pkg-config --libs mono-2 heapshot`
 * (or loads libmono-profiler-heapshot.so), starts a recording, best before
 * mono_jit_init(), and takes snapshots:
 *
 *     struct heapshot_start start = {sizeof start, "output=game.hs,snapshot=none"};
 *     if (heapshot_start(&start) < 0)
 *             fprintf(stderr, "%s\n", heapshot_error());
 *     ...
 *     heapshot_take("level 1");
 *     ...
 *     heapshot_stop();
 *
 * There is one recording per process at a time, since the runtime has one set
 * of hooks.  Nothing here exits, aborts, or prints to standard output.  No
 * function may be called from a profiler callback, a signal handler, or while
 * the world is stopped.
 *
 * In this header, "known to the runtime" is a thread that runs managed code or
 * was attached by mono_thread_attach().
 */
#ifndef HEAPSHOT_H
#define HEAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HEAPSHOT_API __attribute__((visibility("default")))
#else
#define HEAPSHOT_API
#endif

/* Version of this header; heapshot_version() is the library's. */
#define HEAPSHOT_VERSION_MAJOR 1
#define HEAPSHOT_VERSION_MINOR 0

/* (major << 16) | minor.  Any thread, any time. */
HEAPSHOT_API uint32_t heapshot_version(void);

/*
 * Results.  Functions that can fail return one of these negative numbers;
 * heapshot_error() then has a line for people.
 */
enum heapshot_result {
	HEAPSHOT_OK = 0,
	/* Options: unknown, or a bad value. Output: cannot be written. A recording runs already. */
	HEAPSHOT_REFUSED = -1,
	/* Nothing is being recorded: never started, stopped, or the output failed. */
	HEAPSHOT_NOT_RECORDING = -2,
	/* The runtime shuts down: it is too late. */
	HEAPSHOT_SHUTTING_DOWN = -3,
	/* Too many threads wait for a snapshot already (eight; one before the runtime is initialised). */
	HEAPSHOT_BUSY = -4,
	/* No collection came about within 30 seconds; the request is withdrawn. */
	HEAPSHOT_TIMED_OUT = -5,
	/* max-snapshots or max-size was reached. */
	HEAPSHOT_LIMIT = -6,
	/* Begun and not finished: the output failed, was too slow, or memory was short. */
	HEAPSHOT_NOT_FINISHED = -7,
	/* The runtime's collector cannot be walked (it is not SGen). */
	HEAPSHOT_UNSUPPORTED = -8
};

/*
 * Receives the recording piece by piece: each call has one whole frame with
 * its tag, in order; joined they are the file.  DATA belongs to heapshot and
 * is valid during the call only.  Returns 0; anything else ends the recording
 * (a negative errno is said as the reason).  The function and USER_DATA must
 * stay until heapshot_stop() has returned, or else as long as the process.
 *
 * Called on the recorder's own thread, which the runtime does not know, and
 * for snapshots on the collecting thread WHILE THE WORLD IS STOPPED: no
 * malloc, no stdio, no lock that a managed thread may hold, no call into the
 * runtime; copy the bytes to memory of your own, or write(2) them.
 */
typedef int heapshot_write(const void *data, size_t size, void *user_data);

/* What to record and where to.  Set size; all else may be zero. */
struct heapshot_start {
	size_t size; /* sizeof (struct heapshot_start) */
	/*
	 * Options as on the command line: "output=app.hs,snapshot=gc+10s".
	 * NULL: the defaults.  Those of the environment variable
	 * HEAPSHOT_OPTIONS come first, these win.  See heapshot-options(7).
	 */
	const char *options;
	/* Not NULL: the recording goes there, and the option `output` is not used. */
	heapshot_write *write;
	void *user_data;
};

/*
 * Starts a recording.
 *
 * Before mono_jit_init(): records everything, as --profile does.  After it: a
 * late start; types are named when they are first met, and roots that were
 * registered before are of kind `unknown` (FileHeader.late_start says so).
 *
 * Thread: any, but not two at once; after mono_jit_init() one that is known to
 * the runtime.  Strings are copied; START may be on the stack.
 * Returns HEAPSHOT_OK, HEAPSHOT_REFUSED or HEAPSHOT_UNSUPPORTED.  The option
 * `strict` has no effect here, and `help` is refused.
 */
HEAPSHOT_API int heapshot_start(const struct heapshot_start *start);

/*
 * Takes a snapshot now, under LABEL (UTF-8, NULL for none; cut at 1,023 bytes),
 * and returns when the world runs again: it is complete in the output then, or,
 * where a child process writes it (option `fork`), when that has ended;
 * heapshot_stop() waits for it.  A thread that the runtime does not know waits, too.
 *
 * A thread that is known to the runtime collects by itself.  Another one waits
 * until the runtime's finalizer thread, or the recorder's own thread, has
 * done so, and a child has finished it: at most 30 seconds.
 * Returns the snapshot's number in the recording, from 1; or 0 when the
 * runtime is not initialised yet, and the snapshot is taken when it is; or
 * one of the results above.
 */
HEAPSHOT_API int64_t heapshot_take(const char *label);

/*
 * The same without the graph: counts and bytes by type only, a smaller and
 * shorter snapshot for frequent use.  `heapshot top` reads it.
 */
HEAPSHOT_API int64_t heapshot_take_stats(const char *label);

/*
 * Puts a label into the stream of events, where `heapshot dump` shows it.
 * Any thread.  HEAPSHOT_OK or NOT_RECORDING.
 */
HEAPSHOT_API int heapshot_mark(const char *label);

/*
 * Brings all events so far to the output; waits for it, at most one second.
 * Any thread.  HEAPSHOT_OK, NOT_RECORDING or TIMED_OUT.
 */
HEAPSHOT_API int heapshot_flush(void);

/*
 * Writes what the flight recorder (option `ring`) holds to PATH, a recording of
 * its own with header, names and the newest events; an earlier recording of
 * that name becomes PATH.old.  Waits for it, at most 30 seconds.  Any thread.
 * Returns the number of frames written; HEAPSHOT_NOT_RECORDING, BUSY (another
 * one is being written), TIMED_OUT, or REFUSED: no ring, or PATH cannot be written.
 */
HEAPSHOT_API int64_t heapshot_flush_ring(const char *path);

/*
 * Ends the recording and closes the output; waits for a child that writes a
 * snapshot at most 30 seconds, and for a slow reader or a command at most 10.
 * Any thread but in the write callback; after mono_jit_cleanup() too.
 * HEAPSHOT_OK, also when nothing is being recorded.  heapshot_start() may
 * follow, which then is a late start.
 */
HEAPSHOT_API int heapshot_stop(void);

/* 1 while something is being recorded, else 0.  Any thread. */
HEAPSHOT_API int heapshot_is_recording(void);

/*
 * One line about the last failure on this thread's behalf; "" when there was
 * none.  It belongs to heapshot and stays until the next failure.
 */
HEAPSHOT_API const char *heapshot_error(void);

/*
 * What the runtime calls for --profile=heapshot:OPTIONS; DESC is all behind
 * the equals sign.  A program that links heapshot statically may call it
 * instead of mono_profiler_load().
 */
HEAPSHOT_API void mono_profiler_init_heapshot(const char *desc);

#ifdef __cplusplus
}
#endif

#endif
