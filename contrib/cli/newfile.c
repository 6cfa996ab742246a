/* SPDX-License-Identifier: MIT */
/*
 * Written beside its target under a name of its own, and renamed.  A signal that
 * ends the command takes the unfinished file away.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/cli/newfile.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static const char *volatile unfinished;

static void give_up(int number)
{
	const char *path = unfinished;

	if (path != NULL)
		unlink(path);
	signal(number, SIG_DFL);
	raise(number);
}

static void watch_signals(void)
{
	struct sigaction action = {.sa_handler = give_up};
	struct sigaction old;
	size_t i;

	sigemptyset(&action.sa_mask);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		/* What nohup had ignored stays so. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

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

int newfile_open(struct newfile *file, const struct cli_command *command,
		 const struct cli_arguments *arguments)
{
	static const char suffix[] = ".XXXXXX";
	int status, error;

	*file = (struct newfile){
		.path = arguments->output,
		.fd = -1,
		.is_overwrite = arguments->is_overwrite,
	};
	if (file->path == NULL || *file->path == '\0')
		return cli_usage(command, "--output=FILE is missing");
	if (strcmp(file->path, "-") == 0) {
		if (arguments->is_json)
			return cli_usage(command,
					 "--json and --output=- both want standard output");
		if (isatty(STDOUT_FILENO))
			return cli_usage(command, "standard output is a terminal; give a file");
		file->is_standard_output = true;
		file->fd = STDOUT_FILENO;
		return CLI_OK;
	}
	status = look(file);
	if (status != CLI_OK)
		return status;
	file->temporary = malloc(strlen(file->target) + sizeof(suffix));
	error = ENOMEM;
	if (file->temporary != NULL) {
		strcpy(stpcpy(file->temporary, file->target), suffix);
		file->fd = mkostemp(file->temporary, O_CLOEXEC);
		error = errno;
	}
	if (file->fd < 0) {
		free(file->temporary);
		free(file->target);
		return say(file, error);
	}
	unfinished = file->temporary;
	watch_signals();
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
	unfinished = NULL;
	if (error == EEXIST)
		status = refuse(file);
	else if (error != 0)
		status = say(file, error);
	free(file->temporary);
	free(file->target);
	return status;
}
