/* SPDX-License-Identifier: MIT */
/*
 * heapshot find: the objects of a snapshot for which all conditions hold.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/object.h"
#include "contrib/cli/text.h"

#define DEFAULT_LIMIT 50

/* The text of an object, by its number. */
struct known_text {
	uint32_t object;
	bool is_cut;
	char *text;
	size_t bytes;
};

struct find {
	const struct cli_arguments *arguments;
	struct recording *recording;
	struct heapshot_graph *graph;
	const struct heapshot_graph_class *classes;
	bool *is_class_wanted;
	/* Of each object: a bit for each condition on other objects that holds. */
	uint8_t *marks;
	uint32_t n_objects;
	uint32_t *found;
	size_t n_found;
	struct known_text *texts; /* of strings that match, with --string; by object then */
	size_t n_texts, room_texts;
};

/* ---- Conditions ---- */

static bool is_type_wanted(const struct find *find, uint32_t id)
{
	const struct cli_arguments *arguments = find->arguments;
	const struct type_key key = type_key_of(find->recording, id);

	return type_key_matches(&key, arguments->assembly, arguments->type);
}

/* What can be told of an object by itself. */
static bool is_wanted(const struct find *find, uint32_t object)
{
	const struct cli_arguments *arguments = find->arguments;
	const uint64_t size = heapshot_graph_size(find->graph, object);
	const bool is_live = heapshot_graph_is_live(find->graph, object);

	return find->is_class_wanted[heapshot_graph_class_of(find->graph, object)] &&
	       (!arguments->has_min_size || size >= arguments->min_size) &&
	       (!arguments->has_max_size || size <= arguments->max_size) &&
	       (!arguments->is_live || is_live) && (!arguments->is_unreachable || !is_live);
}

/* Gives the OBJECTS a bit. */
static void mark(struct find *find, const uint32_t *objects, uint64_t n, uint8_t bit)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		find->marks[objects[i]] |= bit;
}

/* The object at ADDRESS; NONE, said, when there is none. */
static uint32_t find_object(const struct find *find, uint64_t address)
{
	const uint32_t object = heapshot_graph_find(find->graph, address);
	char hint[GRAPH_HINT_BYTES];

	if (object == HEAPSHOT_GRAPH_NONE)
		cli_message("%s: no object at 0x%" PRIx64 " in snapshot %" PRIu64 "%s",
			    find->recording->path, address, find->recording->snapshot->id,
			    graph_decimal_hint(find->graph, address, hint));
	return object;
}

static bool is_kind(const struct heapshot_graph_kind *kind, const char *name)
{
	return strcmp(kind->name, name) == 0 ||
	       strcmp(heapshot_root_kind_name(kind->kind), name) == 0;
}

static int mark_rooted(struct find *find, uint8_t bit)
{
	size_t n_kinds, n_sources, n_roots, i;
	const struct heapshot_graph_kind *kinds = heapshot_graph_kinds(find->graph, &n_kinds);
	const struct heapshot_graph_source *sources =
		heapshot_graph_sources(find->graph, &n_sources);
	const struct heapshot_graph_root *roots = heapshot_graph_roots(find->graph, &n_roots);
	bool is_there = false;

	for (i = 0; i < n_kinds; i++)
		is_there |= is_kind(&kinds[i], find->arguments->root_kind);
	if (!is_there) {
		cli_message("%s: no root of kind '%s'; 'heapshot roots' shows the kinds",
			    find->recording->path, find->arguments->root_kind);
		return CLI_NOT_FOUND;
	}
	for (i = 0; i < n_roots; i++)
		if (is_kind(&kinds[sources[roots[i].source].kind], find->arguments->root_kind))
			find->marks[roots[i].object] |= bit;
	return CLI_OK;
}

static bool take_text(void *user_data, const struct object_text *text)
{
	struct find *find = user_data;
	const uint32_t object = heapshot_graph_find(find->graph, text->object);
	struct known_text *texts = find->texts;
	size_t room = find->room_texts != 0 ? find->room_texts * 2 : 256;
	char *copy;

	/* The text may have a NUL inside: what is behind it is not looked at. */
	if (object == HEAPSHOT_GRAPH_NONE || !text_matches(text->text, find->arguments->string))
		return true;
	if (find->n_texts == find->room_texts) {
		texts = reallocarray(texts, room, sizeof(*texts));
		if (texts == NULL)
			return false;
		find->texts = texts;
		find->room_texts = room;
	}
	copy = malloc(text->bytes + 1);
	if (copy == NULL)
		return false;
	memcpy(copy, text->text, text->bytes + 1);
	texts[find->n_texts++] = (struct known_text){object, text->is_cut, copy, text->bytes};
	return true;
}

