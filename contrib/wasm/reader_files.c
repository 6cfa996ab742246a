/* SPDX-License-Identifier: MIT */
/*
 * In place of contrib/cli/newfile.c and progress.c: what is written goes to JavaScript, and so
 * does how far reading and writing came.
 */
#include "contrib/cli/newfile.h"
#include "contrib/cli/recording.h"
#include "contrib/wasm/reader_host.h"

int newfile_open(struct newfile *file, const struct cli_command *command,
		 const struct cli_arguments *arguments)
{
	(void)command;
	*file = (struct newfile){.path = arguments->output, .fd = -1, .is_standard_output = true};
	return CLI_OK;
}

int newfile_write(struct newfile *file, const void *data, size_t size)
{
	if (size != 0 && !host_take(data, (uint32_t)size)) {
		cli_message("the browser has no room for what is written");
		return CLI_IO;
	}
	file->bytes += size;
	return CLI_OK;
}

int newfile_close(struct newfile *file, int status)
{
	(void)file;
	return status;
}

static void show_reading(void *user_data, uint64_t done_bytes, uint64_t all_bytes)
{
	(void)user_data;
	host_progress(true, (double)done_bytes, (double)all_bytes);
}

static void show_writing(uint64_t done, uint64_t all)
{
	host_progress(false, (double)done, (double)all);
}

void progress_start(struct heapshot_reader *reader)
{
	heapshot_reader_set_progress(reader, show_reading, NULL);
}

progress_function *progress_writing(void)
{
	return show_writing;
}

void progress_stop(void)
{
}
