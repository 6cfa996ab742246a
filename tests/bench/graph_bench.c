/* SPDX-License-Identifier: MIT */
/*
 * graph_bench FILE [ROUNDS]: what the graph of a recording's last snapshot costs:
 * making it, dominators, sums by class; processor time of the best of ROUNDS (3),
 * memory an object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "contrib/reader/heapshot-graph.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double least(double a, double b)
{
	return a < b ? a : b;
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

int main(int argc, char **argv)
{
	struct heapshot_reader_options options = {.size = sizeof(options),
						  .memory_bytes = SIZE_MAX / 2};
	struct heapshot_reader *reader = heapshot_reader_new(&options);
	double decode_s = 1e9, graph_s = 1e9, dominators_s = 1e9, sums_s = 1e9;
	struct heapshot_graph_counts counts, after;
	struct rusage usage;
	int rounds = argc > 2 ? atoi(argv[2]) : 3, i;

	if (argc < 2 || heapshot_reader_open_file(reader, argv[1]) != HEAPSHOT_READ_OK) {
		fprintf(stderr, "usage: graph_bench FILE [ROUNDS]\n");
		return 2;
	}
	for (i = 0; i < rounds; i++) {
		const struct heapshot_snapshot *snapshot = heapshot_reader_last_snapshot(reader, 1);
		const struct heapshot_graph_class *classes;
		struct heapshot_graph_sum *sums;
		struct heapshot_graph *graph;
		uint32_t *groups;
		double start[5];
		uint64_t decoded;
		size_t n, k;

		if (snapshot == NULL)
			break;
		start[4] = seconds();
		decoded = decode(reader, snapshot);
		start[0] = seconds();
		decode_s = least(decode_s, start[0] - start[4]);
		if (decoded == 0 ||
		    heapshot_graph_open(reader, snapshot, &graph) != HEAPSHOT_READ_OK)
			break;
		start[1] = seconds();
		heapshot_graph_counts(graph, &counts);
		if (heapshot_graph_dominate(graph) != HEAPSHOT_READ_OK)
			break;
		start[2] = seconds();
		heapshot_graph_counts(graph, &after);
		classes = heapshot_graph_classes(graph, &n);
		groups = calloc(n + 1, sizeof(*groups));
		sums = calloc(n + 1, sizeof(*sums));
		if (classes == NULL || groups == NULL || sums == NULL)
			break;
		for (k = 0; k < n; k++)
			groups[k] = (uint32_t)k;
		if (heapshot_graph_sums(graph, groups, n, sums) != HEAPSHOT_READ_OK)
			break;
		start[3] = seconds();
		graph_s = least(graph_s, start[1] - start[0]);
		dominators_s = least(dominators_s, start[2] - start[1]);
		sums_s = least(sums_s, start[3] - start[2]);
		free(groups);
		free(sums);
		heapshot_graph_free(graph);
	}
	if (i < rounds) {
		fprintf(stderr, "graph_bench: %s\n", heapshot_reader_error(reader));
		return 1;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%.2f M objects, %.2f M references, %.1f %% live\n", (double)counts.objects / 1e6,
	       (double)counts.references / 1e6,
	       100 * (double)counts.live_objects / (double)counts.objects);
	printf("full decode %6.3f s %6.1f M objects/s\n", decode_s,
	       (double)counts.objects / 1e6 / decode_s);
	printf("graph       %6.3f s %6.1f M objects/s %5.1f bytes/object beside 9 a reference\n",
	       graph_s, (double)counts.objects / 1e6 / graph_s,
	       ((double)counts.memory_bytes - 9 * (double)counts.references) /
		       (double)counts.objects);
	printf("dominators  %6.3f s %6.1f M objects/s %5.1f bytes/object more\n", dominators_s,
	       (double)counts.objects / 1e6 / dominators_s,
	       (double)(after.memory_bytes - counts.memory_bytes) / (double)counts.objects);
	printf("sums        %6.3f s %6.1f M objects/s\n", sums_s,
	       (double)counts.objects / 1e6 / sums_s);
	printf("peak memory %.1f MB, %.1f bytes/object beside 9 a reference\n",
	       (double)usage.ru_maxrss / 1024,
	       ((double)usage.ru_maxrss * 1024 - 9 * (double)counts.references) /
		       (double)counts.objects);
	heapshot_reader_free(reader);
	return 0;
}
