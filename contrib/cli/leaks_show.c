/* SPDX-License-Identifier: MIT */
/*
 * Findings as text and as JSON.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/leaks.h"

#define ROWS 10

static const char *const list_keys[] = {"growth", "suspects", "waste"};
static const char *const list_titles[] = {"GROWTH", "SUSPECTS", "WASTE"};

char *leaks_path_text(const struct leaks *leaks, const struct leak *leak)
{
	struct path_steps steps = {0};
	char *text = NULL;

	if (leak->target == HEAPSHOT_GRAPH_NONE)
		return strdup("");
	if (path_find(&leaks->path, leak->target, &steps))
		text = steps.n > 0 ? path_text(&leaks->path, steps.list, steps.n, leak->is_merged)
				   : strdup("");
	free(steps.list);
	return text;
}

static int put_json_path(const struct leaks *leaks, const struct leak *leak, struct json *json)
{
	struct path_steps steps = {0};
	bool is_done = leak->target == HEAPSHOT_GRAPH_NONE ||
		       path_find(&leaks->path, leak->target, &steps);

	json_key(json, "path");
	if (is_done && steps.n > 0) {
		json_begin(json, '{');
		path_json(&leaks->path, json, steps.list, steps.n, leak->is_merged);
		json_end(json, '}');
	} else {
		json_null(json);
	}
	free(steps.list);
	return is_done ? CLI_OK : cli_no_memory();
}

static int put_json_leak(const struct leaks *leaks, const struct leak *leak, struct json *json)
{
	int status;

	json_begin(json, '{');
	json_put_text(json, "kind", leak_kind_name(leak->kind));
	json_put_text(json, "text", leak->text);
	json_put_text(json, "type", leak_type(leak));
	json_put_unsigned(json, "count", leak->count);
	json_put_unsigned(json, "bytes", leak->bytes);
	if (leak->kind == LEAK_GROWTH) {
		json_put_unsigned(json, "before", leak->before);
		json_put_unsigned(json, "after", leak->after);
		json_put_unsigned(json, "steps", leak->n_steps);
		json_put_unsigned(json, "steps_grown", leak->n_grew);
	}
	json_key(json, "holder");
	if (leak->holder == HEAPSHOT_GRAPH_NONE) {
		json_null(json);
	} else {
		json_begin(json, '{');
		graph_node_json(json, leaks->recording, leaks->graph, leak->holder);
		json_put_unsigned(json, "retained",
				  heapshot_graph_retained(leaks->graph, leak->holder));
		json_end(json, '}');
	}
	status = put_json_path(leaks, leak, json);
	json_end(json, '}');
	return status;
}

static size_t limit_of(const struct leaks *leaks)
{
	return cli_limit(leaks->arguments, ROWS, SIZE_MAX);
}

int leaks_put_json(const struct leaks *leaks, struct json *json)
{
	int status = CLI_OK;
	unsigned list;

	json_put_unsigned(json, "snapshot", leaks->recording->snapshot->id);
	json_put_known(json, "first", leaks->first != NULL,
		       leaks->first != NULL ? leaks->first->id : 0);
	json_key(json, "live");
	json_begin(json, '{');
	json_put_unsigned(json, "objects", leaks->live_objects);
	json_put_unsigned(json, "bytes", leaks->live_bytes);
	json_end(json, '}');
	json_put_bool(json, "strings", leaks->has_strings);
	for (list = 0; list < LEAK_LISTS; list++) {
		size_t n = 0, i;

		json_key(json, list_keys[list]);
		json_begin_rows(json);
		for (i = 0; i < leaks->n && status == CLI_OK; i++)
			if (leak_list_of(leaks->list[i].kind) == list && n++ < limit_of(leaks))
				status = put_json_leak(leaks, &leaks->list[i], json);
		json_end(json, ']');
	}
	return status;
}

static int show_json(const struct leaks *leaks)
{
	struct json json = {0};
	int status;

	json_begin(&json, '{');
	status = leaks_put_json(leaks, &json);
	json_end(&json, '}');
	json_line(&json);
	return status;
}

static int put_list(const struct leaks *leaks, enum leak_list list)
{
	size_t limit = limit_of(leaks), n = 0, i;
	char number[TEXT_NUMBER_BYTES], *path;

	for (i = 0; i < leaks->n; i++) {
		const struct leak *leak = &leaks->list[i];

		if (leak_list_of(leak->kind) != list)
			continue;
		if (n++ == 0)
			printf("\n%s\n", list_titles[list]);
		if (n > limit)
			continue;
		printf("%2zu. %-10s ", n, leak_kind_name(leak->kind));
		text_put_masked(stdout, leak->text);
		path = leaks_path_text(leaks, leak);
		if (path == NULL)
			return cli_no_memory();
		if (*path != '\0')
			fputs("\n    ", stdout);
		text_put_masked(stdout, path);
		putchar('\n');
		free(path);
	}
	if (n > limit)
		printf("... and %s more (--limit 0 shows all)\n", text_number(number, n - limit));
	if (n == 0 && list == LEAK_LIST_GROWTH && leaks->first != NULL)
		puts("\nNothing grew.");
	if (n == 0 && list == LEAK_LIST_SUSPECTS)
		puts("\nNo suspects: nothing holds many objects.");
	return CLI_OK;
}

int leaks_show(const struct leaks *leaks)
{
	char numbers[2][TEXT_NUMBER_BYTES];
	int status = CLI_OK;
	unsigned list;

	if (leaks->arguments->is_json)
		return show_json(leaks);
	recording_print_title(leaks->recording);
	printf("%s objects live, %s bytes; ", text_number(numbers[0], leaks->live_objects),
	       text_number(numbers[1], leaks->live_bytes));
	if (leaks->first != NULL)
		printf("compared from snapshot %" PRIu64 " on, in %" PRIu32 " step%s\n",
		       leaks->first->id, leaks->n_steps, leaks->n_steps == 1 ? "" : "s");
	else
		puts("one snapshot: what grows is not looked for");
	for (list = 0; list < LEAK_LISTS && status == CLI_OK; list++)
		status = put_list(leaks, (enum leak_list)list);
	if (!leaks->has_strings)
		puts("\nTexts of strings were not recorded (strings=100): equal ones are not "
		     "looked for.");
	if (leaks->is_strings_cut)
		puts("\nMore than a million strings differ: not all were compared.");
	return status;
}
