/* SPDX-License-Identifier: MIT */
/*
 * New files in a folder, each by newfile.c.  Folders that were made for them go
 * again when the files do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/cli/newfolder.h"
#include "contrib/cli/unfinished.h"

static int say(const char *path, int error)
{
	cli_message("cannot write %s: %s", path, strerror(error));
	return CLI_IO;
}

/* Makes the folder PATH, which is copied, if it is not there; 0 or an errno value. */
static int make(struct newfolder *folder, const char *path)
{
	const bool is_full = folder->n_made == sizeof(folder->made) / sizeof(*folder->made);
	char *copy = is_full ? NULL : strdup(path);
	int error;

	if (copy == NULL)
		return ENOMEM;
	unfinished_hold(true);
	error = mkdir(path, 0777) == 0 ? 0 : errno;
	if (error == 0) {
		folder->made[folder->n_made++] = copy;
		unfinished_add(copy);
	}
	unfinished_hold(false);
	if (error == 0)
		return 0;
	free(copy);
	return error == EEXIST ? 0 : error;
}

int newfolder_open(struct newfolder *folder, const struct cli_command *command,
		   const struct cli_arguments *arguments)
{
	struct stat st;
	int error;

	*folder = (struct newfolder){
		.path = arguments->output,
		.is_overwrite = arguments->is_overwrite,
	};
	if (folder->path == NULL || *folder->path == '\0')
		return cli_usage(command, "--output=FOLDER is missing");
	error = make(folder, folder->path);
	if (error == 0 && stat(folder->path, &st) != 0)
		error = errno;
	if (error != 0)
		return say(folder->path, error);
	if (S_ISDIR(st.st_mode))
		return CLI_OK;
	cli_message("%s is no folder", folder->path);
	return CLI_IO;
}

struct newfile *newfolder_add(struct newfolder *folder, const char *name)
{
	struct newfile *file = &folder->files[folder->n];
	const size_t length = strlen(folder->path);
	int status = CLI_OK, error = ENOMEM;
	char *path, *slash;

	path = malloc(length + strlen(name) + 2);
	if (path != NULL && folder->n < NEWFOLDER_FILES_MAX) {
		error = 0;
		strcpy(stpcpy(stpcpy(path, folder->path), "/"), name);
		for (slash = path + length + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
			*slash = '\0';
			error = make(folder, path);
			*slash = '/';
			if (error != 0)
				break;
		}
	}
	if (error != 0) {
		say(path != NULL ? path : folder->path, error);
		free(path);
		return NULL;
	}
	*file = (struct newfile){
		.path = path,
		.is_overwrite = folder->is_overwrite,
		.is_hidden = true,
	};
	status = newfile_begin(file);
	if (status != CLI_OK) {
		free(path);
		return NULL;
	}
	folder->n++;
	return file;
}

int newfolder_close(struct newfolder *folder, int status)
{
	size_t i, n_named = 0;

	for (i = 0; i < folder->n; i++) {
		status = newfile_close(&folder->files[i], status);
		if (status == CLI_OK)
			n_named = i + 1;
	}
	if (status != CLI_OK && !folder->is_overwrite)
		for (i = 0; i < n_named; i++)
			unlink(folder->files[i].path);
	for (i = 0; i < folder->n; i++)
		free((char *)folder->files[i].path);
	while (folder->n_made > 0) {
		char *path = folder->made[--folder->n_made];

		if (status != CLI_OK)
			rmdir(path);
		unfinished_drop(path);
		free(path);
	}
	folder->n = 0;
	return status;
}
