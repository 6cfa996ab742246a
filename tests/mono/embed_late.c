/* SPDX-License-Identifier: MIT */
/*
 * The embedding API from all sides: `embed_late CASE Game.exe OUTPUT` runs one
 * case and prints what each call returned, for test_embed.py.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/profiler.h>
#include <mono/metadata/threads.h>

#include <heapshot.h>

static MonoDomain *domain;
static MonoMethod *play;
static const char *output;

static void say(const char *what, long long result)
{
	printf("%s %lld%s%s\n", what, result, result < 0 ? " " : "",
	       result < 0 ? heapshot_error() : "");
	fflush(stdout);
}

static int start(const char *more, heapshot_write *write, void *user_data)
{
	struct heapshot_start start = {sizeof start, NULL, write, user_data};
	char options[4096];

	snprintf(options, sizeof options, "output=%s,quiet,snapshot=none%s%s", output,
		 *more ? "," : "", more);
	start.options = options;
	return heapshot_start(&start);
}

static void boot(const char *exe)
{
	MonoMethodDesc *desc = mono_method_desc_new("Game:Play(int)", 0);
	MonoAssembly *assembly;

	domain = mono_jit_init("embed_late");
	assembly = mono_domain_assembly_open(domain, exe);
	if (!assembly)
		exit(3);
	play = mono_method_desc_search_in_image(desc, mono_assembly_get_image(assembly));
	mono_method_desc_free(desc);
}

static int game(int count)
{
	void *args[] = {&count};
	MonoObject *result = mono_runtime_invoke(play, NULL, args, NULL);

	return *(int *)mono_object_unbox(result);
}

static void late(const char *exe)
{
	boot(exe);
	game(500);
	say("start", start("", NULL, NULL));
	say("recording", heapshot_is_recording());
	say("second", start("", NULL, NULL));
	say("take", heapshot_take("first"));
	say("flush", heapshot_flush());
	game(500);
	say("take", heapshot_take("second"));
	say("stop", heapshot_stop());
	say("recording", heapshot_is_recording());
	say("take", heapshot_take("third"));
	say("mark", heapshot_mark("third"));
	say("flush", heapshot_flush());
	say("stop", heapshot_stop());
	mono_jit_cleanup(domain);
}

static void *take_unattached(void *label)
{
	say("unattached", heapshot_take(label));
	return NULL;
}

static void threads(const char *exe)
{
	pthread_t thread;

	say("start", start("", NULL, NULL));
	boot(exe);
	game(700);
	pthread_create(&thread, NULL, take_unattached, (void *)(uintptr_t) "from a native thread");
	pthread_join(thread, NULL);
	say("stats", heapshot_take_stats("numbers"));
	say("stop", heapshot_stop());
	mono_jit_cleanup(domain);
}

/* Before the runtime is up; waits until the finalizer thread has come to it. */
static void early(const char *exe)
{
	say("take", heapshot_take("nothing yet"));
	say("start", start("", NULL, NULL));
	say("take", heapshot_take("early"));
	say("take", heapshot_take("early too"));
	boot(exe);
	usleep(1500000);
	game(100);
	mono_jit_cleanup(domain);
	say("take", heapshot_take("too late"));
	say("stop", heapshot_stop());
}

static void *allocate(void *stop)
{
	MonoThread *thread = mono_thread_attach(domain);

	while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE)) {
		mono_string_new(domain, "some garbage");
		mono_gchandle_free(
			mono_gchandle_new((MonoObject *)mono_string_new(domain, "held"), 0));
	}
	mono_thread_detach(thread);
	return NULL;
}

/* Restarted again and again, under threads that never stop. */
static void restart(const char *exe)
{
	static const char *const options[] = {"events=gc+handles+jit", "events=none", "strings=10",
					      "memory=8m,overwrite", "events=moves"};
	pthread_t workers[2];
	int i, stop = 0;

	say("start", start("", NULL, NULL));
	boot(exe);
	for (i = 0; i < 2; i++)
		pthread_create(&workers[i], NULL, allocate, &stop);
	game(50);
	say("take", heapshot_take("0"));
	for (i = 0; i < 20; i++) {
		if (heapshot_stop() < 0 || start(options[i % 5], NULL, NULL) < 0)
			say("restart", -1);
		game(50);
		if (heapshot_take("again") != 1)
			say("take again", -1);
		mono_gc_collect(0);
	}
	say("take", heapshot_take("last"));
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		pthread_join(workers[i], NULL);
	say("stop", heapshot_stop());
	mono_jit_cleanup(domain);
}

