/* SPDX-License-Identifier: MIT */
/*
 * Sinks without a descriptor: the host's callback, and nowhere (for
 * benchmarks).  Both take all they are given.
 */
#include "emit/sink.h"

#include <errno.h>

static ssize_t callback_write(struct hs_sink *sink, const void *data, size_t size)
{
	int error = sink->callback(data, size, sink->user_data);

	if (error == 0)
		return (ssize_t)size;
	/* A callback that returns its own positive number still means "no". */
	return error < 0 ? error : -EIO;
}

static ssize_t null_write(struct hs_sink *sink, const void *data, size_t size)
{
	(void)sink;
	(void)data;
	return (ssize_t)size;
}

static int no_wait(struct hs_sink *sink, uint64_t timeout_ns)
{
	(void)sink;
	(void)timeout_ns;
	return 0;
}

static int no_close(struct hs_sink *sink, uint64_t timeout_ns)
{
	(void)sink;
	(void)timeout_ns;
	return 0;
}

static const struct hs_sink_ops callback_ops = {
	.name = "callback",
	.write = callback_write,
	.wait = no_wait,
	.close = no_close,
};

static const struct hs_sink_ops null_ops = {
	.name = "null",
	.write = null_write,
	.wait = no_wait,
	.close = no_close,
};

void hs_sink_open_callback(struct hs_sink *sink, hs_sink_callback *callback, void *user_data)
{
	*sink = (struct hs_sink){
		.ops = &callback_ops,
		.fd = -1,
		.status_fd = -1,
		.command_status = -1,
		.callback = callback,
		.user_data = user_data,
	};
}

void hs_sink_open_null(struct hs_sink *sink)
{
	*sink = (struct hs_sink){
		.ops = &null_ops,
		.fd = -1,
		.status_fd = -1,
		.command_status = -1,
	};
}
