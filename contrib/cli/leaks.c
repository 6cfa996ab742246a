/* SPDX-License-Identifier: MIT */
/*
 * heapshot leaks and heapshot FILE: the suspects of one snapshot or of a series.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/cli/leaks.h"
#include "schema/heapshot.pb-c.h"

/* A suspect holds at least this part of what lives. */
#define SHARE_MIN 20 /* a twentieth */
/* The graph of more objects takes so long that it is said beforehand. */
#define OBJECTS_LONG 20000000u

static const char *const kind_names[] = {
	[LEAK_GROWTH] = "growth", [LEAK_EVENT] = "event",         [LEAK_COLLECTION] = "collection",
	[LEAK_HOLDER] = "holder", [LEAK_STRUCTURE] = "structure", [LEAK_HANDLES] = "handles",
	[LEAK_SPARSE] = "sparse", [LEAK_EMPTY] = "empty",         [LEAK_STRINGS] = "strings",
};

const char *leak_kind_name(enum leak_kind kind)
{
	return kind_names[kind];
}

enum leak_list leak_list_of(enum leak_kind kind)
{
	if (kind == LEAK_GROWTH)
		return LEAK_LIST_GROWTH;
	return kind < LEAK_SPARSE ? LEAK_LIST_SUSPECTS : LEAK_LIST_WASTE;
}

const char *leak_type(const struct leak *leak)
{
	return leak->type != NULL ? leak->type : leak->unnamed;
}

void leak_set_type(const struct leaks *leaks, struct leak *leak, uint32_t class_index)
{
	leak->type = leaks_class_name(leaks, class_index, leak->unnamed);
	/* A leak is copied, and what is in it with it. */
	if (leak->type == leak->unnamed)
		leak->type = NULL;
}

int leaks_add(struct leaks *leaks, const struct leak *leak, const char *format, ...)
{
	va_list arguments;
	char text[2048];

	if (leaks->n == leaks->room) {
		size_t room = leaks->room ? leaks->room * 2 : 32;
		struct leak *list = reallocarray(leaks->list, room, sizeof(*list));

		if (list == NULL)
			return cli_no_memory();
		leaks->list = list;
		leaks->room = room;
	}
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	leaks->list[leaks->n] = *leak;
	leaks->list[leaks->n].text = strdup(text);
	if (leaks->list[leaks->n].text == NULL)
		return cli_no_memory();
	leaks->n++;
	return CLI_OK;
}

const char *leaks_class_name(const struct leaks *leaks, uint32_t class_index, char *buffer)
{
	return recording_type_name(leaks->recording, leaks->classes[class_index].type, buffer);
}

void leaks_put_place(const struct leaks *leaks, uint32_t object, char *text, size_t size)
{
	char name[HEAPSHOT_SLOT_NAME_BYTES], unnamed[32];
	struct heapshot_graph_step step;
	uint32_t class_index;

	if (!heapshot_graph_way_before(leaks->path.ways, object, &step)) {
		snprintf(text, size, "?");
		return;
	}
	if (!graph_is_object(leaks->graph, step.node)) {
		graph_put_node(leaks->recording, leaks->graph, step.node, text, size);
		return;
	}
	class_index = heapshot_graph_class_of(leaks->graph, step.node);
	heapshot_reader_slot_name(leaks->recording->reader, leaks->classes[class_index].type,
				  step.offset, name);
	snprintf(text, size, "%s%s%s", leaks_class_name(leaks, class_index, unnamed),
		 strchr("[+", name[0]) != NULL ? " " : ".", name);
}

bool leaks_is_array(const struct leaks *leaks, uint32_t object, uint64_t *capacity)
{
	const struct heapshot_reader *reader = leaks->recording->reader;
	const struct heapshot_type *type = heapshot_reader_type(
		reader, leaks->classes[heapshot_graph_class_of(leaks->graph, object)].type);
	const struct heapshot_type *element;
	uint64_t word = heapshot_reader_header(reader)->word_bytes, size;

	if (type == NULL || type->kind != HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY || type->rank > 1 ||
	    word == 0)
		return false;
	element = heapshot_reader_type(reader, type->element);
	if (element == NULL)
		return false;
	switch (element->kind) {
	case HEAPSHOT__TYPE_KIND__TYPE_KIND_CLASS:
	case HEAPSHOT__TYPE_KIND__TYPE_KIND_INTERFACE:
	case HEAPSHOT__TYPE_KIND__TYPE_KIND_ARRAY:
	case HEAPSHOT__TYPE_KIND__TYPE_KIND_STRING:
	case HEAPSHOT__TYPE_KIND__TYPE_KIND_DELEGATE:
		break;
	default:
		return false;
	}
	/* Type, lock, bounds and length stand before the elements. */
	size = heapshot_graph_size(leaks->graph, object);
	*capacity = size > 4 * word ? (size - 4 * word) / word : 0;
	return true;
}

