/* SPDX-License-Identifier: MIT */
/*
 * The output in wasm: frames go to a function of JavaScript.
 *
 * The contract, for those who write one.  `Module.heapshot.write`, a function, is
 * called with one Uint8Array each time: a whole frame with its tag, in order;
 * joined they are the recording.  The array is a copy outside of linear memory:
 * it is the function's own, and stays whole when that memory grows.  Where no such
 * function is set yet, frames wait in the array `Module.heapshot.waiting`, and are
 * given to it, oldest first, before the next one.
 *
 * It is called while the program runs, and, for the frames of a snapshot, in the
 * middle of a collection: it must not call into the runtime, nor any function of
 * heapshot, and has to return before anything else can happen.  Where it throws,
 * the frame is taken for refused: a snapshot under way is given up, one line says
 * so on the console, and the same frame comes first when something is written
 * again, so that the recording goes on whole.
 */
#include "config.h"

#include <emscripten.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profiler/message.h"
#include "profiler/options.h"
#include "profiler/output.h"
#include "profiler/wasm.h"

/* clang-format off */
EM_JS(int, hs_js_write, (const void *data, size_t size), {
	/* Apart from Module.heapshot, which is the page's: it may be frozen, and reading it may throw. */
	const state = Module["heapshotOutput"] || (Module["heapshotOutput"] = {});
	try {
		const heapshot = Module["heapshot"] || (Module["heapshot"] = {});
		const chunk = HEAPU8.slice(data >>> 0, (data >>> 0) + size);
		if (typeof heapshot["write"] === "function") {
			const waiting = heapshot["waiting"] || [];
			while (waiting.length) {
				heapshot["write"](waiting[0]);
				waiting.shift();
			}
			heapshot["write"](chunk);
		} else {
			(heapshot["waiting"] || (heapshot["waiting"] = [])).push(chunk);
		}
	} catch (error) {
		/* Once, until it takes one again. */
		if (state.failure === undefined) {
			let text = "an error without a text";
			try {
				text = String(error).replace(/[^ -~]+/g, " ").slice(0, 200);
			} catch {
				/* Nothing of it may get through the collection. */
			}
			state.failure = text;
		}
		return 0;
	}
	delete state.failure;
	delete state.isSaid;
	return 1;
});

EM_JS(int, hs_js_failure, (char *text, size_t size), {
	const state = Module["heapshotOutput"];
	if (!state || state.failure === undefined || state.isSaid)
		return 0;
	state.isSaid = true;
	stringToUTF8Array(state.failure, HEAPU8, text, size);
	return 1;
});
/* clang-format on */

static ssize_t js_write(struct hs_sink *sink, const void *data, size_t size)
{
	(void)sink;
	return hs_js_write(data, size) ? (ssize_t)size : 0;
}

/* Nothing changes until we have returned to JavaScript. */
static int no_wait(struct hs_sink *sink, uint64_t timeout_ns)
{
	(void)sink;
	(void)timeout_ns;
	return -ETIMEDOUT;
}

static int no_close(struct hs_sink *sink, uint64_t timeout_ns)
{
	(void)sink;
	(void)timeout_ns;
	return 0;
}

static const struct hs_sink_ops js_ops = {
	.name = "javascript",
	.write = js_write,
	.wait = no_wait,
	.close = no_close,
};

static uint64_t n_said;

void hs_output_say(void)
{
	char text[256];

	if (!hs_js_failure(text, sizeof text))
		return;
	hs_message("Module.heapshot.write threw %s; a snapshot that this interrupts is given up, "
		   "and what was not taken will be offered again",
		   text);
	n_said++;
}

uint64_t hs_output_n_said(void)
{
	return n_said;
}

bool hs_output_open(struct hs_sink *sink, const char *text, bool overwrite, char *used,
		    size_t used_bytes, char *message, size_t message_bytes)
{
	static struct hs_options initial;

	(void)overwrite;
	hs_options_init(&initial);
	if (strcmp(text, initial.output) != 0) {
		snprintf(message, message_bytes,
			 "option 'output' names a file or a command, and here are none: what is "
			 "recorded goes to Module.heapshot.write");
		return false;
	}
	*sink = (struct hs_sink){
		.ops = &js_ops,
		.fd = -1,
		.status_fd = -1,
		.command_status = -1,
	};
	n_said = 0;
	snprintf(used, used_bytes, "Module.heapshot.write");
	return true;
}

void hs_output_undo(const char *used)
{
	(void)used;
}