static int by_object(const void *left, const void *right)
{
	const uint32_t a = ((const struct known_text *)left)->object,
		       b = ((const struct known_text *)right)->object;

	return (a > b) - (a < b);
}

static int mark_strings(struct find *find, uint8_t bit)
{
	uint64_t n = 0;
	int status = object_texts(find->recording, take_text, find, &n);
	size_t i;

	if (status != CLI_OK)
		return status;
	if (n == 0) {
		cli_message("%s: no texts were recorded; record with strings=N",
			    find->recording->path);
		return CLI_NOT_FOUND;
	}
	if (find->n_texts > 0)
		qsort(find->texts, find->n_texts, sizeof(*find->texts), by_object);
	for (i = 0; i < find->n_texts; i++)
		find->marks[find->texts[i].object] |= bit;
	return CLI_OK;
}

/* Each condition on other objects has a bit, which all that are found bear. */
static int mark_related(struct find *find, uint8_t *wanted)
{
	const struct cli_arguments *arguments = find->arguments;
	int status = CLI_OK;
	const uint32_t *objects;
	uint32_t object;
	uint64_t n;

	*wanted = 0;
	if (arguments->has_refers_to) {
		object = find_object(find, arguments->refers_to);
		if (object == HEAPSHOT_GRAPH_NONE)
			return CLI_NOT_FOUND;
		objects = heapshot_graph_referrers(find->graph, object, &n);
		mark(find, objects, n, 1);
		*wanted |= 1;
	}
	if (arguments->has_referred_by) {
		object = find_object(find, arguments->referred_by);
		if (object == HEAPSHOT_GRAPH_NONE)
			return CLI_NOT_FOUND;
		objects = heapshot_graph_targets(find->graph, object, &n);
		mark(find, objects, n, 2);
		*wanted |= 2;
	}
	if (arguments->root_kind != NULL) {
		status = mark_rooted(find, 4);
		*wanted |= 4;
	}
	if (status == CLI_OK && arguments->string != NULL) {
		status = mark_strings(find, 8);
		*wanted |= 8;
	}
	return status;
}

static const struct heapshot_graph *sorted; /* for the comparison below */

/* The largest first. */
static int by_size(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const uint64_t x = heapshot_graph_size(sorted, a), y = heapshot_graph_size(sorted, b);

	return x != y ? (x < y ? 1 : -1) : (a > b) - (a < b);
}

static int look(struct find *find)
{
	struct heapshot_graph_counts counts;
	size_t n_classes, i;
	uint8_t wanted;
	uint32_t object;
	int status;

	heapshot_graph_counts(find->graph, &counts);
	find->n_objects = (uint32_t)counts.objects;
	find->classes = heapshot_graph_classes(find->graph, &n_classes);
	find->is_class_wanted = calloc(n_classes + 1, sizeof(*find->is_class_wanted));
	find->marks = calloc((size_t)find->n_objects + 1, 1);
	if (find->is_class_wanted == NULL || find->marks == NULL)
		return cli_no_memory();
	for (i = 0; i < n_classes; i++)
		find->is_class_wanted[i] = is_type_wanted(find, find->classes[i].type);
	status = mark_related(find, &wanted);
	if (status != CLI_OK)
		return status;
	for (object = 0; object < find->n_objects; object++) {
		const bool is_found =
			(find->marks[object] & wanted) == wanted && is_wanted(find, object);

		find->marks[object] = is_found;
		find->n_found += is_found;
	}
	if (find->n_found == 0) {
		cli_message("%s: no object of snapshot %" PRIu64 " meets all conditions",
			    find->recording->path, find->recording->snapshot->id);
		return CLI_NOT_FOUND;
	}
	find->found = calloc(find->n_found, sizeof(*find->found));
	if (find->found == NULL)
		return cli_no_memory();
	for (object = 0, i = 0; object < find->n_objects; object++)
		if (find->marks[object])
			find->found[i++] = object;
	sorted = find->graph;
	qsort(find->found, find->n_found, sizeof(*find->found), by_size);
	return CLI_OK;
}