/*
 * A daemon closes descriptors that it does not know, and opens its own under their
 * numbers: the next start must not close those.
 */
static void closed(const char *exe)
{
	char link[64], text[64];
	struct stat before[64], after;
	int i, n = 0, n_lost = 0;
	bool is_own[64] = {false};

	say("start", start("control=off", NULL, NULL));
	for (i = 3; i < 64; i++) {
		ssize_t bytes;
		snprintf(link, sizeof link, "/proc/self/fd/%d", i);
		bytes = readlink(link, text, sizeof text - 1);
		text[bytes > 0 ? bytes : 0] = 0;
		if (!strstr(text, "eventfd"))
			continue;
		snprintf(text, sizeof text, "own%d", i);
		close(i);
		is_own[i] = open(text, O_WRONLY | O_CREAT, 0600) == i && fstat(i, &before[i]) == 0;
		n += is_own[i];
	}
	say("own", n);
	boot(exe);
	say("stop", heapshot_stop());
	say("start", start("control=off", NULL, NULL));
	for (i = 3; i < 64; i++)
		if (is_own[i] && (fstat(i, &after) != 0 || after.st_ino != before[i].st_ino))
			n_lost++;
	say("lost", n_lost);
	say("take", heapshot_take("again"));
	say("stop", heapshot_stop());
	mono_jit_cleanup(domain);
}

static int n_open(const char *path)
{
	struct sockaddr_un address;
	int i, n = 0;

	for (i = 3; i < 64; i++) {
		socklen_t size = sizeof address;
		memset(&address, 0, sizeof address);
		if (getsockname(i, (struct sockaddr *)&address, &size) == 0 &&
		    address.sun_family == AF_UNIX && strcmp(address.sun_path, path) == 0)
			n++;
	}
	return n;
}

