/* SPDX-License-Identifier: MIT */
/*
 * graph_bench FILE [ROUNDS]: what the library takes to read a recording's last
 * snapshot: totals by type, all rows, the graph, dominators, sums by class.
 * Prints JSON: seconds of processor time (all threads) and of wall time in each
 * of ROUNDS (5), and the memory of the graph.  heapshot-bench makes figures of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "contrib/reader/heapshot-graph.h"

#define ROUNDS_MAX 100

enum step { TOTALS, DECODE, GRAPH, DOMINATORS, SUMS, N_STEPS };

static const char *const names[N_STEPS] = {"totals", "decode", "graph", "dominators", "sums"};

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct took {
	double cpu, wall;
};

static struct took took[N_STEPS][ROUNDS_MAX];
static struct took started;

static void start(void)
{
	started = (struct took){seconds(CLOCK_PROCESS_CPUTIME_ID), seconds(CLOCK_MONOTONIC)};
}

static void stop(enum step step, int round)
{
	took[step][round].cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - started.cpu;
	took[step][round].wall = seconds(CLOCK_MONOTONIC) - started.wall;
}

/* All rows with their references, and nothing made of them: what cannot be saved. */
static uint64_t decode(struct heapshot_reader *reader, const struct heapshot_snapshot *snapshot)
{
	struct heapshot_frame frame;
	struct heapshot_record record;
	struct heapshot_object object;
	uint64_t n = 0;

	heapshot_reader_rewind(reader, snapshot);
	while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
		if (frame.kind != HEAPSHOT_FRAME_SNAPSHOT_BODY || frame.snapshot != snapshot->id ||
		    heapshot_reader_load_frame(reader, &frame) != HEAPSHOT_READ_OK)
			continue;
		while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK) {
			if (record.field != HEAPSHOT_FIELD_OBJECT_BATCH ||
			    heapshot_reader_begin_objects(reader, &record, true, NULL) !=
				    HEAPSHOT_READ_OK)
				continue;
			while (heapshot_reader_next_object(reader, &object) == HEAPSHOT_READ_OK)
				n += object.n_references;
		}
	}
	return n;
}

static bool sum_by_class(const struct heapshot_graph *graph)
{
	size_t n, i;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(graph, &n);
	uint32_t *groups = calloc(n + 1, sizeof(*groups));
	struct heapshot_graph_sum *sums = calloc(n + 1, sizeof(*sums));
	bool is_done = classes != NULL && groups != NULL && sums != NULL;

	for (i = 0; is_done && i < n; i++)
		groups[i] = (uint32_t)i;
	is_done = is_done && heapshot_graph_sums(graph, groups, n, sums) == HEAPSHOT_READ_OK;
	free(groups);
	free(sums);
	return is_done;
}

/* One round; false when something fails. */
static bool measure(struct heapshot_reader *reader, int round, struct heapshot_graph_counts *counts,
		    uint64_t *dominators_bytes)
{
	const struct heapshot_snapshot *snapshot = heapshot_reader_last_snapshot(reader, 1);
	struct heapshot_graph_counts after;
	struct heapshot_graph *graph;
	struct heapshot_totals totals;
	bool is_done;

	if (snapshot == NULL)
		return false;
	start();
	if (heapshot_reader_totals(reader, snapshot, &totals) != HEAPSHOT_READ_OK)
		return false;
	stop(TOTALS, round);
	start();
	if (decode(reader, snapshot) == 0)
		return false;
	stop(DECODE, round);
	start();
	if (heapshot_graph_open(reader, snapshot, &graph) != HEAPSHOT_READ_OK)
		return false;
	stop(GRAPH, round);
	heapshot_graph_counts(graph, counts);
	start();
	is_done = heapshot_graph_dominate(graph) == HEAPSHOT_READ_OK;
	stop(DOMINATORS, round);
	heapshot_graph_counts(graph, &after);
	*dominators_bytes = after.memory_bytes - counts->memory_bytes;
	start();
	is_done = is_done && sum_by_class(graph);
	stop(SUMS, round);
	heapshot_graph_free(graph);
	return is_done;
}

static void print(const struct heapshot_graph_counts *counts, uint64_t dominators_bytes, int rounds)
{
	int step, i;

	printf("{\"objects\":%llu,\"references\":%llu,\"live_objects\":%llu,\"graph_bytes\":%llu,"
	       "\"dominators_bytes\":%llu",
	       (unsigned long long)counts->objects, (unsigned long long)counts->references,
	       (unsigned long long)counts->live_objects, (unsigned long long)counts->memory_bytes,
	       (unsigned long long)dominators_bytes);
	for (step = 0; step < N_STEPS; step++) {
		printf(",\"%s\":[", names[step]);
		for (i = 0; i < rounds; i++)
			printf("%s[%.6f,%.6f]", i > 0 ? "," : "", took[step][i].cpu,
			       took[step][i].wall);
		putchar(']');
	}
	puts("}");
}

int main(int argc, char **argv)
{
	struct heapshot_reader_options options = {.size = sizeof(options),
						  .memory_bytes = SIZE_MAX / 2};
	struct heapshot_reader *reader = heapshot_reader_new(&options);
	struct heapshot_graph_counts counts = {0};
	uint64_t dominators_bytes = 0;
	int rounds = argc > 2 ? atoi(argv[2]) : 5, i;

	if (argc < 2 || rounds < 1 || rounds > ROUNDS_MAX ||
	    heapshot_reader_open_file(reader, argv[1]) != HEAPSHOT_READ_OK) {
		fprintf(stderr, "usage: graph_bench FILE [ROUNDS]\n");
		return 2;
	}
	for (i = 0; i < rounds; i++)
		if (!measure(reader, i, &counts, &dominators_bytes)) {
			fprintf(stderr, "graph_bench: %s\n", heapshot_reader_error(reader));
			return 1;
		}
	print(&counts, dominators_bytes, rounds);
	heapshot_reader_free(reader);
	return 0;
}
