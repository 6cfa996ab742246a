/* SPDX-License-Identifier: MIT */
/*
 * A program that embeds Mono and records its own heap.
 *
 *     mcs Game.cs
 *     cc embed.c -o embed $(pkg-config --cflags --libs mono-2 heapshot)
 *     ./embed Game.exe game.hs
 *     heapshot list game.hs
 *     heapshot top game.hs
 *
 * By default heapshot writes the file itself.  With a third argument the
 * recording comes to a function of ours, piece by piece, which here does
 * nothing but write it to a descriptor; it could as well send it elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>

#include <heapshot.h>

/*
 * Called while the world may be stopped: no malloc, no stdio, no call into the
 * runtime.  write(2) is fine.
 */
static int write_piece(const void *data, size_t size, void *user_data)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(*(int *)user_data, at, size);
		if (n < 0 && errno != EINTR)
			return -errno; /* ends the recording; the program goes on */
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

static void die(const char *what)
{
	fprintf(stderr, "embed: %s\n", what);
	exit(1);
}

/* A snapshot under LABEL; a program should not fail because it cannot be observed. */
static void take(const char *label)
{
	int64_t id = heapshot_take(label);

	if (id > 0)
		printf("snapshot %lld: %s\n", (long long)id, label);
	else
		fprintf(stderr, "embed: no snapshot: %s\n", heapshot_error());
}

int main(int argc, char **argv)
{
	struct heapshot_start start = {.size = sizeof start};
	char options[4096 + 64];
	MonoDomain *domain;
	MonoAssembly *assembly;
	MonoMethodDesc *desc;
	MonoMethod *play;
	void *args[1];
	int fd = -1, count = 1000;

	if (argc < 3)
		die("usage: embed GAME.exe RECORDING [callback]");

	/* Before mono_jit_init(), so that nothing is missed. */
	if (argc > 3) {
		fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0)
			die("cannot open the recording");
		start.write = write_piece;
		start.user_data = &fd;
		start.options = "snapshot=none,quiet";
	} else {
		/* A comma in the name would have to be written as "\,". */
		snprintf(options, sizeof options, "output=%s,snapshot=none,quiet", argv[2]);
		start.options = options;
	}
	if (heapshot_start(&start) < 0)
		fprintf(stderr, "embed: not recorded: %s\n", heapshot_error());

	domain = mono_jit_init("embed");
	assembly = mono_domain_assembly_open(domain, argv[1]);
	if (!assembly)
		die("cannot load the game");
	desc = mono_method_desc_new("Game:Play(int)", 0);
	play = mono_method_desc_search_in_image(desc, mono_assembly_get_image(assembly));
	mono_method_desc_free(desc);
	if (!play)
		die("there is no Game.Play(int)");

	args[0] = &count;
	mono_runtime_invoke(play, NULL, args, NULL);
	take("level 1");
	heapshot_mark("the player opens the door");
	mono_runtime_invoke(play, NULL, args, NULL);
	take("level 2");

	heapshot_stop();
	if (fd >= 0)
		close(fd);
	mono_jit_cleanup(domain);
	return 0;
}