/* A child that the program forks is not where clients of its parent shall end up. */
static void forked(const char *exe)
{
	int i, status = 0;
	pid_t child;

	say("start", start("control=control.sock", NULL, NULL));
	boot(exe);
	for (i = 0; i < 1000 && n_open("control.sock") == 0; i++)
		usleep(10000);
	say("parent", n_open("control.sock"));
	child = fork();
	if (child == 0)
		_exit(n_open("control.sock"));
	waitpid(child, &status, 0);
	say("child", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	say("there", access("control.sock", F_OK) == 0);
	say("stop", heapshot_stop());
	mono_jit_cleanup(domain);
}

struct sink {
	int n_calls, fails_at;
};

static int refuse(const void *data, size_t size, void *user_data)
{
	struct sink *sink = user_data;

	(void)data;
	(void)size;
	return ++sink->n_calls >= sink->fails_at ? 42 : 0;
}

/* A callback that says no ends the recording, not the program; another may begin. */
static void failing(const char *exe)
{
	struct sink sink = {0, 3};
	int i;

	say("start", start("", refuse, &sink));
	boot(exe);
	game(100);
	heapshot_take("lost");
	for (i = 0; i < 200 && heapshot_is_recording(); i++)
		usleep(10000);
	say("recording", heapshot_is_recording());
	say("calls", sink.n_calls);
	say("take", heapshot_take("after"));
	say("game", game(100));
	say("start", start("", NULL, NULL));
	say("take", heapshot_take("new"));
	say("stop", heapshot_stop());
	say("calls", sink.n_calls);
	mono_jit_cleanup(domain);
}

/* Takes all but the bodies of snapshots: the tag's kind is its 6th byte, behind 8 of header. */
static int refuse_bodies(const void *data, size_t size, void *user_data)
{
	(void)size;
	(void)user_data;
	return ((const unsigned char *)data)[8 + 5] == 4;
}

/* A snapshot is given up in the middle of its strings; the next one has only its own. */
static void torn(const char *exe)
{
	int i;

	say("start", start("strings=10", refuse_bodies, NULL));
	boot(exe);
	game(200000);
	heapshot_take("torn");
	for (i = 0; i < 200 && heapshot_is_recording(); i++)
		usleep(10000);
	say("recording", heapshot_is_recording());
	say("start", start("strings=10", NULL, NULL));
	say("take", heapshot_take("whole"));
	say("stop", heapshot_stop());
	mono_jit_cleanup(domain);
}

/* Stopped before the shutdown of the runtime could lead to a snapshot. */
static void idle(const char *exe)
{
	say("start", start("snapshot=shutdown", NULL, NULL));
	boot(exe);
	say("stop", heapshot_stop());
	mono_jit_cleanup(domain);
}

/* The flight recorder: written out while it runs, on threads of both sorts. */
static void *flush_unattached(void *path)
{
	say("unattached", heapshot_flush_ring(path) > 0);
	return NULL;
}

static void ring(const char *exe)
{
	char path[4096];
	pthread_t thread;
	int i;

	say("nothing", heapshot_flush_ring("x.hs"));
	say("callback", start("ring=1m", refuse, NULL));
	say("start", start("ring=1m,events=gc+types+moves", NULL, NULL));
	boot(exe);
	for (i = 0; i < 50; i++) {
		game(100);
		snprintf(path, sizeof path, "round %d", i);
		heapshot_mark(path);
		mono_gc_collect(0);
	}
	snprintf(path, sizeof path, "%s.flushed", output);
	say("flush", heapshot_flush());
	say("ring", heapshot_flush_ring(path) > 0);
	pthread_create(&thread, NULL, flush_unattached, path);
	pthread_join(thread, NULL);
	say("none", heapshot_flush_ring(NULL));
	say("folder", heapshot_flush_ring("no/such/folder.hs"));
	say("take", heapshot_take("beside a ring"));
	say("stop", heapshot_stop());
	say("stopped", heapshot_flush_ring(path));
	say("again", start("", NULL, NULL));
	say("without", heapshot_flush_ring(path));
	say("take", heapshot_take("without"));
	say("stop", heapshot_stop());
	mono_jit_cleanup(domain);
}

/* Without the API: by the runtime's own way to load a profiler. */
static void load(const char *exe)
{
	char text[4096];

	snprintf(text, sizeof text, "heapshot:output=%s,quiet", output);
	mono_profiler_load(text);
	boot(exe);
	game(300);
	mono_jit_cleanup(domain);
}

static void mistakes(const char *exe)
{
	struct heapshot_start no_size = {0, "quiet", NULL, NULL};

	say("version",
	    heapshot_version() == (HEAPSHOT_VERSION_MAJOR << 16 | HEAPSHOT_VERSION_MINOR));
	say("null", heapshot_start(NULL));
	say("size", heapshot_start(&no_size));
	say("unknown", start("outptu=x", NULL, NULL));
	say("help", start("help", NULL, NULL));
	say("strict", start("strict,memory=1", NULL, NULL));
	say("take", heapshot_take("x"));
	say("stop", heapshot_stop());
	say("limit", start("max-snapshots=1", NULL, NULL));
	boot(exe);
	say("take", heapshot_take("only"));
	say("take", heapshot_take("one too many"));
	heapshot_stop();
	mono_jit_cleanup(domain);
}

static const struct {
	const char *name;
	void (*run)(const char *exe);
} cases[] = {
	{"late", late},       {"threads", threads}, {"early", early},       {"restart", restart},
	{"failing", failing}, {"load", load},       {"mistakes", mistakes}, {"torn", torn},
	{"idle", idle},       {"ring", ring},       {"closed", closed},     {"forked", forked},
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 4 && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, argv[1]) == 0) {
			output = argv[3];
			cases[i].run(argv[2]);
			printf("done\n");
			return 0;
		}
	return 64;
}
