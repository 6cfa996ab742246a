/* SPDX-License-Identifier: MIT */
/*
 * A profiler module that measures the others in its process.
 *
 *     mono --profile=heapprobe:heapshot --profile=heapshot:... --profile=heapprobe:front program.exe
 *
 * The runtime calls modules in the reverse order of their loading.  So the
 * probe called `front` comes first: with the world stopped it makes the walks
 * to compare with, and notes the time.  Each other probe stands behind the
 * module whose name it has, and measures what passed since the probe before: with
 * the world stopped ("NAME"), when it runs again ("NAME after"), and on threads that
 * came with that module, from the one to the other ("NAME threads": CPU time only).
 *
 * Results are lines of JSON in the file that HEAPPROBE_FILE names.  Walks are
 * made once the file HEAPPROBE_GO exists (unset: always), and never with
 * HEAPPROBE_WALKS=0; with HEAPPROBE_EVENTS=1 the callbacks of all events that
 * the recorder listens to are timed as well.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <mono/metadata/mono-gc.h>
#include <mono/metadata/profiler.h>

#include "contrib/bench/probe.h"
#include "contrib/bench/walks.h"

#define PROBES_MAX  8
#define THREADS_MAX 64

static struct _MonoProfiler probes[PROBES_MAX];
static unsigned n_probes;
static FILE *out;
static char go_path[4096];
static bool is_walking, is_ending, had_start, is_collecting;
static struct moment before;
static uint64_t threads_before_ns[PROBES_MAX];
static unsigned n_stops;

/* What one stop gives; written before the next. */
static struct {
	const char *name;
	struct moment took;
} results[32];
static unsigned n_results;
static uint64_t n_objects, n_references, asked_bytes, encoded_bytes;

static void keep_moment(const char *name, struct moment took)
{
	if (n_results < sizeof results / sizeof *results) {
		results[n_results].name = name;
		results[n_results++].took = took;
	}
}

static void keep(const char *name, struct moment since)
{
	keep_moment(name, moment_since(since));
}

static void keep_walk(const char *name, void (*walk)(void))
{
	const struct moment since = moment_now();

	walk();
	keep(name, since);
}

static void encode(void)
{
	if (walk_encode(&encoded_bytes) != 0)
		abort();
}

static void compress(void)
{
	if (walk_compress() != 0)
		abort();
}

/*
 * The first walk sweeps what the collection left; it is not measured.  The walk
 * with nothing done is measured between the others, since caches and the clock
 * of the processor drift.
 */
static void make_walks(void)
{
	walk_count(&n_objects, &n_references, &asked_bytes);
	keep_walk("nothing", walk_nothing);
	keep_walk("encode", encode);
	keep_walk("nothing", walk_nothing);
	keep_walk("compress", compress);
	keep_walk("nothing", walk_nothing);
}

/* Whether the program is ready to be measured. */
static bool may_go(void)
{
	return !go_path[0] || access(go_path, F_OK) == 0;
}

static bool is_snapshot(uint32_t generation, mono_bool is_serial)
{
	return !is_ending && had_start && is_serial &&
	       generation == (uint32_t)mono_gc_max_generation();
}

static void print_results(void)
{
	unsigned i;

	if (!n_results)
		return;
	fprintf(out,
		"{\"stop\":%u,\"objects\":%llu,\"references\":%llu,\"bytes\":%llu,\"encoded_bytes\":%llu,"
		"\"heap_bytes\":%lld",
		n_stops++, (unsigned long long)n_objects, (unsigned long long)n_references,
		(unsigned long long)asked_bytes, (unsigned long long)encoded_bytes,
		(long long)mono_gc_get_heap_size());
	for (i = 0; i < n_results; i++)
		fprintf(out, "%s[\"%s\",%llu,%llu]", i ? "," : ",\"took\":[", results[i].name,
			(unsigned long long)results[i].took.cpu_ns,
			(unsigned long long)results[i].took.wall_ns);
	fprintf(out, "]}\n");
	fflush(out);
	n_results = 0;
}

/* The recorder's own threads: those that came while its module was loaded. */
static int threads_at[PROBES_MAX][THREADS_MAX];

static void list_threads(int *ids)
{
	DIR *directory = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned n = 0;

	while (directory && (entry = readdir(directory)) != NULL && n < THREADS_MAX - 1)
		if (entry->d_name[0] != '.')
			ids[n++] = atoi(entry->d_name);
	if (directory)
		closedir(directory);
}

static bool is_among(const int *ids, int id)
{
	for (; *ids; ids++)
		if (*ids == id)
			return true;
	return false;
}

/* From a file of /proc; without memory, since the world may be stopped. */
static unsigned long long thread_cpu_ns(int id)
{
	char path[64], text[64];
	ssize_t n = -1;
	int file;

	snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", id);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0) {
		n = read(file, text, sizeof text - 1);
		close(file);
	}
	if (n <= 0)
		return 0;
	text[n] = 0;
	return strtoull(text, NULL, 10);
}

/* CPU time of the threads that came between two probes, in ns. */
static unsigned long long threads_cpu_ns(unsigned from, unsigned to)
{
	unsigned long long sum = 0;
	const int *id;

	for (id = threads_at[to]; *id; id++)
		if (!is_among(threads_at[from], *id))
			sum += thread_cpu_ns(*id);
	return sum;
}

