/* SPDX-License-Identifier: MIT */
/*
 * Written beside its target under a name of its own, and renamed.  A signal that
 * ends the command takes the unfinished file away.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/cli/newfile.h"
#include "contrib/cli/unfinished.h"

static int say(const struct newfile *file, int error)
{
	cli_message("cannot write %s: %s", file->is_standard_output ? "the output" : file->path,
		    strerror(error));
	return CLI_IO;
}

static int refuse(const struct newfile *file)
{
	cli_message("%s exists; give another --output, or --overwrite", file->path);
	return CLI_IO;
}

/* Where the file goes, and whether something is there already. */
static int look(struct newfile *file)
{
	struct stat st;

	if (stat(file->path, &st) == 0) {
		if (!S_ISREG(st.st_mode)) {
			cli_message("%s is no regular file; --output=- writes to standard output",
				    file->path);
			return CLI_IO;
		}
		if (!file->is_overwrite)
			return refuse(file);
		file->target = realpath(file->path, NULL);
	} else if (errno == ENOENT) {
		file->target = strdup(file->path);
	}
	return file->target != NULL ? CLI_OK : say(file, errno);
}

/* Makes the file beside its target, by a name of its own; 0 or an errno value. */
static int make_temporary(struct newfile *file)
{
	static const char suffix[] = ".XXXXXX";
	const char *slash = strrchr(file->target, '/');
	const size_t folder = slash != NULL ? (size_t)(slash - file->target) + 1 : 0;
	const char *name = file->target + folder;
	int error;

	/* A name as long as the system allows has no room for more. */
	if (1 + strlen(name) + sizeof(suffix) > NAME_MAX)
		name = "heapshot";
	file->temporary = malloc(folder + 1 + strlen(name) + sizeof(suffix));
	if (file->temporary == NULL)
		return ENOMEM;
	sprintf(file->temporary, "%.*s%s%s%s", (int)folder, file->target,
		file->is_hidden ? "." : "", name, suffix);
	unfinished_hold(true);
	file->fd = mkostemp(file->temporary, O_CLOEXEC);
	error = file->fd >= 0 ? 0 : errno;
	if (error == 0)
		unfinished_add(file->temporary);
	unfinished_hold(false);
	return error;
}

int newfile_begin(struct newfile *file)
{
	int status, error;

	file->fd = -1;
	status = look(file);
	if (status != CLI_OK)
		return status;
	error = make_temporary(file);
	if (error == 0)
		return CLI_OK;
	free(file->temporary);
	free(file->target);
	return say(file, error);
}

int newfile_open(struct newfile *file, const struct cli_command *command,
		 const struct cli_arguments *arguments)
{
	*file = (struct newfile){
		.path = arguments->output,
		.is_overwrite = arguments->is_overwrite,
	};
	if (file->path == NULL || *file->path == '\0')
		return cli_usage(command, "--output=FILE is missing");
	if (strcmp(file->path, "-") != 0)
		return newfile_begin(file);
	if (arguments->is_json)
		return cli_usage(command, "--json and --output=- both want standard output");
	if (isatty(STDOUT_FILENO))
		return cli_usage(command, "standard output is a terminal; give a file");
	file->is_standard_output = true;
	file->fd = STDOUT_FILENO;
	return CLI_OK;
}

int newfile_write(struct newfile *file, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		const ssize_t n = write(file->fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return say(file, errno);
		at += n;
		size -= (size_t)n;
		file->bytes += (uint64_t)n;
	}
	return CLI_OK;
}

/* Moves the file to its place; 0 or an errno value. */
static int give_name(const struct newfile *file)
{
	if (file->is_overwrite)
		return rename(file->temporary, file->target) == 0 ? 0 : errno;
	if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->target, RENAME_NOREPLACE) == 0)
		return 0;
	/* Not every file system knows that; a link does not replace anything either. */
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (link(file->temporary, file->target) != 0)
		return errno;
	unlink(file->temporary);
	return 0;
}

int newfile_close(struct newfile *file, int status)
{
	int error = 0;

	if (file->is_standard_output)
		return status;
	if (close(file->fd) != 0 && status == CLI_OK)
		error = errno;
	if (error == 0 && status == CLI_OK)
		error = give_name(file);
	if (error != 0 || status != CLI_OK)
		unlink(file->temporary);
	unfinished_drop(file->temporary);
	if (error == EEXIST)
		status = refuse(file);
	else if (error != 0)
		status = say(file, error);
	free(file->temporary);
	free(file->target);
	return status;
}
