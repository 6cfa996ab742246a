/* SPDX-License-Identifier: MIT */
/*
 * What went wrong: the list of issues, the sentence for people, and the texts
 * of results.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "contrib/reader/reader.h"

const char *heapshot_read_result_text(enum heapshot_read_result result)
{
	switch (result) {
	case HEAPSHOT_READ_OK:
		return "ok";
	case HEAPSHOT_READ_END:
		return "end";
	case HEAPSHOT_READ_TRUNCATED:
		return "truncated";
	case HEAPSHOT_READ_DAMAGED:
		return "damaged";
	case HEAPSHOT_READ_NOT_RECORDING:
		return "not a heapshot recording";
	case HEAPSHOT_READ_WRONG_VERSION:
		return "format version not supported";
	case HEAPSHOT_READ_IO:
		return "input error";
	case HEAPSHOT_READ_MEMORY:
		return "not enough memory";
	case HEAPSHOT_READ_NOT_FOUND:
		return "not found";
	case HEAPSHOT_READ_INCOMPLETE:
		return "incomplete";
	case HEAPSHOT_READ_MISUSE:
		return "wrong use of the library";
	}
	return "unknown result";
}

enum heapshot_read_result hs_fail(struct heapshot_reader *reader, enum heapshot_read_result result,
				  const char *format, ...)
{
	va_list arguments;

	reader->saved_errno = 0;
	va_start(arguments, format);
	vsnprintf(reader->error, sizeof(reader->error), format, arguments);
	va_end(arguments);
	return result;
}

enum heapshot_read_result hs_fail_memory(struct heapshot_reader *reader)
{
	return hs_fail(reader, HEAPSHOT_READ_MEMORY,
		       "needs more memory than the limit of %zu MiB allows",
		       reader->memory.limit >> 20);
}

enum heapshot_read_result hs_fail_io(struct heapshot_reader *reader, int error)
{
	hs_fail(reader, HEAPSHOT_READ_IO, "%s", strerror(error));
	reader->saved_errno = error;
	return HEAPSHOT_READ_IO;
}

void hs_issue(struct heapshot_reader *reader, const struct heapshot_issue *issue)
{
	size_t i;

	for (i = 0; i < reader->n_issues; i++)
		if (reader->issues[i].kind == issue->kind &&
		    reader->issues[i].offset == issue->offset)
			return;
	reader->n_issues_met++;
	if (reader->n_issues < HEAPSHOT_ISSUES_MAX) {
		reader->issues[reader->n_issues] = *issue;
		if (issue->detail == NULL)
			reader->issues[reader->n_issues].detail = "";
		reader->n_issues++;
	}
}

const struct heapshot_issue *heapshot_reader_issues(const struct heapshot_reader *reader,
						    size_t *n_kept, uint64_t *n_met)
{
	*n_kept = reader->n_issues;
	if (n_met != NULL)
		*n_met = reader->n_issues_met;
	return reader->issues;
}

const char *heapshot_reader_error(const struct heapshot_reader *reader)
{
	return reader->error;
}

int heapshot_reader_errno(const struct heapshot_reader *reader)
{
	return reader->saved_errno;
}
