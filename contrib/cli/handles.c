/* SPDX-License-Identifier: MIT */
/*
 * heapshot handles: what JavaScript and the runtime hold of each other, grouped by
 * type, with the managed objects that go with it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/handle_groups.h"
#include "contrib/cli/text.h"

#define DEFAULT_LIMIT 20

static bool is_wanted(const struct handle_group *group, const char *filter)
{
	return filter == NULL || (group->type != NULL && text_matches(group->type, filter)) ||
	       text_matches(group->first->js_name, filter);
}

/* Keeps what the filter lets through; true where there is something. */
static bool keep_wanted(struct handle_tables *tables, const char *filter)
{
	bool is_any = false;

	for (size_t i = 0; i < tables->n; i++) {
		struct handle_table *table = &tables->tables[i];
		size_t out = 0;

		for (size_t k = 0; k < table->n_groups; k++)
			if (is_wanted(&table->groups[k], filter))
				table->groups[out++] = table->groups[k];
		table->n_groups = out;
		is_any |= out > 0;
	}
	return is_any;
}

static void put_group_json(struct json *json, const struct handle_group *group)
{
	json_begin(json, '{');
	json_key(json, "handle");
	json_signed(json, group->first->handle);
	json_put_text(json, "js_type", group->first->js_type);
	json_put_text(json, "js_name", group->first->js_name);
	json_put_text(json, "type", group->type);
	json_put_text(json, "assembly", group->assembly);
	json_put_known(json, "address", group->first->object != 0, group->first->object);
	json_put_unsigned(json, "count", group->count);
	json_put_unsigned(json, "objects", group->objects);
	json_put_unsigned(json, "bytes", group->bytes);
	json_put_unsigned(json, "retained", group->retained);
	json_end(json, '}');
}

