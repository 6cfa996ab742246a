/* SPDX-License-Identifier: MIT */
/*
 * What all sinks share: the loop against short writes and the deadline, and the
 * first error that stays.
 */
#include "emit/sink.h"

#include <errno.h>

#include "emit/clock.h"

static ssize_t closed_write(struct hs_sink *sink, const void *data, size_t size)
{
	(void)sink;
	(void)data;
	(void)size;
	return -EBADF;
}

static int closed_wait(struct hs_sink *sink, uint64_t timeout_ns)
{
	(void)sink;
	(void)timeout_ns;
	return -EBADF;
}

static int closed_close(struct hs_sink *sink, uint64_t timeout_ns)
{
	(void)sink;
	(void)timeout_ns;
	return 0;
}

static const struct hs_sink_ops closed_ops = {
	.name = "closed",
	.write = closed_write,
	.wait = closed_wait,
	.close = closed_close,
};

/* Time until DEADLINE_NS, 0 when it has passed. */
static uint64_t time_left(uint64_t deadline_ns)
{
	uint64_t now_ns;

	if (deadline_ns == 0)
		return 0;
	now_ns = hs_monotonic_ns();
	return deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

/* Writes until all is taken, the deadline has passed, or an error. */
static ssize_t write_all(struct hs_sink *sink, const uint8_t *data, size_t size,
			 uint64_t deadline_ns)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = sink->ops->write(sink, data + done, size - done);
		uint64_t left_ns;
		int error;

		if (n < 0)
			return n;
		done += (size_t)n;
		sink->bytes += (uint64_t)n;
		if (n > 0)
			continue;
		left_ns = time_left(deadline_ns);
		if (left_ns == 0)
			break;
		error = sink->ops->wait(sink, left_ns);
		if (error == -ETIMEDOUT)
			break;
		if (error != 0)
			return error;
	}
	return (ssize_t)done;
}

ssize_t hs_sink_write(struct hs_sink *sink, const void *data, size_t size, uint64_t deadline_ns)
{
	const int saved_errno = errno;
	ssize_t n = sink->error;

	if (n == 0) {
		n = write_all(sink, data, size, deadline_ns);
		if (n < 0)
			sink->error = (int)n;
	}
	errno = saved_errno;
	return n;
}

int hs_sink_close(struct hs_sink *sink, uint64_t timeout_ns)
{
	const int saved_errno = errno;
	int error = sink->ops->close(sink, timeout_ns);

	sink->ops = &closed_ops;
	if (sink->error == 0)
		sink->error = error;
	errno = saved_errno;
	return sink->error;
}

void hs_sink_forget(struct hs_sink *sink)
{
	if (sink->ops->forget != NULL)
		sink->ops->forget(sink);
	sink->ops = &closed_ops;
}
