/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over the files and folders that are given, without a
 * fuzzer: a crash or a failed check ends it by a signal, behind the name of the
 * file that was run last.  Prints how many there were.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

static size_t n_run;

static void fail(const char *path)
{
	dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
	exit(1);
}

static void run_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size ? size : 1);

	if (!file || !data || fread(data, 1, size, file) != size)
		fail(path);
	fclose(file);
	dprintf(STDERR_FILENO, "%s\n", path);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	n_run++;
}

static void run(const char *path)
{
	struct dirent *entry;
	struct stat status;
	char inner[4096];
	DIR *folder;

	if (stat(path, &status) < 0)
		fail(path);
	if (!S_ISDIR(status.st_mode)) {
		run_file(path, (size_t)status.st_size);
		return;
	}
	folder = opendir(path);
	if (!folder)
		fail(path);
	while ((entry = readdir(folder)))
		if (*entry->d_name != '.' &&
		    snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < (int)sizeof inner)
			run(inner);
	closedir(folder);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	dprintf(STDERR_FILENO, "%zu inputs\n", n_run);
	return n_run ? 0 : 1;
}
