/* SPDX-License-Identifier: MIT */
/*
 * heapmeasure OUT COMMAND...: runs COMMAND and writes a line to OUT: its exit
 * status, processor time of its user and system parts and wall time in seconds,
 * and its peak of resident memory in bytes.
 *
 * A program of its own because the kernel counts the memory of the process that
 * called exec as that of the new program: this one is small.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct rusage usage;
	int status;
	pid_t child;
	FILE *out;

	if (argc < 3 || (out = fopen(argv[1], "we")) == NULL) {
		fprintf(stderr, "usage: heapmeasure OUT COMMAND...\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
		perror("heapmeasure");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	fprintf(out, "%d %.6f %.6f %.6f %ld\n",
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		seconds(usage.ru_utime), seconds(usage.ru_stime),
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9,
		usage.ru_maxrss * 1024);
	return fclose(out) != 0;
}
