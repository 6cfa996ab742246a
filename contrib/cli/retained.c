/* SPDX-License-Identifier: MIT */
/*
 * heapshot retained: what would go with a type, an object, a root.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/retained.h"
#include "contrib/cli/text.h"

/* Which types the options want; false when there is none. */
static bool choose_types(struct retained *retained)
{
	const struct cli_arguments *arguments = retained->arguments;
	bool is_any = arguments->type == NULL && arguments->assembly == NULL;
	size_t i;

	for (i = 0; i < retained->types.n; i++) {
		const struct graph_type *type = &retained->types.types[i];

		retained->is_wanted[i] =
			type->live_objects > 0 &&
			type_key_matches(&type->key, arguments->assembly, arguments->type);
		is_any |= retained->is_wanted[i];
	}
	return is_any;
}

static void put_totals(const struct retained *retained, struct json *json)
{
	struct heapshot_graph_counts counts;
	char numbers[4][TEXT_NUMBER_BYTES];
	uint64_t dead_objects, dead_bytes;

	heapshot_graph_counts(retained->graph, &counts);
	dead_objects = counts.objects - counts.live_objects;
	dead_bytes = counts.bytes - counts.live_bytes;
	if (json != NULL) {
		json_key(json, "live");
		json_begin(json, '{');
		json_put_unsigned(json, "objects", counts.live_objects);
		json_put_unsigned(json, "bytes", counts.live_bytes);
		json_end(json, '}');
		json_key(json, "unreached");
		json_begin(json, '{');
		json_put_unsigned(json, "objects", dead_objects);
		json_put_unsigned(json, "bytes", dead_bytes);
		json_end(json, '}');
		return;
	}
	recording_print_title(retained->recording);
	printf("%s objects live, %s bytes", text_number(numbers[0], counts.live_objects),
	       text_number(numbers[1], counts.live_bytes));
	if (dead_objects > 0)
		printf("; left out: %s that no root reaches, %s bytes",
		       text_number(numbers[2], dead_objects), text_number(numbers[3], dead_bytes));
	putchar('\n');
}

static const struct {
	const char *word;
	int (*put)(const struct retained *retained, struct json *json);
	bool is_default;
} parts[] = {
	{"types", retained_types, true},      {"objects", retained_objects, true},
	{"tree", retained_tree, true},        {"kinds", retained_kinds, false},
	{"roots", retained_roots, false},     {"assemblies", retained_assemblies, false},
	{"domains", retained_domains, false},
};

static int put_parts(const struct retained *retained)
{
	const char *wanted = retained->arguments->part;
	struct json json = {0};
	int status = CLI_OK;
	size_t i;

	if (retained->arguments->is_json) {
		json_begin(&json, '{');
		json_put_unsigned(&json, "snapshot", retained->recording->snapshot->id);
	}
	put_totals(retained, retained->arguments->is_json ? &json : NULL);
	for (i = 0; i < sizeof(parts) / sizeof(*parts) && status == CLI_OK; i++) {
		bool is_json = retained->arguments->is_json;

		if (wanted != NULL ? strcmp(wanted, parts[i].word) == 0
				   : is_json || parts[i].is_default)
			status = parts[i].put(retained, is_json ? &json : NULL);
	}
	if (retained->arguments->is_json) {
		json_end(&json, '}');
		json_line(&json);
	}
	return status;
}

static int show(struct retained *retained)
{
	const struct cli_arguments *arguments = retained->arguments;
	struct heapshot_graph_counts counts;
	int status;

	status = graph_types_make(retained->recording, retained->graph, true, &retained->types);
	if (status != CLI_OK)
		return status;
	retained->is_wanted = calloc(retained->types.n + 1, sizeof(*retained->is_wanted));
	if (retained->is_wanted == NULL)
		return cli_no_memory();
	if (!choose_types(retained)) {
		cli_message("%s: no type with live objects matches%s%s%s%s%s",
			    retained->recording->path, arguments->type ? " --type " : "",
			    arguments->type ? arguments->type : "",
			    arguments->assembly ? " --assembly " : "",
			    arguments->assembly ? arguments->assembly : "",
			    text_case_hint(arguments->type));
		return CLI_NOT_FOUND;
	}
	heapshot_graph_counts(retained->graph, &counts);
	retained->live_bytes = counts.live_bytes;
	progress_stop();
	return put_parts(retained);
}

int cli_retained(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct retained retained = {.recording = &recording, .arguments = &arguments};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments, RECORDING_GRAPH);
	if (status != CLI_OK)
		return status;
	status = graph_open(&recording, &arguments, &retained.graph);
	if (status == CLI_OK)
		status = recording_check(&recording, heapshot_graph_dominate(retained.graph));
	if (status == CLI_OK)
		status = show(&retained);
	free(retained.is_wanted);
	graph_types_free(&retained.types);
	heapshot_graph_free(retained.graph);
	return recording_close(&recording, status);
}
