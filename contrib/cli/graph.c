/* SPDX-License-Identifier: MIT */
/*
 * Graphs for commands: opening, types by name, words for nodes.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/cli/graph.h"

/* Three quarters of what the machine has; its other programs need some. */
static size_t default_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	uint64_t all = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : 0;

	all = all / 4 * 3;
	if (all < 64u << 20)
		all = 64u << 20;
	return all < SIZE_MAX / 2 ? (size_t)all : SIZE_MAX / 2;
}

int graph_open(struct recording *recording, const struct cli_arguments *arguments,
	       struct heapshot_graph **graph)
{
	int status;

	*graph = NULL;
	if (arguments->memory_bytes == 0)
		heapshot_reader_set_memory(recording->reader, default_memory());
	status = recording_check(recording, heapshot_reader_load_fields(recording->reader));
	if (status == CLI_OK)
		status =
			recording_check(recording, heapshot_graph_open(recording->reader,
								       recording->snapshot, graph));
	if (status == CLI_OK && *graph == NULL) {
		/* Damaged in a way that leaves nothing to show. */
		cli_message("%s: %s; refused", recording->path,
			    heapshot_reader_error(recording->reader));
		status = CLI_DAMAGED;
	}
	return status;
}

/* ---- Types ---- */

struct entry {
	struct graph_type type;
	uint32_t class_index;
};

static int by_key(const void *left, const void *right)
{
	return type_key_compare(&((const struct entry *)left)->type.key,
				&((const struct entry *)right)->type.key);
}

static bool add_retained(const struct heapshot_graph *graph, struct graph_types *types)
{
	struct heapshot_graph_sum *sums = calloc(types->n + 1, sizeof(*sums));
	bool is_done = sums != NULL && heapshot_graph_sums(graph, types->of_class, types->n,
							   sums) == HEAPSHOT_READ_OK;
	size_t i;

	for (i = 0; is_done && i < types->n; i++)
		types->types[i].retained = sums[i].retained;
	free(sums);
	return is_done;
}

int graph_types_make(struct recording *recording, const struct heapshot_graph *graph,
		     bool is_dominated, struct graph_types *types)
{
	size_t n, i;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(graph, &n);
	struct entry *entries = calloc(n + 1, sizeof(*entries));

	*types = (struct graph_types){
		.types = calloc(n + 1, sizeof(*types->types)),
		.of_class = calloc(n + 1, sizeof(*types->of_class)),
		.n_classes = n,
	};
	if (entries == NULL || types->types == NULL || types->of_class == NULL)
		goto no_memory;
	for (i = 0; i < n; i++)
		entries[i] = (struct entry){
			.type =
				{
					.key = type_key_of(recording, classes[i].type),
					.live_objects = classes[i].live_objects,
					.live_bytes = classes[i].live_bytes,
				},
			.class_index = (uint32_t)i,
		};
	qsort(entries, n, sizeof(*entries), by_key);
	for (i = 0; i < n; i++) {
		if (i == 0 || by_key(&entries[i - 1], &entries[i]) != 0) {
			types->types[types->n++] = entries[i].type;
		} else {
			types->types[types->n - 1].live_objects += entries[i].type.live_objects;
			types->types[types->n - 1].live_bytes += entries[i].type.live_bytes;
		}
		types->of_class[entries[i].class_index] = (uint32_t)types->n - 1;
	}
	free(entries);
	entries = NULL;
	if (!is_dominated || add_retained(graph, types))
		return CLI_OK;

no_memory:
	free(entries);
	graph_types_free(types);
	return cli_no_memory();
}

void graph_types_free(struct graph_types *types)
{
	free(types->types);
	free(types->of_class);
	*types = (struct graph_types){0};
}

static int compare_key(const void *key, const void *type)
{
	return type_key_compare(key, &((const struct graph_type *)type)->key);
}

const struct graph_type *graph_types_find(const struct graph_types *types,
					  const struct type_key *key)
{
	return bsearch(key, types->types, types->n, sizeof(*types->types), compare_key);
}

/* ---- Nodes ---- */