static void put_json(const struct recording *recording, const struct handle_tables *tables,
		     size_t limit)
{
	struct json json = {0};

	json_begin(&json, '{');
	json_put_unsigned(&json, "snapshot", recording->snapshot->id);
	json_key(&json, "tables");
	json_begin_rows(&json);
	for (size_t i = 0; i < tables->n; i++) {
		const struct handle_table *table = &tables->tables[i];

		json_begin(&json, '{');
		json_put_text(&json, "name", table->table->name);
		json_put_text(&json, "title", table->title);
		json_put_unsigned(&json, "handles", table->table->n_handles);
		json_put_unsigned(&json, "unknown", table->n_unknown);
		json_put_unsigned(&json, "escaped", table->table->escaped);
		json_put_unsigned(&json, "released", table->table->released);
		json_put_unsigned(&json, "collected", table->table->collected);
		json_put_text(&json, "note", table->table->note);
		json_key(&json, "entries");
		json_begin_rows(&json);
		for (size_t k = 0; k < table->n_groups && k < limit; k++)
			put_group_json(&json, &table->groups[k]);
		json_end(&json, ']');
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static void put_row(struct text_table *table, const struct handle_group *group, bool is_single,
		    bool is_measure)
{
	char count[TEXT_NUMBER_BYTES], bytes[TEXT_NUMBER_BYTES], retained[TEXT_NUMBER_BYTES];
	char address[32] = "-", javascript[600];
	const struct heapshot_handle *first = group->first;
	const char *cells[] = {
		is_single ? count : text_number(count, group->count),
		text_number(bytes, group->bytes),
		text_number(retained, group->retained),
		group->type != NULL ? group->type : "(no object)",
		is_single ? address : javascript,
		javascript,
	};

	if (is_single)
		snprintf(count, sizeof(count), "%" PRId64, first->handle);
	if (first->object != 0)
		snprintf(address, sizeof(address), "0x%" PRIx64, first->object);
	snprintf(javascript, sizeof(javascript), "%s%s%s", first->js_type,
		 *first->js_type != '\0' && *first->js_name != '\0' ? " " : "", first->js_name);
	if (*javascript == '\0')
		snprintf(javascript, sizeof(javascript), "(not known)");
	if (is_measure)
		text_table_measure(table, cells);
	else
		text_table_print(table, cells, false);
}

static void put_counts(const struct handle_table *table)
{
	const struct {
		uint64_t count;
		const char *text;
	} counts[] = {
		{table->n_unknown, "known from the managed side alone"},
		{table->table->escaped, "escaped"},
		{table->table->released, "released so far"},
		{table->table->collected, "collected so far"},
	};
	char number[TEXT_NUMBER_BYTES];

	text_put_masked(stdout, table->table->name);
	fputs(": ", stdout);
	text_put_masked(stdout, table->title);
	printf(": %s", text_number(number, table->table->n_handles));
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (counts[i].count != 0)
			printf(", %s %s", text_number(number, counts[i].count), counts[i].text);
	putchar('\n');
	if (*table->table->note != '\0') {
		text_put_masked(stdout, table->table->note);
		putchar('\n');
	}
}

static void put_table(const struct handle_table *handles, bool is_single, size_t limit)
{
	static const char *const titles[] = {"COUNT", "BYTES", "RETAINED", "TYPE", "JAVASCRIPT"};
	static const char *const single_titles[] = {"HANDLE", "BYTES",   "RETAINED",
						    "TYPE",   "ADDRESS", "JAVASCRIPT"};
	const char *const *its_titles = is_single ? single_titles : titles;
	struct text_table table = {.align = is_single ? "rrrlll" : "rrrll"};
	const size_t n = handles->n_groups < limit ? handles->n_groups : limit;
	char number[TEXT_NUMBER_BYTES];

	put_counts(handles);
	if (n == 0)
		return;
	text_table_measure(&table, its_titles);
	for (size_t i = 0; i < n; i++)
		put_row(&table, &handles->groups[i], is_single, true);
	text_table_print(&table, its_titles, true);
	for (size_t i = 0; i < n; i++)
		put_row(&table, &handles->groups[i], is_single, false);
	if (n < handles->n_groups)
		printf("... and %s more rows (--limit 0 shows all)\n",
		       text_number(number, handles->n_groups - n));
}

static int show(struct recording *recording, const struct cli_arguments *arguments,
		struct handle_tables *tables)
{
	const size_t limit = cli_limit(arguments, DEFAULT_LIMIT, SIZE_MAX);

	if (tables->n == 0 && !arguments->is_json) {
		recording_print_title(recording);
		puts("no tables of handles: only recordings in a browser have them, where JavaScript "
		     "gives Module.heapshot.tables");
		return CLI_OK;
	}
	if (!keep_wanted(tables, arguments->filter) && arguments->filter != NULL) {
		cli_message("%s: no handle's type matches --filter %s%s", recording->path,
			    arguments->filter, text_case_hint(arguments->filter));
		return CLI_NOT_FOUND;
	}
	if (arguments->is_json) {
		put_json(recording, tables, limit);
		return CLI_OK;
	}
	recording_print_title(recording);
	for (size_t i = 0; i < tables->n; i++)
		put_table(&tables->tables[i], arguments->with_objects, limit);
	return CLI_OK;
}

int cli_handles(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct recording recording;
	struct heapshot_graph *graph = NULL;
	struct handle_tables tables = {0};
	int status = cli_parse(command, argc, argv, 1, 1, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	status = recording_open(&recording, command, &arguments, RECORDING_GRAPH);
	if (status != CLI_OK)
		return status;
	status = graph_open(&recording, &arguments, &graph);
	if (status == CLI_OK)
		status = recording_check(&recording, heapshot_graph_dominate(graph));
	if (status == CLI_OK)
		status = handle_tables_read(&recording, graph, arguments.with_objects, &tables);
	progress_stop();
	if (status == CLI_OK)
		status = show(&recording, &arguments, &tables);
	handle_tables_free(&tables);
	heapshot_graph_free(graph);
	return recording_close(&recording, status);
}
