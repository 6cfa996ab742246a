/* SPDX-License-Identifier: MIT */
/*
 * Requests while a snapshot runs: `embed_queue CASE Game.exe OUTPUT`.  The
 * callback asks twice by signal in the middle of the first snapshot, and waits
 * until the recorder's thread has heard each; then one more snapshot follows.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>

#include <heapshot.h>

/* Kinds of frames, the 6th byte of a tag, behind 8 of its own header. */
#define KIND_AT       (8 + 5)
#define KIND_BODY     4
#define KIND_END      5
#define DESCRIPTORS   64
#define STEP_US       1000
#define PATIENCE_STEP 20000

static int file;
static atomic_int n_ended, n_asked;

/* No event descriptor waits to be read.  The world is stopped: system calls only. */
static int is_all_heard(void)
{
	static const char word[] = "eventfd-count:";
	char path[64], text[256], *at;
	ssize_t n;
	int i, info;

	for (i = 0; i < DESCRIPTORS; i++) {
		snprintf(path, sizeof path, "/proc/self/fdinfo/%d", i);
		info = open(path, O_RDONLY | O_CLOEXEC);
		if (info < 0)
			continue;
		n = read(info, text, sizeof text - 1);
		close(info);
		text[n > 0 ? n : 0] = 0;
		at = strstr(text, word);
		if (at && strtoull(at + strlen(word), NULL, 16) != 0)
			return 0;
	}
	return 1;
}

static void ask_and_wait(void)
{
	int i;

	kill(getpid(), SIGUSR2);
	for (i = 0; i < PATIENCE_STEP && !is_all_heard(); i++)
		usleep(STEP_US);
	/* It was read; what follows takes some instructions. */
	usleep(20 * STEP_US);
	atomic_fetch_add(&n_asked, 1);
}

static int take_frame(const void *data, size_t size, void *user_data)
{
	const unsigned char kind = ((const unsigned char *)data)[KIND_AT];

	(void)user_data;
	if (kind == KIND_BODY && atomic_load(&n_ended) == 0)
		while (atomic_load(&n_asked) < 2)
			ask_and_wait();
	if (write(file, data, size) != (ssize_t)size)
		return 1;
	if (kind == KIND_END)
		atomic_fetch_add(&n_ended, 1);
	return 0;
}

static void wait_for_snapshots(int n)
{
	int i;

	for (i = 0; i < PATIENCE_STEP && atomic_load(&n_ended) < n; i++)
		usleep(STEP_US);
	printf("ended %d\n", atomic_load(&n_ended));
}

int main(int argc, char **argv)
{
	struct heapshot_start start = {sizeof start, "snapshot=none,signal=USR2,control=off,quiet",
				       take_frame, NULL};
	MonoDomain *domain;

	if (argc != 4)
		return 64;
	file = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	printf("start %d\n", heapshot_start(&start));
	domain = mono_jit_init("embed_queue");
	if (!mono_domain_assembly_open(domain, argv[2]))
		return 3;
	kill(getpid(), SIGUSR2);
	wait_for_snapshots(2);
	printf("asked %d\n", atomic_load(&n_asked));
	/* Whatever still waited would be older than this, and come before it. */
	printf("take %lld\n", (long long)heapshot_take("last"));
	printf("stop %d\n", heapshot_stop());
	mono_jit_cleanup(domain);
	printf("done\n");
	return 0;
}