bool graph_nodes_push(struct graph_nodes *nodes, uint32_t node)
{
	if (nodes->n == nodes->room) {
		size_t room = nodes->room != 0 ? nodes->room * 2 : 256;
		uint32_t *list = reallocarray(nodes->list, room, sizeof(*list));

		if (list == NULL)
			return false;
		nodes->list = list;
		nodes->room = room;
	}
	nodes->list[nodes->n++] = node;
	return true;
}

const char *graph_decimal_hint(const struct heapshot_graph *graph, uint64_t address,
			       char hint[GRAPH_HINT_BYTES])
{
	char text[24];
	uint64_t decimal;

	*hint = '\0';
	snprintf(text, sizeof(text), "%" PRIx64, address);
	if (text[strspn(text, "0123456789")] != '\0')
		return hint;
	decimal = strtoull(text, NULL, 10);
	if (heapshot_graph_find_around(graph, decimal) != HEAPSHOT_GRAPH_NONE)
		snprintf(hint, GRAPH_HINT_BYTES, "; in hexadecimal it is 0x%" PRIx64, decimal);
	return hint;
}

bool graph_is_object(const struct heapshot_graph *graph, uint32_t node)
{
	return heapshot_graph_node(graph, node, NULL) == HEAPSHOT_NODE_OBJECT;
}

/* ---- Words ---- */

const char *graph_object_type(const struct recording *recording, const struct heapshot_graph *graph,
			      uint32_t object, char *buffer)
{
	size_t n;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(graph, &n);

	return recording_type_name(recording, classes[heapshot_graph_class_of(graph, object)].type,
				   buffer);
}

const char *graph_source_name(const struct heapshot_graph_source *source)
{
	return *source->source.name != '\0' ? source->source.name : source->source.handle_type;
}

void graph_drop_index(char *name)
{
	char *end = *name == '[' ? strchr(name, ']') : NULL;

	if (end == NULL)
		return;
	memmove(name + 2, end, strlen(end) + 1);
	name[1] = '*';
}

/* What stands for a node that is no object; NAME "" or NULL: none, KIND NULL: all roots. */
struct outside {
	const char *kind, *name;
};

static struct outside describe_outside(const struct heapshot_graph *graph, uint32_t node)
{
	size_t n;
	const struct heapshot_graph_kind *kinds = heapshot_graph_kinds(graph, &n);
	const struct heapshot_graph_source *sources = heapshot_graph_sources(graph, &n);
	uint32_t index;

	switch (heapshot_graph_node(graph, node, &index)) {
	case HEAPSHOT_NODE_KIND:
		return (struct outside){.kind = kinds[index].name};
	case HEAPSHOT_NODE_SOURCE:
		return (struct outside){kinds[sources[index].kind].name,
					graph_source_name(&sources[index])};
	default:
		return (struct outside){0};
	}
}

/* "Finalizer Queue" says no more than finalizer_queue. */
static bool is_repeated(const char *kind, const char *name)
{
	for (; *kind != '\0' && *name != '\0'; kind++, name++)
		if (tolower((unsigned char)*name) != (*kind == '_' ? ' ' : *kind))
			return false;
	return *kind == *name;
}

void graph_put_node(const struct recording *recording, const struct heapshot_graph *graph,
		    uint32_t node, char *text, size_t size)
{
	struct outside outside;
	char unnamed[32];
	bool has_name;

	if (graph_is_object(graph, node)) {
		snprintf(text, size, "%s 0x%" PRIx64,
			 graph_object_type(recording, graph, node, unnamed),
			 heapshot_graph_address(graph, node));
		return;
	}
	outside = describe_outside(graph, node);
	has_name = outside.name != NULL && *outside.name != '\0' &&
		   !is_repeated(outside.kind, outside.name);
	snprintf(text, size, "%s%s%s", outside.kind != NULL ? outside.kind : "all roots",
		 has_name ? " " : "", has_name ? outside.name : "");
}

void graph_node_json(struct json *json, const struct recording *recording,
		     const struct heapshot_graph *graph, uint32_t node)
{
	struct outside outside;
	char unnamed[32];

	if (graph_is_object(graph, node)) {
		json_put_unsigned(json, "address", heapshot_graph_address(graph, node));
		json_put_text(json, "type", graph_object_type(recording, graph, node, unnamed));
		return;
	}
	outside = describe_outside(graph, node);
	json_put_text(json, "kind", outside.kind);
	json_put_text(json, "name", outside.name);
}