/* What the module in front of PROBE did when the world ran again. */
static void keep_after(const struct _MonoProfiler *probe)
{
	const uint64_t threads_ns =
		threads_cpu_ns(probe->index, probe->index + 1) - threads_before_ns[probe->index];
	const struct moment threads = {threads_ns, threads_ns};

	keep(probe->after_name, before);
	keep_moment(probe->threads_name, threads);
	before = moment_now();
}

static void note_threads(void)
{
	unsigned i;

	for (i = 0; i + 1 < n_probes; i++)
		threads_before_ns[i] = threads_cpu_ns(i, i + 1);
}

static void front_event(MonoProfilerHandle handle, MonoProfilerGCEvent event, uint32_t generation,
			mono_bool is_serial)
{
	switch (event) {
	case MONO_GC_EVENT_PRE_STOP_WORLD:
		print_results();
		break;
	case MONO_GC_EVENT_PRE_STOP_WORLD_LOCKED:
		had_start = false;
		is_collecting = is_walking && is_serial && generation != 0 && may_go();
		if (is_collecting)
			walks_collect_roots(handle, true);
		break;
	case MONO_GC_EVENT_START:
		had_start = true;
		walks_forget_roots();
		break;
	case MONO_GC_EVENT_PRE_START_WORLD:
		if (is_collecting)
			walks_collect_roots(handle, false);
		if (is_collecting && is_snapshot(generation, is_serial))
			make_walks();
		if (is_collecting)
			note_threads();
		before = moment_now();
		break;
	case MONO_GC_EVENT_POST_START_WORLD_UNLOCKED:
		before = moment_now();
		break;
	default:
		break;
	}
}

static void gc_event(MonoProfiler *probe, MonoProfilerGCEvent event, uint32_t generation,
		     mono_bool is_serial)
{
	if (!probe->is_front) {
		tally_end(probe, TALLY_GC + (unsigned)event);
		if (event == MONO_GC_EVENT_PRE_START_WORLD && is_collecting &&
		    is_snapshot(generation, is_serial)) {
			keep(probe->name, before);
			before = moment_now();
		}
		if (event == MONO_GC_EVENT_POST_START_WORLD_UNLOCKED && n_results)
			keep_after(probe);
		tally_begin();
		return;
	}
	front_event(probe->handle, event, generation, is_serial);
	tally_begin();
}

static void print_end(void)
{
	struct rusage usage;
	unsigned i;

	getrusage(RUSAGE_SELF, &usage);
	fprintf(out, "{\"end\":true,\"peak_rss_bytes\":%llu,\"cpu_ns\":%llu,\"probes\":[",
		(unsigned long long)usage.ru_maxrss * 1024,
		((unsigned long long)usage.ru_utime.tv_sec +
		 (unsigned long long)usage.ru_stime.tv_sec) *
				1000000000 +
			((unsigned long long)usage.ru_utime.tv_usec +
			 (unsigned long long)usage.ru_stime.tv_usec) *
				1000);
	for (i = 0; i + 1 < n_probes; i++)
		fprintf(out, "%s{\"name\":\"%s\",\"load_cpu_ns\":%llu,\"threads_cpu_ns\":%llu}",
			i ? "," : "", probes[i].name,
			(unsigned long long)(probes[i + 1].loaded.cpu_ns - probes[i].loaded.cpu_ns),
			threads_cpu_ns(i, i + 1));
	fprintf(out, "]}\n");
	tally_print(out, probes, n_probes);
	fflush(out);
}

static void shutdown_begin(MonoProfiler *probe)
{
	if (probe->is_front) {
		is_ending = true;
		print_results();
		print_end();
	}
}

__attribute__((visibility("default"))) void mono_profiler_init_heapprobe(const char *description);

void mono_profiler_init_heapprobe(const char *description)
{
	const char *file = getenv("HEAPPROBE_FILE"), *walks = getenv("HEAPPROBE_WALKS");
	const char *events = getenv("HEAPPROBE_EVENTS"), *go = getenv("HEAPPROBE_GO");
	const char *name = strchr(description, ':');
	struct _MonoProfiler *probe = &probes[n_probes];

	if (!out) {
		out = fopen(file ? file : "/dev/null", "ae");
		snprintf(go_path, sizeof go_path, "%s", go ? go : "");
		is_walking = !walks || strcmp(walks, "0") != 0;
		if (!out || (is_walking && !walks_init())) {
			fprintf(stderr, "heapprobe: cannot begin\n");
			exit(2);
		}
	}
	if (n_probes == PROBES_MAX) {
		fprintf(stderr, "heapprobe: more than %d probes\n", PROBES_MAX);
		exit(2);
	}
	probe->name = strdup(name ? name + 1 : "front");
	probe->index = n_probes;
	if (asprintf(&probe->after_name, "%s after", probe->name) < 0 ||
	    asprintf(&probe->threads_name, "%s threads", probe->name) < 0)
		exit(2);
	probe->is_front = strcmp(probe->name, "front") == 0;
	probe->handle = mono_profiler_create(probe);
	mono_profiler_set_gc_event_callback(probe->handle, gc_event);
	mono_profiler_set_runtime_shutdown_begin_callback(probe->handle, shutdown_begin);
	if (events && strcmp(events, "1") == 0)
		tally_install(probe);
	list_threads(threads_at[n_probes++]);
	probe->loaded = moment_now();
}
