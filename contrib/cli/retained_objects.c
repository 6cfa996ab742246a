/* SPDX-License-Identifier: MIT */
/*
 * heapshot retained: the objects that retain the most.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/cli/retained.h"
#include "contrib/cli/text.h"

#define ROWS_OF_OBJECTS 8
#define JSON_OBJECTS    100

/* The objects that retain the most, as a heap whose least stands first. */
struct most {
	const struct heapshot_graph *graph;
	uint32_t *objects;
	size_t n, limit;
};

static bool is_less(const struct most *most, uint32_t a, uint32_t b)
{
	uint64_t retained_a = heapshot_graph_retained(most->graph, a);
	uint64_t retained_b = heapshot_graph_retained(most->graph, b);

	return retained_a != retained_b ? retained_a < retained_b : a > b;
}

static void sift_down(struct most *most, size_t at, size_t n)
{
	uint32_t object = most->objects[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n && is_less(most, most->objects[child + 1], most->objects[child]))
			child++;
		if (!is_less(most, most->objects[child], object))
			break;
		most->objects[at] = most->objects[child];
		at = child;
	}
	most->objects[at] = object;
}

static void offer(struct most *most, uint32_t object)
{
	size_t at;

	if (most->n == most->limit) {
		if (most->limit == 0 || !is_less(most, most->objects[0], object))
			return;
		most->objects[0] = object;
		sift_down(most, 0, most->n);
		return;
	}
	for (at = most->n++; at > 0 && is_less(most, object, most->objects[(at - 1) / 2]);
	     at = (at - 1) / 2)
		most->objects[at] = most->objects[(at - 1) / 2];
	most->objects[at] = object;
}

/* Finds them, the largest first. */
static int find_most(const struct retained *retained, size_t limit, struct most *most,
		     uint64_t *n_all)
{
	struct heapshot_graph_counts counts;
	uint32_t i, last;
	size_t k;

	heapshot_graph_counts(retained->graph, &counts);
	*most = (struct most){.graph = retained->graph};
	most->limit = limit < counts.live_objects ? limit : (size_t)counts.live_objects;
	most->objects = calloc(most->limit + 1, sizeof(*most->objects));
	if (most->objects == NULL)
		return cli_no_memory();
	for (i = 0, *n_all = 0; i < counts.objects; i++) {
		uint32_t type =
			retained->types.of_class[heapshot_graph_class_of(retained->graph, i)];

		if (!retained->is_wanted[type] || !heapshot_graph_is_live(retained->graph, i))
			continue;
		++*n_all;
		offer(most, i);
	}
	for (k = most->n; k > 1; k--) {
		last = most->objects[k - 1];
		most->objects[k - 1] = most->objects[0];
		most->objects[0] = last;
		sift_down(most, 0, k - 1);
	}
	return CLI_OK;
}

static void put_objects(const struct retained *retained, const struct most *most)
{
	static const char *const titles[] = {"RETAINED", "SHARE", "BYTES",
					     "ADDRESS",  "TYPE",  "DOMINATED BY"};
	struct text_table table = {.align = "rrrlll"};
	unsigned is_printed;
	size_t i;

	puts("\nOBJECTS");
	text_table_measure(&table, titles);
	for (is_printed = 0; is_printed < 2; is_printed++) {
		if (is_printed)
			text_table_print(&table, titles, true);
		for (i = 0; i < most->n; i++) {
			uint32_t object = most->objects[i];
			uint64_t bytes = heapshot_graph_retained(retained->graph, object);
			char numbers[2][TEXT_NUMBER_BYTES], share[TEXT_SHARE_BYTES], address[32],
				unnamed[32];
			char dominator[512];
			const char *cells[] = {
				text_number(numbers[0], bytes),
				text_share(share, bytes, retained->live_bytes),
				text_number(numbers[1],
					    heapshot_graph_size(retained->graph, object)),
				address,
				graph_object_type(retained->recording, retained->graph, object,
						  unnamed),
				dominator,
			};

			snprintf(address, sizeof(address), "0x%" PRIx64,
				 heapshot_graph_address(retained->graph, object));
			graph_put_node(retained->recording, retained->graph,
				       heapshot_graph_dominator(retained->graph, object), dominator,
				       sizeof(dominator));
			if (is_printed)
				text_table_print(&table, cells, false);
			else
				text_table_measure(&table, cells);
		}
	}
}

int retained_objects(const struct retained *retained, struct json *json)
{
	char number[TEXT_NUMBER_BYTES];
	struct most most;
	uint64_t n_all = 0;
	size_t i;
	int status =
		find_most(retained, cli_limit(retained->arguments, ROWS_OF_OBJECTS, JSON_OBJECTS),
			  &most, &n_all);

	if (status != CLI_OK)
		return status;
	if (json != NULL) {
		json_key(json, "objects");
		json_begin_rows(json);
		for (i = 0; i < most.n; i++) {
			uint32_t object = most.objects[i];

			json_begin(json, '{');
			graph_node_json(json, retained->recording, retained->graph, object);
			json_put_unsigned(json, "bytes",
					  heapshot_graph_size(retained->graph, object));
			json_put_unsigned(json, "retained",
					  heapshot_graph_retained(retained->graph, object));
			json_key(json, "dominator");
			json_begin(json, '{');
			graph_node_json(json, retained->recording, retained->graph,
					heapshot_graph_dominator(retained->graph, object));
			json_end(json, '}');
			json_end(json, '}');
		}
		json_end(json, ']');
	} else {
		put_objects(retained, &most);
		if (most.n < n_all)
			printf("... and %s more (--limit 0 shows all)\n",
			       text_number(number, n_all - most.n));
	}
	free(most.objects);
	return CLI_OK;
}