/* ---- What is shown ---- */

static const struct known_text *text_of(const struct find *find, uint32_t object)
{
	const struct known_text key = {.object = object};

	if (find->n_texts == 0)
		return NULL;
	return bsearch(&key, find->texts, find->n_texts, sizeof(key), by_object);
}

static void put_json(const struct find *find, size_t n)
{
	struct json json = {0};
	size_t i;

	json_begin(&json, '{');
	json_put_unsigned(&json, "snapshot", find->recording->snapshot->id);
	json_put_unsigned(&json, "found", find->n_found);
	json_key(&json, "objects");
	json_begin_rows(&json);
	for (i = 0; i < n; i++) {
		const uint32_t object = find->found[i];
		const struct known_text *text = text_of(find, object);
		const struct heapshot_type *type = heapshot_reader_type(
			find->recording->reader,
			find->classes[heapshot_graph_class_of(find->graph, object)].type);

		json_begin(&json, '{');
		graph_node_json(&json, find->recording, find->graph, object);
		json_put_text(&json, "assembly", type != NULL ? type->assembly : "");
		json_put_unsigned(&json, "bytes", heapshot_graph_size(find->graph, object));
		json_put_bool(&json, "live", heapshot_graph_is_live(find->graph, object));
		json_key(&json, "text");
		if (text != NULL)
			json_text_bytes(&json, text->text, text->bytes);
		else
			json_null(&json);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static void put_row(const struct find *find, struct text_table *table, uint32_t object,
		    bool is_measure)
{
	const struct known_text *text = text_of(find, object);
	char address[32], number[TEXT_NUMBER_BYTES], unnamed[32], quoted[400], last[2048];
	const char *name = graph_object_type(find->recording, find->graph, object, unnamed);
	const char *cells[] = {
		address,
		text_number(number, heapshot_graph_size(find->graph, object)),
		heapshot_graph_is_live(find->graph, object) ? "live" : "-",
		last,
	};

	snprintf(address, sizeof(address), "0x%" PRIx64,
		 heapshot_graph_address(find->graph, object));
	if (text != NULL)
		object_quote(text->text, text->bytes, text->is_cut, 80, quoted, sizeof(quoted));
	snprintf(last, sizeof(last), "%s%s%s", name, text != NULL ? " " : "",
		 text != NULL ? quoted : "");
	if (is_measure)
		text_table_measure(table, cells);
	else
		text_table_print(table, cells, false);
}

static void put_table(const struct find *find, size_t n)
{
	static const char *const titles[] = {"ADDRESS", "BYTES", "LIVE", "TYPE"};
	struct text_table table = {.align = "lrll"};
	char number[TEXT_NUMBER_BYTES];
	size_t i;

	recording_print_title(find->recording);
	printf("%s objects\n", text_number(number, find->n_found));
	text_table_measure(&table, titles);
	for (i = 0; i < n; i++)
		put_row(find, &table, find->found[i], true);
	text_table_print(&table, titles, true);
	for (i = 0; i < n; i++)
		put_row(find, &table, find->found[i], false);
	if (n < find->n_found)
		printf("... and %s more objects (--limit 0 shows all)\n",
		       text_number(number, find->n_found - n));
}

static void show(const struct find *find)
{
	const struct cli_arguments *arguments = find->arguments;
	size_t limit = cli_limit(arguments, DEFAULT_LIMIT, SIZE_MAX);

	if (limit > find->n_found)
		limit = find->n_found;
	if (arguments->is_json)
		put_json(find, limit);
	else
		put_table(find, limit);
}

int cli_find(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct find find = {.arguments = &arguments, .recording = &recording};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	if (arguments.is_live && arguments.is_unreachable)
		return cli_usage(command, "--live and --unreachable exclude each other");
	status = recording_open(&recording, command, &arguments, RECORDING_GRAPH);
	if (status != CLI_OK)
		return status;
	status = graph_open(&recording, &arguments, &find.graph);
	if (status == CLI_OK)
		status = look(&find);
	progress_stop();
	if (status == CLI_OK)
		show(&find);
	free(find.is_class_wanted);
	free(find.marks);
	free(find.found);
	while (find.n_texts > 0)
		free(find.texts[--find.n_texts].text);
	free(find.texts);
	heapshot_graph_free(find.graph);
	return recording_close(&recording, status);
}