/* Growth first, then what would let go of most; waste behind all of them. */
static int by_weight(const void *left, const void *right)
{
	const struct leak *a = left, *b = right;
	int order;

	order = (int)leak_list_of(a->kind) - (int)leak_list_of(b->kind);
	if (order != 0)
		return order;
	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	order = strcmp(leak_type(a), leak_type(b));
	return order != 0 ? order : (a->target > b->target) - (a->target < b->target);
}

int leaks_ways(struct recording *recording, struct heapshot_graph *graph,
	       struct heapshot_graph_ways **ways)
{
	/* A word on a stack may be there by chance: it explains nothing where more holds the object. */
	const struct heapshot_graph_ways_options options = {
		.size = sizeof(options),
		.last_kinds = (uint64_t)1 << HEAPSHOT__ROOT_KIND__ROOT_KIND_STACK |
			      (uint64_t)1 << HEAPSHOT__ROOT_KIND__ROOT_KIND_SAVED_REGISTERS,
	};

	return recording_check(recording, heapshot_graph_ways_new(graph, &options, ways));
}

static int open_graph(struct leaks *leaks)
{
	struct heapshot_graph_counts counts;
	struct recording *recording = leaks->recording;
	char number[TEXT_NUMBER_BYTES];
	int status;

	if (recording->snapshot->objects > OBJECTS_LONG && isatty(STDERR_FILENO)) {
		progress_stop();
		cli_message(
			"%s objects: their graph takes a while; 'heapshot top' does not need it",
			text_number(number, recording->snapshot->objects));
		progress_start(recording->reader);
	}
	status = graph_open(recording, leaks->arguments, &leaks->graph);
	if (status == CLI_OK)
		status = recording_check(recording, heapshot_graph_dominate(leaks->graph));
	if (status == CLI_OK)
		status = graph_types_make(recording, leaks->graph, false, &leaks->types);
	if (status == CLI_OK)
		status = leaks_ways(recording, leaks->graph, &leaks->path.ways);
	if (status != CLI_OK)
		return status;
	leaks->path.recording = recording;
	leaks->path.arguments = leaks->arguments;
	leaks->path.graph = leaks->graph;
	leaks->classes = heapshot_graph_classes(leaks->graph, &leaks->n_classes);
	heapshot_graph_counts(leaks->graph, &counts);
	leaks->live_objects = counts.live_objects;
	leaks->live_bytes = counts.live_bytes;
	leaks->threshold = counts.live_bytes / SHARE_MIN;
	if (leaks->threshold < LEAKS_BYTES_MIN)
		leaks->threshold = LEAKS_BYTES_MIN;
	return CLI_OK;
}

int leaks_look(struct leaks *leaks)
{
	static int (*const detectors[])(struct leaks *) = {
		leaks_find_events, leaks_find_holders, leaks_find_handles,
		leaks_find_arrays, leaks_find_strings,
	};
	struct leaks_growth *growth = NULL;
	size_t i;
	int status = leaks_read_growth(leaks, &growth);

	if (status == CLI_OK)
		status = open_graph(leaks);
	if (status == CLI_OK)
		status = leaks_find_growth(leaks, growth);
	for (i = 0; i < sizeof(detectors) / sizeof(*detectors) && status == CLI_OK; i++)
		status = detectors[i](leaks);
	leaks_growth_free(growth);
	if (status == CLI_OK && leaks->n > 0)
		qsort(leaks->list, leaks->n, sizeof(*leaks->list), by_weight);
	return status;
}

void leaks_free(struct leaks *leaks)
{
	size_t i;

	for (i = 0; i < leaks->n; i++)
		free(leaks->list[i].text);
	free(leaks->list);
	graph_types_free(&leaks->types);
	heapshot_graph_ways_free(leaks->path.ways);
	heapshot_graph_free(leaks->graph);
}

int cli_leaks(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct leaks leaks = {.recording = &recording, .arguments = &arguments};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments, RECORDING_GRAPH);
	if (status != CLI_OK)
		return status;
	status = leaks_look(&leaks);
	progress_stop();
	if (status == CLI_OK)
		status = strcmp(command->name, "overview") == 0 && !arguments.is_json
				 ? leaks_show_overview(&leaks)
				 : leaks_show(&leaks);
	leaks_free(&leaks);
	return recording_close(&recording, status);
}
