/* SPDX-License-Identifier: MIT */
/*
 * The module as the runtime loads it: --profile=heapshot:OPTIONS.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mono/metadata/appdomain.h>
#include <mono/metadata/class.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/profiler.h>

#include "profiler/classes.h"
#include "profiler/control.h"
#include "profiler/counters.h"
#include "profiler/events.h"
#include "profiler/fork.h"
#include "profiler/gc.h"
#include "profiler/heapshot.h"
#include "profiler/late.h"
#include "profiler/message.h"
#include "profiler/methods.h"
#include "profiler/module.h"
#include "profiler/request.h"
#include "profiler/seen.h"
#include "profiler/service.h"
#include "profiler/sweep.h"

/* Statuses of a process that is ended before managed code. */
enum { STATUS_HELP = 0, STATUS_STRICT = 2 };

struct _MonoProfiler {
	MonoProfilerHandle handle;
};

static struct _MonoProfiler profiler;

bool hs_is_collector_supported(void)
{
	/* SGen has two generations; Boehm has one, and its heap cannot be walked. */
	return mono_gc_max_generation() == 1;
}

static void runtime_initialized(MonoProfiler *unused)
{
	(void)unused;
	hs_sweep_restore_environment();
	if (!hs_is_recording())
		return;
	atomic_store(&hs_recorder.phase, HS_PHASE_RUNNING);
	hs_classes_runtime_initialized();
	hs_signals_install();
	hs_wake(hs_recorder.wake_control);
}

static void shutdown_begin(MonoProfiler *unused)
{
	(void)unused;
	hs_gc_shutdown();
	hs_counters_silence();
}

static void shutdown_end(MonoProfiler *unused)
{
	(void)unused;
	hs_recorder_end(HEAPSHOT__END_REASON__END_REASON_SHUTDOWN);
}

static _Atomic int is_oom_taken;

static bool is_oom(MonoObject *exception)
{
	MonoClass *klass = exception ? mono_object_get_class(exception) : NULL;

	return klass && strcmp(mono_class_get_name(klass), "OutOfMemoryException") == 0 &&
	       strcmp(mono_class_get_namespace(klass), "System") == 0;
}

static void exception_thrown(MonoProfiler *unused, MonoObject *exception)
{
	(void)unused;
	/* Once: a program that runs into its limit does so again and again. */
	if (!hs_is_recording() || atomic_load(&hs_recorder.phase) != HS_PHASE_RUNNING ||
	    !is_oom(exception) || atomic_exchange(&is_oom_taken, 1))
		return;
	hs_service_make_room();
	hs_request_post(HS_TRIGGER_OOM);
	hs_gc_collect();
}

static void install(void)
{
	/* A handle cannot be given back: a later recording uses it again. */
	if (!profiler.handle)
		profiler.handle = mono_profiler_create(&profiler);
	hs_seen_clear();
	hs_late_clear();
	atomic_store(&is_oom_taken, 0);
	hs_classes_install(profiler.handle);
	hs_events_install(profiler.handle);
	hs_gc_install(profiler.handle);
	hs_methods_install(profiler.handle);
	mono_profiler_set_exception_throw_callback(
		profiler.handle, hs_recorder.options.when & HS_WHEN_OOM ? exception_thrown : NULL);
	mono_profiler_set_runtime_initialized_callback(profiler.handle, runtime_initialized);
	mono_profiler_set_runtime_shutdown_begin_callback(profiler.handle, shutdown_begin);
	mono_profiler_set_runtime_shutdown_end_callback(profiler.handle, shutdown_end);
}

enum hs_start_result hs_module_start(const struct hs_start *start, char *message, size_t size,
				     bool *is_strict)
{
	enum hs_start_result result;

	hs_message_init();
	result = hs_recorder_start(start, message, size, is_strict);
	if (result != HS_START_OK)
		return result;
	hs_fork_prepare(start->is_late);
	hs_counters_install();
	install();
	hs_recorder_begin();
	if (start->is_late)
		hs_events_tell_present();
	hs_signals_install();
	if (!hs_recorder.options.quiet)
		hs_message("recording to %s", hs_recorder.output);
	return result;
}

static void print_help(void)
{
	char text[8192];
	size_t length = hs_options_help(text, sizeof text);
	ssize_t ignored =
		write(STDOUT_FILENO, text, length < sizeof text ? length : sizeof text - 1);

	(void)ignored;
}

void mono_profiler_init_heapshot(const char *desc)
{
	const char *options = desc ? strchr(desc, ':') : NULL;
	struct hs_start start = {.options = options ? options + 1 : NULL,
				 .is_late = mono_get_root_domain() != NULL};
	char message[512] = "";
	bool is_strict = false;

	hs_message_init();
	if (!hs_is_collector_supported()) {
		hs_message(
			"this runtime's collector cannot be walked; run the program with mono-sgen. "
			"Nothing is recorded");
		return;
	}
	switch (hs_module_start(&start, message, sizeof message, &is_strict)) {
	case HS_START_HELP:
		print_help();
		_exit(STATUS_HELP);
	case HS_START_REFUSED:
		hs_message("%s. %s", message,
			   is_strict ? "The program is not started" : "Nothing is recorded");
		if (is_strict)
			_exit(STATUS_STRICT);
		break;
	case HS_START_OK:
		break;
	}
}
