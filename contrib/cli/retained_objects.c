/* SPDX-License-Identifier: MIT */
/*
 * heapshot retained: the objects that retain the most.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/cli/most.h"
#include "contrib/cli/retained.h"
#include "contrib/cli/text.h"

#define ROWS_OF_OBJECTS 8
#define JSON_OBJECTS    100

/* Finds them, the largest first. */
static int find_most(const struct retained *retained, size_t limit, struct most *most,
		     uint64_t *n_all)
{
	struct heapshot_graph_counts counts;
	uint32_t i;

	heapshot_graph_counts(retained->graph, &counts);
	if (!most_begin(most, retained->graph,
			limit < counts.live_objects ? limit : (size_t)counts.live_objects))
		return cli_no_memory();
	for (i = 0, *n_all = 0; i < counts.objects; i++) {
		uint32_t type =
			retained->types.of_class[heapshot_graph_class_of(retained->graph, i)];

		if (!retained->is_wanted[type] || !heapshot_graph_is_live(retained->graph, i))
			continue;
		++*n_all;
		most_offer(most, i);
	}
	most_sort(most);
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
